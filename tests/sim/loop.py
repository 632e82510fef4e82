"""An event loop whose time is made up: whatever waits is next, so that a minute passes as fast as it is computed.

It runs several *processes*, as a machine does: whatever one has begun, its callbacks, tasks and timers, belongs to it.
A process that is killed does nothing more, at no await and in no `finally`; one that is stopped goes on where it was.
"""

from __future__ import annotations

import asyncio
import heapq
import sys
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context
from itertools import count
from typing import Any, TypeVar, TypeVarTuple, Unpack

from tests.sim.network import Network

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

LONGEST = 600.0
"""After how many seconds of made-up time a run is taken for one that does not end."""
MOST_STEPS = 3_000_000
"""The same in callbacks, for what turns in circles while no time passes."""
A_STEP = 2e-6
"""Seconds that a callback takes, so that no two things happen at the very same instant."""


DEPTH = 50
"""How many awaits in a `finally` are passed over when what is left of a task is dropped."""


class Hang(Exception):
    """The run does not come to its end."""


class Process:
    """What runs by itself: a node, the store, the players."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.alive = True
        self.stopped = False
        self.ahead = 0.0
        """By how many seconds its monotonic clock is ahead of the loop's time."""
        self.fuse = 0
        """After how many callbacks more it dies; 0 for never."""
        self.parked: list[_Handle] = []
        """What waits until it goes on: as much as comes in meanwhile."""


class _Handle(asyncio.TimerHandle):
    """A callback of a process."""

    __slots__ = ("process",)
    process: Process


class _Numbered:
    """Hashed by a number that is counted up, so that a set of them has the same order in each run."""

    def __init__(self, *args: Any, loop: SimLoop, **options: Any) -> None:
        self._number = next(loop.numbers)
        super().__init__(*args, loop=loop, **options)  # type: ignore[call-arg]  # mixed into what takes one

    def __hash__(self) -> int:
        return self._number


class _Task(_Numbered, asyncio.Task[Any]):
    """A task with a number."""


class _Future(_Numbered, asyncio.Future[Any]):
    """A future with a number."""


def _end(coroutine: Any) -> None:
    for _ in range(DEPTH):  # One for each `finally` that waits for something.
        with suppress(Exception):
            coroutine.close()
            return


class SimLoop(asyncio.AbstractEventLoop):
    """Runs callbacks in an order that follows from what they do, and from the network's seed."""

    def __init__(self, network: Network) -> None:
        self.now = 0.0
        self.steps = 0
        self.numbers = count(1)
        self.network = network
        self.outside = Process("outside")
        self.current = self.outside
        self.complaints: list[dict[str, Any]] = []
        """What went wrong where nobody could be told."""
        self._ready: deque[_Handle] = deque()
        self._timers: list[tuple[float, int, _Handle]] = []
        # Kept to the end: a task that is forgotten would run its `finally`, which the dead do not.
        self._tasks: list[tuple[Process, asyncio.Task[Any]]] = []
        self._running = False
        self._closed = False

    # --- running

    def run(self, process: Process, work: Coroutine[Any, Any, T]) -> T:
        """Run something of a process, and all else meanwhile, until it is done. Raises Hang, and what it raises."""
        with self._in_charge():
            self._running = True
            try:
                self.current = process
                main = self.create_task(work)
                while not main.done():
                    self._turn()
                return main.result()  # type: ignore[no-any-return]  # our tasks are of anything
            finally:
                self._running = False
                self.current = self.outside

    @contextmanager
    def _in_charge(self) -> Iterator[None]:
        """Be this thread's loop, also where it has one that runs: a test's."""
        outer, hooks = asyncio._get_running_loop(), sys.get_asyncgen_hooks()  # noqa: SLF001 - for whoever makes a loop
        asyncio._set_running_loop(self)  # noqa: SLF001 - the same
        sys.set_asyncgen_hooks(None, None)
        try:
            yield
        finally:
            asyncio._set_running_loop(outer)  # noqa: SLF001 - the same
            sys.set_asyncgen_hooks(*hooks)

    def _turn(self) -> None:
        if not self._ready:
            if not self._timers:
                raise Hang("nothing will ever happen any more")
            when, _, handle = heapq.heappop(self._timers)
            self.now = max(self.now, when)
            self._ready.append(handle)
        while self._timers and self._timers[0][0] <= self.now:
            self._ready.append(heapq.heappop(self._timers)[2])
        handle = self._ready.popleft()
        process = handle.process
        if handle.cancelled() or not process.alive:
            return
        if process.stopped:
            process.parked.append(handle)
            return
        if process.fuse:
            process.fuse -= 1
            if not process.fuse:
                self.kill(process)
                return
        self.now += A_STEP
        self.steps += 1
        if self.steps > MOST_STEPS or self.now > LONGEST:
            raise Hang(f"it goes on after {self.now:.0f} s and {self.steps} steps")
        self.current = process
        handle._run()  # noqa: SLF001 - what a loop does with a handle; there is no other way

    def kill(self, process: Process) -> None:
        """End a process here and now: `kill -9`."""
        process.alive = False
        process.parked.clear()
        self.network.lost(process)

    def stop_process(self, process: Process) -> None:
        """SIGSTOP."""
        process.stopped = True

    def go_on(self, process: Process) -> None:
        """SIGCONT."""
        process.stopped = False
        self._ready.extend(process.parked)
        process.parked.clear()

    # --- what asyncio asks of a loop

    def time(self) -> float:
        return self.now + self.current.ahead

    def call_soon(
        self, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> _Handle:
        return self._soon(self.current, callback, args, context)

    call_soon_threadsafe = call_soon

    def soon(self, process: Process, callback: Callable[[Unpack[Ts]], object], *args: *Ts) -> _Handle:
        """Call something on behalf of another process."""
        return self._soon(process, callback, args, None)

    def _soon(
        self, process: Process, callback: Callable[..., object], args: tuple[Any, ...], context: Context | None
    ) -> _Handle:
        handle = _Handle(self.now, callback, args, self, context)
        handle.process = process
        if not self._closed:
            self._ready.append(handle)
        return handle

    def call_at(
        self, when: float, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> _Handle:
        return self._at(self.current, when - self.current.ahead, callback, args, context)

    def call_later(
        self, delay: float, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> _Handle:
        return self._at(self.current, self.now + delay, callback, args, context)

    def at(self, process: Process, due: float, callback: Callable[[Unpack[Ts]], object], *args: *Ts) -> _Handle:
        """Call something at a moment of the loop's own time, on behalf of another process."""
        return self._at(process, due, callback, args, None)

    def _at(
        self,
        process: Process,
        due: float,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        context: Context | None,
    ) -> _Handle:
        handle = _Handle(due, callback, args, self, context)
        handle.process = process
        if not self._closed:
            heapq.heappush(self._timers, (due, next(self.numbers), handle))
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Cancelled timers are passed over when their time has come."""

    def create_future(self) -> asyncio.Future[Any]:
        return _Future(loop=self)

    def create_task(self, coro: Any, *, name: str | None = None, context: Context | None = None) -> asyncio.Task[Any]:
        # Named by what they do: asyncio's own numbers go on from run to run.
        task = _Task(coro, loop=self, name=name or coro.__qualname__, context=context)
        self._tasks.append((self.current, task))
        return task

    def tasks_of(self, process: Process) -> list[str]:
        """The names of what a process has under way."""
        return [task.get_name() for owner, task in self._tasks if owner is process and not task.done()]

    def run_in_executor(self, executor: Any, func: Callable[[Unpack[Ts]], T], *args: *Ts) -> asyncio.Future[T]:
        # There is one thread; what would take another is done at once.
        done = self.create_future()
        done.set_result(func(*args))
        return done

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return self._running

    def is_closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """End what is left of the tasks; whatever they ask in their `finally` is done no more."""
        self._closed = True
        self._ready.clear()
        self._timers.clear()
        with self._in_charge():
            for _, task in self._tasks:
                _end(task.get_coro())
        self._tasks.clear()

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if not self._closed:
            self.complaints.append(context)

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        self.call_exception_handler(context)

    # --- connections

    async def create_connection(  # type: ignore[override]  # of its many options none is used here
        self, protocol_factory: Callable[[], asyncio.Protocol], host: str = "", port: int = 0, **options: Any
    ) -> tuple[asyncio.Transport, asyncio.Protocol]:
        return await self.network.connect(self, protocol_factory, f"{host}:{port}")

    async def create_unix_connection(  # type: ignore[override]  # of its many options none is used here
        self, protocol_factory: Callable[[], asyncio.Protocol], path: str = "", **options: Any
    ) -> tuple[asyncio.Transport, asyncio.Protocol]:
        return await self.network.connect(self, protocol_factory, path)

    async def create_server(  # type: ignore[override]  # of its many options none is used here
        self, protocol_factory: Callable[[], asyncio.Protocol], host: str = "", port: int = 0, **options: Any
    ) -> Any:
        return self.network.listen(self, protocol_factory, f"{host}:{port}")
