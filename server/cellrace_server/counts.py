"""What one node counts as it works: plain numbers, which the metrics read when somebody asks for them.

A move touches a handful of these. So nothing here locks, knows a clock or makes an object; one loop writes them all.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

SECONDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""The bounds that lengths of time are sorted by: a tenth of a millisecond to ten seconds."""
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
"""The bounds that batches are sorted by: how many messages of moves, up to the most of one call."""


class Histogram:
    """How often a value fell at or below each bound and above the one before; the last count is above all of them."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


class Counts:
    """All that is counted on one node since it began."""

    def __init__(self) -> None:
        self.connections: Counter[str] = Counter()
        """Connections opened, by subprotocol."""
        self.requests: Counter[type] = Counter()
        """Requests taken up, by their class."""
        self.refusals: Counter[str] = Counter()
        """Errors answered, by their code."""
        self.closes: Counter[int] = Counter()
        """Connections that the server closed, by the code it gave."""
        self.http: Counter[int] = Counter()
        """HTTP responses, by their status; those to handshakes that are refused too."""
        self.moves = 0
        """Log entries that were put on record."""
        self.judging = Histogram(SECONDS)
        """From the arrival of a move to the end of its judging."""
        self.committing = Histogram(SECONDS)
        """From there to the store's word that it is on record."""
        self.answering = Histogram(SECONDS)
        """From there until its answer is written."""
        self.batches = Histogram(SIZES)
        """How many messages of moves went to the store in one call."""
        self.round_trips = Histogram(SECONDS)
        """How long such a call took."""
        self.begun: Counter[str] = Counter()
        """Races whose countdown was begun here, by variant."""
        self.over: Counter[str] = Counter()
        """Races whose end was written here, by variant."""
        self.cancelled: Counter[str] = Counter()
        """Races that were cancelled here, by variant."""
        self.drawn: Counter[str] = Counter()
        """Deals drawn, by variant."""
        self.no_deal: Counter[str] = Counter()
        """Draws that found no deal for those who were ready, by variant."""
        self.resyncs = 0
        """How often a record was read anew, because an outcome was unknown or something was missing."""
        self.sweeps = 0
        """Looks at the races that are due."""
        self.due = 0
        """Races that the sweeps found due."""
        self.store_errors = 0
        """Calls that the store did not answer."""

    def add_move(self, entries: int, read: float, judged: float, committed: float, answered: float) -> None:
        """Count a message of moves that is on record, with the monotonic times of its stages."""
        self.moves += entries
        self.judging.observe(judged - read)
        self.committing.observe(committed - judged)
        self.answering.observe(answered - committed)
