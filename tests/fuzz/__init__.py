"""Bad inputs: frames and requests that nobody sends, sent."""
