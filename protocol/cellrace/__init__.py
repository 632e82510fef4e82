"""What both ends of a race agree on: the games and the messages. No I/O, no clock, no randomness of its own."""
