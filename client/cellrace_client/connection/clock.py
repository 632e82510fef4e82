"""The race clock as a client knows it, from messages that tell `now`."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

_SAMPLES = 16
"""How many samples count: enough for a short round trip among them, few enough that a drifting clock is followed."""

_SLACK = 20.0
"""Milliseconds for what is rounded, and for how far two good clocks drift apart over these samples."""
_SET_BACK = 1000
"""By so many milliseconds and more a clock does not go back by drifting: somebody has set it."""


def seconds_awake_and_asleep() -> float:
    """The local clock: seconds from any beginning, those in which the machine slept among them where it can tell."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    if sys.platform == "darwin":
        # Other than Python's monotonic clock there, this one goes on while the machine sleeps.
        return time.clock_gettime(time.CLOCK_MONOTONIC)
    return time.monotonic()


class Sample(NamedTuple):
    """What one question told: its round trip in seconds, and the race clock less the local clock in milliseconds."""

    round_trip: float
    offset: float

    def at(self, local: float) -> int:
        """The race clock at a local time."""
        return round(local * 1000 + self.offset)


class RaceClock:
    """Tells the race clock; of the last samples the one with the lowest round trip counts."""

    def __init__(self, local: Callable[[], float] = seconds_awake_and_asleep) -> None:
        self._local = local
        self._samples: deque[Sample] = deque(maxlen=_SAMPLES)
        self._best: Sample | None = None
        self._told = 0

    def sample(self, sent: float, received: float, now: int) -> None:
        """Learns from an answer that told `now`, between the local times at which it was asked and read."""
        # The server read its clock somewhere between the two: the middle is wrong by half the round trip at most.
        heard = Sample(received - sent, now - (sent + received) * 500)
        if self._best is not None and _contradict(heard, self._best):
            # One of the clocks was set, or the local one has stood still: what was learnt before holds no longer.
            self._samples.clear()
            if self._told - heard.at(received) >= _SET_BACK:
                self._told = 0
        self._samples.append(heard)
        self._best = min(self._samples)

    @property
    def round_trip(self) -> float | None:
        """The lowest round trip of the last samples in seconds, None before the first."""
        return self._best.round_trip if self._best else None

    def local(self) -> float:
        """The local clock, in seconds from any beginning."""
        return self._local()

    def now(self) -> int:
        """The race clock in Unix epoch milliseconds, never less than it told before unless it was set back."""
        if self._best is None:
            raise RuntimeError("The race clock is not known before the first answer.")
        self._told = max(self._told, self._best.at(self._local()))
        return self._told


def _contradict(one: Sample, other: Sample) -> bool:
    """Whether no race clock that runs on evenly could have told both."""
    return abs(one.offset - other.offset) > (one.round_trip + other.round_trip) * 500 + _SLACK
