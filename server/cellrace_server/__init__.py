"""The race server: `core` decides, `store` remembers, `rooms` and `lobby` put them together, `net` talks."""
