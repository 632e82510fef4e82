"""What one client has sent: read as it comes, weighed, and taken up one request after the other."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from cellrace.codec import Codec
from cellrace.errors import BadMessage
from cellrace.messages import ClientMessage, CloseCode
from cellrace_server.config import Bounds
from cellrace_server.core.bucket import full_bucket


class Arrived(NamedTuple):
    """What was read in a frame, and when; with `retry_after` (ms) it came too fast and is only answered."""

    request: ClientMessage | BadMessage
    at: float
    retry_after: int


class Inbox:
    """The requests of one client that wait for their turn."""

    __slots__ = ("_bounds", "_bucket", "_close", "_codec", "_take_up", "_too_fast", "_waiting", "_worker")

    def __init__(
        self,
        codec: Codec,
        bounds: Bounds,
        take_up: Callable[[Arrived], Awaitable[None]],
        close: Callable[[CloseCode], None],
    ) -> None:
        self._codec = codec
        self._bounds = bounds
        self._take_up = take_up
        self._close = close
        # Bounded by `inbox`: a client that sends that much while its requests are carried out is closed.
        self._waiting: list[Arrived] = []
        self._worker: asyncio.Task[None] | None = None
        self._bucket = full_bucket(bounds.burst, bounds.per_second, time.monotonic())
        self._too_fast: deque[float] | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def busy(self) -> bool:
        """Whether a request is under way."""
        return self._worker is not None

    def receive(self, payload: bytes, text: bool, at: float) -> None:
        """Take in a frame that was read at a monotonic time."""
        request: ClientMessage | BadMessage
        try:
            request = self._codec.decode_payload(payload, text, self._bounds.depth)
        except BadMessage as bad:
            request = bad
        wait = self._bucket.take(1, at)
        if not wait and isinstance(request, BadMessage):
            self._bucket.drain(self._bounds.bad_frame_cost - 1, at)
        if len(self._waiting) >= self._bounds.inbox:
            self._close(CloseCode.RATE_LIMITED)
            return
        self._waiting.append(Arrived(request, at, int(wait * 1000) + 1 if wait else 0))
        if self._worker is None:
            self._worker = asyncio.create_task(self._work(), name="session")
            self._worker.add_done_callback(self._worked)

    async def _work(self) -> None:
        # There only while there is something to do: most connections of a node say nothing for a long time.
        try:
            while self._waiting:
                await self._take_up(self._waiting.pop(0))
        finally:
            self._worker = None

    def _worked(self, worker: asyncio.Task[None]) -> None:
        if worker.cancelled() or worker.exception() is not None:
            self._close(CloseCode.LOST_TRACK)

    def note_too_fast(self, at: float) -> bool:
        """Note that a request was answered with `rate_limited`; whether it is the last of too many in a minute."""
        if self._too_fast is None:
            self._too_fast = deque(maxlen=self._bounds.rate_limited_per_minute)
        self._too_fast.append(at)
        return len(self._too_fast) == self._too_fast.maxlen and self._too_fast[0] > at - 60

    def clear(self) -> None:
        """Forget what waits."""
        self._waiting.clear()

    async def settle(self) -> None:
        """Wait until the request under way is answered."""
        if self._worker is not None:
            await asyncio.wait([self._worker])
