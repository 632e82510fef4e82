"""The address of a server: what a person types, and what it is written out. Pure."""

from __future__ import annotations

from urllib.parse import urlsplit

DEFAULT_PORT = 8765
"""That on which a server listens where nobody chooses."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def server_url(text: str) -> str:
    """The address of a server from what a person types: `ws://…/ws`, `http://…`, or a host with or without a port."""
    scheme, typed, rest = text.strip().rpartition("://")
    place, _, path = rest.partition("/")
    if not typed and ":" not in place.rpartition("]")[2]:
        place = f"{place}:{DEFAULT_PORT}"
    scheme = scheme.lower() or "ws"
    scheme = {"http": "ws", "https": "wss"}.get(scheme, scheme)
    return f"{scheme}://{place}/{path or 'ws'}"


def short_address(url: str) -> str:
    """What a person types to come to an address that `server_url` gave: the shortest that gives it again."""
    place = url.removesuffix("/ws")
    host = place.removeprefix("ws://")
    shorter = (host.removesuffix(f":{DEFAULT_PORT}"), host, place)
    return next((text for text in shorter if server_url(text) == url), url)


def is_of_this_machine(url: str) -> bool:
    """Whether an address leads nowhere else."""
    return urlsplit(url).hostname in _LOOPBACK
