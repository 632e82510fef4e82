"""An example of every message."""
