"""What all sessions of a node work with, put together once."""

from __future__ import annotations

from dataclasses import dataclass

from cellrace_server.admission import Admission
from cellrace_server.challenges import Challenges
from cellrace_server.competition import Competition
from cellrace_server.config import Bounds
from cellrace_server.listing import Listing
from cellrace_server.lobby import Lobby
from cellrace_server.matching import Matching
from cellrace_server.moves import Mover
from cellrace_server.net.draining import Draining
from cellrace_server.replays import Replays
from cellrace_server.rooms import Rooms
from cellrace_server.store import Store


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
    draining: Draining
