"""The client: a library for whoever writes a player (`connection`, `homemade`), and the players that come with it.

Nothing is imported here: `cellrace deal` needs no sockets.
"""
