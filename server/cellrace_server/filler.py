"""Keeps the pools of proved deals filled in the background, and tells when they run short.

The searching is done by processes of their own (`prover`), started when a pool wants a number and ended when none
does; here they are only asked, one try at a time, with pauses that leave them a small share of one core. Nodes that
share a store fill the same pools: each looks how full they are, numbers are random over the whole range, and what two
of them should add at once is a few more than was wanted.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Mapping

import msgspec
import structlog
from msgspec import Struct

from cellrace.errors import CellraceError
from cellrace.variants import VARIANTS
from cellrace_server.prover import Attempt, Order
from cellrace_server.stock import PUBLISHED
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.pool import Level, PoolStore

MOST = 20
"""To how many times its target a pool may grow for players who have had nearly all."""
MOST_WITHOUT_TARGET = 10_000
"""How far the pool of a game may grow whose stock is so large that it has no target."""
LONGEST_TRY = 300.0
"""Seconds after which a process that gives no answer is replaced; a try takes the processor about one at most."""
LONGEST_REST = 60.0
"""Seconds at most until the next try after one that failed; each rest is twice as long as the one before."""

log = structlog.get_logger()


class Pace(Struct, frozen=True):
    """How gently the pools are filled; all in seconds but the shares, which are parts of one core's time."""

    first: float = 15.0
    """From the start of a node to its first try: a node has players to let in, and a short-lived one never searches."""
    look: float = 5.0
    """Between two looks at how full the pools are."""
    share: float = 0.1
    hurried_share: float = 0.5
    """The share while players run short of numbers."""
    pause: float = 0.25
    """At least between two tries, for each number found is a write to disk."""
    hurried_pause: float = 0.02

    def after(self, busy: float, hurried: bool) -> float:
        """How long to pause after a try that kept the processor busy for so long."""
        share, least = (self.hurried_share, self.hurried_pause) if hurried else (self.share, self.pause)
        return max(least, busy * (1 / share - 1))


class PoolDetail(Struct, frozen=True):
    """What `/readyz` says of the pools: how many numbers each has, and for which games players run short."""

    target: int
    sizes: Mapping[str, int]
    short: tuple[str, ...]


class ProverFailed(CellraceError):
    """A process that proves deals has ended, or does not answer."""


class Prover:
    """A process that proves deals, started by the first order."""

    def __init__(self) -> None:
        # The start is a task, so that whoever is cancelled meanwhile still finds a process to end.
        self._start: asyncio.Task[asyncio.subprocess.Process] | None = None

    @property
    def pid(self) -> int | None:
        """The process, while there is one."""
        start = self._start
        return start.result().pid if start is not None and start.done() and not start.exception() else None

    async def prove(self, variant: str) -> Attempt:
        """One try at one deal. Raises ProverFailed."""
        try:
            process = await self._started()
            async with asyncio.timeout(LONGEST_TRY):
                made = await _ask(process, Order(variant))
        except (TimeoutError, OSError, msgspec.DecodeError) as error:
            await self.end()
            raise ProverFailed(f"A process that proves deals gives no answer ({type(error).__name__}).") from error
        if made.fault:
            raise ProverFailed(f"A process that proves deals failed at one ({made.fault}).")
        return made

    async def _started(self) -> asyncio.subprocess.Process:
        if self._start is None:
            # A program of its own and no fork of this one: nothing of the node is in it, its sockets least of all.
            command = (sys.executable, "-P", "-m", "cellrace_server.prover", str(os.getpid()))
            pipe = asyncio.subprocess.PIPE
            starting = asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
            self._start = asyncio.create_task(starting, name="prover")
        return await asyncio.shield(self._start)

    async def end(self) -> None:
        """End the process, if there is one; what was cancelled half way is done by the next call."""
        if self._start is None:
            return
        with contextlib.suppress(OSError):
            process = await asyncio.shield(self._start)
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            assert process.stdin is not None
            process.stdin.close()
            await process.stdin.wait_closed()
        self._start = None


async def _ask(process: asyncio.subprocess.Process, order: Order) -> Attempt:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(msgspec.json.encode(order) + b"\n")
    await process.stdin.drain()
    return msgspec.json.decode(await process.stdout.readline(), type=Attempt)


class Filler:
    """Fills the pools up to a target for each game with a shipped stock, and further for players who run short."""

    def __init__(self, pool: PoolStore, target: int, provers: int = 1, pace: Pace | None = None) -> None:
        self._pool = pool
        self._target = target
        self._provers = tuple(Prover() for _ in range(provers if target else 0))
        self._pace = pace or Pace()
        self._levels: dict[str, Level] = {}
        self._short: frozenset[str] = frozenset()

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes that are at it."""
        return tuple(prover.pid for prover in self._provers if prover.pid is not None)

    def detail(self) -> PoolDetail:
        """How the pools stand, as this node saw them last."""
        sizes = {variant: level.size for variant, level in self._levels.items()}
        return PoolDetail(self._target, sizes, tuple(sorted(self._short)))

    async def run(self) -> None:
        """Look after the pools until cancelled; then no process is left."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._watch())
            for prover in self._provers:
                tasks.create_task(self._fill(prover))

    async def _watch(self) -> None:
        while True:
            try:
                await self.look()
            except StoreUnavailable as error:
                log.debug("the pools could not be looked at", reason=str(error))  # The beat tells it loud enough.
            await asyncio.sleep(self._pace.look)

    async def look(self) -> None:
        """See how full the pools are, and tell once of each that has begun or ceased to be short."""
        levels = await self._pool.levels(tuple(VARIANTS))
        self._levels = {level.variant: level for level in levels}
        short = frozenset(level.variant for level in levels if level.short)
        for variant in sorted(short - self._short):
            level = self._levels[variant]
            advice = "more are being proved" if level.size < self._goal(level) else "raise --pool to have more proved"
            log.warning("proved deals run short for some players", variant=variant, pool=level.size, advice=advice)
        for variant in sorted(self._short - short):
            log.info("there are enough proved deals again", variant=variant, pool=self._levels[variant].size)
        self._short = short

    def _goal(self, level: Level) -> int:
        if not self._target:
            return 0
        if level.variant in PUBLISHED:
            return min(level.wanted, MOST_WITHOUT_TARGET)
        return max(self._target, min(level.wanted, MOST * self._target))

    def _neediest(self) -> Level | None:
        """The pool to add to: one for which players wait, else the emptiest."""
        wanting = [level for level in self._levels.values() if level.size < self._goal(level)]
        return min(wanting, key=lambda level: (not level.short, level.size / self._goal(level)), default=None)

    async def _fill(self, prover: Prover) -> None:
        rest = self._pace.look
        try:
            await asyncio.sleep(self._pace.first)
            while True:
                level = self._neediest()
                if level is None:
                    await prover.end()
                    await asyncio.sleep(self._pace.look)
                    continue
                try:
                    busy = await self._try(prover, level.variant)
                except (ProverFailed, StoreUnavailable) as error:
                    log.warning("no deal was proved", variant=level.variant, reason=str(error), again_in=rest)
                    await asyncio.sleep(rest)
                    rest = min(rest * 2, LONGEST_REST)
                    continue
                rest = self._pace.look
                await asyncio.sleep(self._pace.after(busy, level.short))
        finally:
            await prover.end()

    async def _try(self, prover: Prover, variant: str) -> float:
        made = await prover.prove(variant)
        if made.packed and await self._pool.add(variant, made.number, made.packed):
            level = self._levels[variant]
            self._levels[variant] = msgspec.structs.replace(level, size=level.size + 1)
        return made.seconds
