"""The settings of a server node: each an option of `cellrace serve`, and an environment variable `CELLRACE_…`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import platformdirs
from msgspec import Meta, Struct

from cellrace.game import LOG_LIMIT
from cellrace.messages import MAX_DEPTH
from cellrace_server.core.names import LONGEST, SHORTEST


class Bounds(Struct, frozen=True, kw_only=True):
    """What one connection or address may use, and what gives way; each is an option of `cellrace serve`."""

    frame_bytes: Annotated[
        int, Meta(ge=1024, description="The largest frame of a client; a larger one closes with 1009.")
    ] = 16 * 1024
    depth: Annotated[int, Meta(ge=4, le=MAX_DEPTH, description="How deep a client's frame may be nested.")] = MAX_DEPTH
    name_length: Annotated[int, Meta(ge=SHORTEST, le=LONGEST, description="How long a name may be.")] = LONGEST
    hello_seconds: Annotated[float, Meta(ge=0.1, description="How long a new connection has for its hello.")] = 10.0
    burst: Annotated[int, Meta(ge=1, description="Messages a client may send at once.")] = 60
    per_second: Annotated[float, Meta(ge=0.1, description="Messages a client may send a second, in the long run.")] = (
        30.0
    )
    bad_frame_cost: Annotated[int, Meta(ge=1, description="How many messages a frame counts for that is none.")] = 5
    rate_limited_per_minute: Annotated[
        int, Meta(ge=1, description="After so many messages too many within a minute: close with 4102.")
    ] = 100
    inbox: Annotated[
        int, Meta(ge=1, description="Frames of a client that may wait to be carried out; one more closes with 4102.")
    ] = 256
    log_entries: Annotated[int, Meta(ge=1, le=LOG_LIMIT, description="Entries in the log of a game.")] = LOG_LIMIT
    merge_bytes: Annotated[
        int, Meta(ge=0, description="With so much unread, news to a client are merged instead of queued.")
    ] = 64 * 1024
    evict_bytes: Annotated[
        int, Meta(ge=1, description="With so much unread beside the largest message, a client is let go with 4000.")
    ] = 256 * 1024
    evict_seconds: Annotated[
        float, Meta(ge=0.1, description="After so long with more unread than may be queued: let go with 4000.")
    ] = 5.0
    ping_seconds: Annotated[
        float, Meta(ge=0.1, description="Between two pings; a pong that takes as long again ends the connection.")
    ] = 10.0
    new_players: Annotated[int, Meta(ge=1, description="New players of one address within ten minutes.")] = 100
    new_players_here: Annotated[
        int, Meta(ge=1, description="The same for this machine's own address: bots, tests, a proxy.")
    ] = 10_000
    http_burst: Annotated[int, Meta(ge=1, description="HTTP requests that an address may send at once.")] = 30
    http_per_second: Annotated[
        float, Meta(ge=0.1, description="HTTP requests that an address may send a second, in the long run.")
    ] = 10.0
    connections: Annotated[
        int, Meta(ge=1, description="Connections of one address; this machine's own are not counted.")
    ] = 500
    # As many as it may have connections: when a node dies, all who are behind one router come back at once.
    handshakes: Annotated[int, Meta(ge=1, description="Handshakes that an address may begin at once.")] = 500
    handshakes_per_second: Annotated[
        float, Meta(ge=0.1, description="Handshakes that an address may begin a second, in the long run.")
    ] = 20.0
    player_races: Annotated[
        int, Meta(ge=1, description="Races that are not over in which a player may be; to enter one more is refused.")
    ] = 100
    wrong_guesses: Annotated[int, Meta(ge=1, description="Wrong codes or tokens of one address in ten minutes.")] = 30


def data_directory(named: Path | None) -> Path:
    """Where the embedded store and the signing key are kept: in the directory that is named, else in the platform's."""
    return named or Path(platformdirs.user_data_dir("cellrace"))


class Config(Struct, frozen=True):
    """How one node is run."""

    host: str = "127.0.0.1"
    port: int = 8765
    redis: str | None = None
    """The URL of the store; None for the embedded one."""
    data_dir: Path | None = None
    """See `data_directory`."""
    node: str = ""
    """The node's name, for display; empty for the host's."""
    certificate: Path | None = None
    """A PEM file to serve `wss://` with; None for `ws://`."""
    key: Path | None = None
    """The certificate's key; None where it is in the same file."""
    origins: tuple[str, ...] = ()
    """Web pages that may connect; clients that are no browsers always may."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses and networks of proxies whose `X-Forwarded-For` tells who calls."""
    log_level: str = "info"
    """The least that is logged."""
    signing_key: Path | None = None
    """The file of the key that signs replays; None for the one in the data directory, which is made if need be."""
    keep_days: float = 30.0
    """How long a race that has ended is kept, and its replays with it."""
    keep_boards_days: float = 365.0
    """How long the board of a deal is kept after its last new row."""
    drain: float = 0.0
    """How many seconds a node that is told to end waits for the races that are run here; it takes no new ones."""
    reuse_port: bool = False
    """Whether other processes listen on the same port (`--workers`)."""
    pool: int = 0
    """How many deals to prove for each game beyond its stock; 0 for none."""
    pool_workers: int = 1
    """How many processes prove them."""
    bounds: Bounds = Bounds()
