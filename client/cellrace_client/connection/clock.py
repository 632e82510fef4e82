"""The race clock as a client knows it, from messages that tell `now`."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

_SAMPLES = 16
"""How many samples count: enough for a short round trip among them, few enough that a drifting clock is followed."""


class Sample(NamedTuple):
    """What one question told: its round trip in seconds, and the race clock less the local clock in milliseconds."""

    round_trip: float
    offset: float


class RaceClock:
    """Tells the race clock; of the last samples the one with the lowest round trip counts."""

    def __init__(self, local: Callable[[], float] = time.monotonic) -> None:
        self._local = local
        self._samples: deque[Sample] = deque(maxlen=_SAMPLES)
        self._best: Sample | None = None
        self._told = 0

    def sample(self, sent: float, received: float, now: int) -> None:
        """Learns from an answer that told `now`, between the local times at which it was asked and read."""
        # The server read its clock somewhere between the two: the middle is wrong by half the round trip at most.
        self._samples.append(Sample(received - sent, now - (sent + received) * 500))
        self._best = min(self._samples)

    @property
    def round_trip(self) -> float | None:
        """The lowest round trip of the last samples in seconds, None before the first."""
        return self._best.round_trip if self._best else None

    def local(self) -> float:
        """The local clock, in seconds from any beginning."""
        return self._local()

    def now(self) -> int:
        """The race clock in Unix epoch milliseconds, never less than it told before."""
        if self._best is None:
            raise RuntimeError("The race clock is not known before the first answer.")
        self._told = max(self._told, round(self._local() * 1000 + self._best.offset))
        return self._told
