"""The race clock: one time for all nodes, the store's.

Each sample asks the store for its `TIME` between two readings of the node's monotonic clock, so the true difference
between the two lies within half the round trip of the sample's middle. What follows from that, and nothing else:

- The sample with the lowest bound is believed; a sample's bound grows as it ages, for clocks drift.
- A sample that cannot be true together with a newer one was taken before the store's clock jumped: it is forgotten.
- What this clock shows moves toward what the samples say by at most 5 ms a second, so it never runs backwards.
- More than 250 ms apart, a node is not ready. It then catches up in one step if the store is *ahead* and every sample
  of ten seconds says so (a failover to another clock, a computer that slept): waiting would keep nodes apart for
  minutes. A store that fell *behind* is only ever approached, since a step back would put moves out of order.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Self

from cellrace_server.store.errors import FAILURES, StoreUnavailable

SLEW = 5_000
"""By how many millionths the clock may run faster or slower while it is corrected: 5 ms a second."""
DRIFT = 100
"""By how many millionths two clocks may drift apart."""
LARGEST_DISAGREEMENT = 250_000
"""How far apart the clocks of a node that is ready may be, microseconds."""
LARGEST_ERROR = 25_000
"""How unsure the clock of such a node may be, microseconds."""
STEP_AFTER = 10_000_000
"""For how long the store's clock must have been ahead before this one follows in one step, microseconds."""

_SAMPLES_KEPT = 32
_FIRST_SAMPLES = 8
_FIRST_PAUSE = 0.05
_PAUSE = 2.0
"""Seconds between two samples, after the first few."""
_CANCELLED_AGAIN = 0.2
"""After how many seconds a sampler that goes on in spite of it is cancelled again."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The store's time, asked for at `sent` and known at `received` by the monotonic clock; all in microseconds."""

    sent: int
    received: int
    store: int

    @property
    def offset(self) -> int:
        """What must be added to the monotonic clock, give or take `half`."""
        return self.store - (self.sent + self.received) // 2

    @property
    def half(self) -> int:
        """Half the round trip, rounded up."""
        return (self.received - self.sent + 1) // 2

    def bound_at(self, monotonic: int) -> int:
        """How far `offset` can be from the truth by now."""
        return self.half + max(0, monotonic - self.received) * DRIFT // 1_000_000

    def agrees_with(self, newer: Sample) -> bool:
        """Whether one clock that only drifts can have given both."""
        return abs(self.offset - newer.offset) <= self.bound_at(newer.received) + newer.half + 1


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a node knows of the race clock, in whole microseconds, so that no rounding can turn it back.

    `fed` gives the next one. The moments that are asked for may not lie before the last sample.
    """

    samples: tuple[Sample, ...]
    best: Sample
    since: int
    shown: int
    ahead_since: int | None = None

    @classmethod
    def start(cls, sample: Sample) -> Self:
        """Believe the first sample as it is."""
        return cls((sample,), sample, sample.received, sample.offset)

    def fed(self, sample: Sample, monotonic: int) -> Estimate:
        """Take in a sample at the moment `monotonic`; what was shown until then stays as it was."""
        samples = (*(old for old in self.samples if old.agrees_with(sample)), sample)[-_SAMPLES_KEPT:]
        best = min(samples, key=lambda candidate: candidate.bound_at(sample.received))
        fed = Estimate(samples, best, monotonic, self._offset_at(monotonic), self.ahead_since)
        if best.offset - fed.shown <= LARGEST_DISAGREEMENT:
            return replace(fed, ahead_since=None)
        if fed.ahead_since is None:
            return replace(fed, ahead_since=monotonic)
        if monotonic - fed.ahead_since >= STEP_AFTER:
            return replace(fed, shown=best.offset, ahead_since=None)
        return fed

    def now_at(self, monotonic: int) -> int:
        """The race clock: microseconds since the epoch."""
        return monotonic + self._offset_at(monotonic)

    def error_bound_at(self, monotonic: int) -> int:
        """How far the samples can be from the truth: half the best round trip, and what may have drifted since."""
        return self.best.bound_at(monotonic)

    def disagreement_at(self, monotonic: int) -> int:
        """How far this clock is from what the samples say."""
        return abs(self.best.offset - self._offset_at(monotonic))

    def ready_at(self, monotonic: int) -> bool:
        """Whether the clock is good enough to race by."""
        return (
            self.disagreement_at(monotonic) <= LARGEST_DISAGREEMENT and self.error_bound_at(monotonic) <= LARGEST_ERROR
        )

    def _offset_at(self, monotonic: int) -> int:
        reach = max(0, monotonic - self.since) * SLEW // 1_000_000
        return self.shown + min(reach, max(-reach, self.best.offset - self.shown))


ReadTime = Callable[[], Awaitable[tuple[int, int]]]
"""Asks the store for seconds and microseconds, as the method `time` of a client does."""


class RaceClock:
    """A node's race clock, kept right by samples for as long as it is open."""

    def __init__(self, read_time: ReadTime, estimate: Estimate, monotonic: Callable[[], float]) -> None:
        self._read_time = read_time
        self._estimate = estimate
        self._monotonic = monotonic
        self._sampler: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, read_time: ReadTime, *, monotonic: Callable[[], float] | None = None) -> Self:
        """Set the clock by a first sample and go on sampling; raise StoreUnavailable when there is none."""
        # Looked up now and not when this was defined: a simulation has its own by then.
        monotonic = monotonic or time.monotonic
        try:
            first = await _sample(read_time, monotonic)
        except FAILURES as error:
            raise StoreUnavailable(f"The store does not tell the time ({error}).") from error
        clock = cls(read_time, Estimate.start(first), monotonic)
        clock._sampler = asyncio.create_task(clock._keep_sampling(), name="race-clock-sampler")
        return clock

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop sampling; the clock can still be read."""
        if self._sampler is not None:
            # Again until it ends: redis-py's `wait_for` loses a cancellation on Python 3.11.
            while not self._sampler.done():
                self._sampler.cancel()
                await asyncio.wait((self._sampler,), timeout=_CANCELLED_AGAIN)
            self._sampler = None

    def now(self) -> int:
        """The race clock: ms since the epoch."""
        return self.at(self._monotonic())

    def at(self, monotonic: float) -> int:
        """What the race clock shows at a reading of the monotonic clock, as a frame's arrival."""
        return self._estimate.now_at(_micros(monotonic)) // 1000

    def seconds_until(self, instant: int) -> float:
        """How many seconds to wait until the race clock shows `instant`; 0 if it has passed."""
        return max(0.0, instant / 1000 - self._estimate.now_at(self._moment()) / 1_000_000)

    @property
    def error_bound(self) -> float:
        """How far the samples can be from the store's time, in ms."""
        return self._estimate.error_bound_at(self._moment()) / 1000

    @property
    def disagreement(self) -> float:
        """How far this clock is from what the samples say, in ms."""
        return self._estimate.disagreement_at(self._moment()) / 1000

    @property
    def margin(self) -> int:
        """After how many ms beyond an instant by this clock it has surely come by the store's."""
        return math.ceil(self.error_bound + self.disagreement)

    @property
    def ready(self) -> bool:
        """Whether the clock is good enough to race by."""
        return self._estimate.ready_at(self._moment())

    def _moment(self) -> int:
        return _micros(self._monotonic())

    async def _keep_sampling(self) -> None:
        taken = 1
        while True:
            # Often at first, for the best of many round trips bounds the error; then against drift.
            await asyncio.sleep(_FIRST_PAUSE if taken < _FIRST_SAMPLES else _PAUSE)
            # A store that does not answer makes the last samples older, and their bound says so.
            with contextlib.suppress(*FAILURES, StoreUnavailable):
                sample = await _sample(self._read_time, self._monotonic)
                self._estimate = self._estimate.fed(sample, self._moment())
                taken += 1


async def _sample(read_time: ReadTime, monotonic: Callable[[], float]) -> Sample:
    sent = _micros(monotonic())
    seconds, microseconds = await read_time()
    return Sample(sent, _micros(monotonic()), seconds * 1_000_000 + microseconds)


def _micros(seconds: float) -> int:
    return int(seconds * 1_000_000)
