"""Chaos: real nodes and a real store that are killed and paused under play, and a checker over what was recorded."""
