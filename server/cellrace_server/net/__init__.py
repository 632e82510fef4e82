"""Talks: sockets, and what each audience may see."""
