"""What a person in a terminal reads and types: sentences, boards as lines, the line client."""
