"""What all sessions of a node work with, put together once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cellrace.messages import ClientMessage
from cellrace_server.admission import Admission
from cellrace_server.challenges import Challenges
from cellrace_server.competition import Competition
from cellrace_server.config import Bounds
from cellrace_server.listing import Listing
from cellrace_server.lobby import Lobby
from cellrace_server.matching import Matching
from cellrace_server.moves import Mover
from cellrace_server.net.draining import Draining
from cellrace_server.net.sessions import Sessions
from cellrace_server.replays import Replays
from cellrace_server.rooms import Rooms
from cellrace_server.store import Store

if TYPE_CHECKING:
    from cellrace_server.net.session import Session


@dataclass(frozen=True, slots=True)
class Services:
    """What all sessions of a node work with."""

    node: str
    version: str
    bounds: Bounds
    store: Store
    rooms: Rooms
    admission: Admission
    lobby: Lobby
    listing: Listing
    challenges: Challenges
    competition: Competition
    matching: Matching
    mover: Mover
    replays: Replays
    sessions: Sessions
    draining: Draining
    carry_out: Callable[[Session, ClientMessage, float], Awaitable[None]]
    """Carries out one request that was read at a monotonic time, and answers it."""
