"""What a connection tells its user: pushes with the race before and after, and what befell the connection."""

from __future__ import annotations

from dataclasses import dataclass

from cellrace.messages import FactPush, NewsPush
from cellrace_client.race_view import RaceView

TAKEN_OUT = "You are not in it any more; who is away for half a minute before the start is taken out."
"""Why a race that one was in is lost, where the server says no more than that it may not be seen."""


@dataclass(frozen=True, slots=True)
class Happened:
    """A push: what it says, and the race before and after it."""

    push: FactPush | NewsPush
    before: RaceView
    view: RaceView


@dataclass(frozen=True, slots=True)
class Synced:
    """The race as it stands, after pushes that were missed; `before` is None where nothing was known of it."""

    before: RaceView | None
    view: RaceView


@dataclass(frozen=True, slots=True)
class Lost:
    """A race of which no more is told: the server knows it no longer, or not for this player."""

    race: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Matched:
    """The queue has found a rival: the race follows as `Synced`."""

    race: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """The connection is cut; the client comes back by itself after `wait` seconds."""

    close_code: int | None
    sentence: str
    wait: float


@dataclass(frozen=True, slots=True)
class Back:
    """The connection is there again; the races follow as `Synced`."""

    node: str


@dataclass(frozen=True, slots=True)
class Silent:
    """The connection is there, but the server leaves something unanswered: nothing is lost, and it is waited for."""


@dataclass(frozen=True, slots=True)
class Heard:
    """The server answers again."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """The player has another name, and a new connection for it; the races follow as `Synced`."""

    name: str


Event = Happened | Synced | Lost | Matched | Dropped | Back | Silent | Heard | Renamed
"""Everything that `Connection.events` gives."""
