"""The settings of a server node: each an option of `cellrace serve`, and an environment variable `CELLRACE_…`."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from cellrace.game import LOG_LIMIT


class Bounds(Struct, frozen=True):
    """What one connection may use, and what gives way."""

    frame_bytes: int = 16 * 1024
    """The largest frame of a client; a larger one closes the connection with 1009."""
    hello_seconds: float = 10.0
    burst: int = 60
    per_second: float = 30.0
    bad_frame_cost: int = 5
    rate_limited_per_minute: int = 100
    inbox: int = 256
    """Frames that wait to be carried out; one more closes the connection with 4102."""
    log_entries: int = LOG_LIMIT
    merge_bytes: int = 64 * 1024
    """With so much unread, news are merged instead of queued."""
    evict_bytes: int = 256 * 1024
    """With so much unread, the connection is ended with 4000."""
    evict_seconds: float = 5.0
    """After so long with more than `merge_bytes` unread, the connection is ended with 4000."""
    ping_seconds: float = 10.0
    """Between two pings; a client whose pong takes as long again is gone."""
    new_players: int = 60
    """New players of one address within ten minutes."""
    wrong_guesses: int = 30
    """Wrong codes or tokens of one address within ten minutes."""


class Config(Struct, frozen=True):
    """How one node is run."""

    host: str = "127.0.0.1"
    port: int = 8765
    redis: str | None = None
    """The URL of the store; None for the embedded one."""
    data_dir: Path | None = None
    node: str = ""
    certificate: Path | None = None
    key: Path | None = None
    origins: tuple[str, ...] = ()
    """Web pages that may connect; clients that are no browsers always may."""
    log_level: str = "info"
    bounds: Bounds = Bounds()
