"""What a server says first: where it listens, as an address that can be opened, and what keeps its data."""

from __future__ import annotations

import platform

from cellrace_server.config import Config

ALL_ADDRESSES = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}  # noqa: S104 - names for all, not to listen on
"""What stands for every address of a machine, and the one by which it finds itself."""


def first_line(config: Config, port: int, kept_by: str) -> str:
    """Where a server listens, and what keeps its data."""
    url = local_url(config, port)
    if config.certificate is not None and config.host in ALL_ADDRESSES:
        # No certificate is for 127.0.0.1.
        url = f"wss://{platform.node()}:{port}/ws"
    return f"cellrace listens on {url}, its data is kept by {kept_by}"


def note_line(config: Config) -> str | None:
    """What a server says next where it listens on all addresses."""
    if config.host not in ALL_ADDRESSES:
        return None
    return (
        "It listens on all addresses of this machine; from another machine, put this one's name or address in the place"
        " of the one above."
    )


def say_first(*lines: str | None) -> None:
    """Print the first lines."""
    print(*filter(None, lines), sep="\n", flush=True)


def local_url(config: Config, port: int) -> str:
    """Where a server is found from this machine."""
    scheme = "ws" if config.certificate is None else "wss"
    host = ALL_ADDRESSES.get(config.host, config.host)
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}/ws"
