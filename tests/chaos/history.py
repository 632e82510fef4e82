"""What is recorded of a run: each request and its answers, each fact that was told, each connection."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

Map = dict[str, Any]


@dataclass(slots=True)
class Asked:
    """One request to move: what was sent on which connection, and the answer, if there was one."""

    connection: int
    seq: int
    moves: list[str]
    answer: Map | None = None


@dataclass(slots=True)
class Came:
    """A connection that has been welcomed and read the record: so long was the log then."""

    connection: int
    length: int


@dataclass(slots=True)
class Seat:
    """One entrant of one race, as the player has seen it."""

    asked: list[Asked] = field(default_factory=list)
    came: list[Came] = field(default_factory=list)
    started: Map | None = None
    end: Map | None = None
    """What the last `race.sync` said when the race was over."""


@dataclass(slots=True)
class RaceSeen:
    """One race, as its entrants have seen it."""

    variant: str
    players: list[str]
    seats: dict[str, Seat] = field(default_factory=dict)
    facts: dict[int, Map] = field(default_factory=dict)
    countdown: Map | None = None
    ended: str = ""
    """How it ended; empty if it has not been seen to."""

    def seat(self, player: str) -> Seat:
        """A player's seat."""
        return self.seats.setdefault(player, Seat())


class History:
    """Everything that was recorded, and what was found wrong while it happened."""

    def __init__(self) -> None:
        self.races: dict[str, RaceSeen] = {}
        self.problems: list[str] = []
        self.counts: Counter[str] = Counter()
        self.closes: Counter[str] = Counter()
        """Connections that ended, by why."""
        self.resumed: list[tuple[float, int]] = []
        """How long it took to be back at another node when only nodes had died, in seconds, and the log's length."""
        self.flowing: list[float] = []
        """For each who had a move to be answered when the store was back: how much later it was, in seconds."""
        self.answered_at: list[float] = []
        """When moves were answered, by the monotonic clock."""
        self.began = time.monotonic()
        self._connections = 0

    def problem(self, text: str) -> None:
        """Something is wrong, and the run goes on."""
        self.problems.append(text)

    def connection(self) -> int:
        """The number of a new connection; later ones are greater."""
        self._connections += 1
        return self._connections
