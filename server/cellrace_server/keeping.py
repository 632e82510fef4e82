"""Keeps processes alive that belong to a server: its workers, and the bots of the house."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

import structlog

GRACE = 5.0
"""Seconds for a process to end by itself."""
GUEST_GRACE = 1.0
"""The same for one that has nothing to finish: a server ends within five seconds."""
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 10.0
"""Seconds before a process that has died is started again, the first time and at most."""
QUICK_DEATH = 5.0
"""A process that dies within so many seconds makes the next pause twice as long."""

log = structlog.get_logger()


class Program(NamedTuple):
    """What a process runs, what it finds in its environment beside the server's own, and what the log calls it."""

    words: Sequence[str]
    env: Mapping[str, str]
    called: str


Guests = Callable[[str], Sequence[Program]]
"""Programs that a server keeps beside it, given the address at which they find it."""


class Keeper:
    """Keeps one process alive.

    The process holds our end of its standard input: it closes with us, however we end, and the process ends then.
    """

    def __init__(self, program: Program, grace: float = GRACE) -> None:
        self._program = program
        self._grace = grace
        self._process: asyncio.subprocess.Process | None = None
        self._speaks = False
        """Whether it prints a first line that is waited for."""

    async def start(self) -> str:
        """Start the process and return the first line that it prints, empty if it ended without one."""
        self._speaks = True
        process = await self._start()
        assert process.stdout is not None
        return (await process.stdout.readline()).decode().strip()

    async def _start(self) -> asyncio.subprocess.Process:
        self._process = await asyncio.create_subprocess_exec(
            *self._program.words,
            env={**os.environ, **self._program.env},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE if self._speaks else asyncio.subprocess.DEVNULL,
        )
        return self._process

    async def keep(self) -> None:
        """Start the process again whenever it has died; at once if it has not been started yet."""
        pause, called = FIRST_PAUSE, self._program.called
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            try:
                if self._process is None:
                    await (self.start() if self._speaks else self._start())
                assert self._process is not None
                status = await self._process.wait()
            except OSError as error:  # No process or file to be had just now.
                log.error("a process of the server cannot be started yet", process=called, reason=str(error))
            else:
                log.error("a process of the server has died and is started again", process=called, status=status)
            self._process = None
            pause = min(pause * 2, LONGEST_PAUSE) if loop.time() - began < QUICK_DEATH else FIRST_PAUSE
            await asyncio.sleep(pause)  # What dies at its start would take all of a core.

    async def close(self) -> None:
        """End the process: told first, then made to."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.terminate()
        try:
            async with asyncio.timeout(self._grace):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


@asynccontextmanager
async def kept(keepers: Sequence[Keeper]) -> AsyncIterator[None]:
    """Processes that are kept alive until the block ends, and are ended then."""
    keeping = [asyncio.create_task(keeper.keep(), name="keeper") for keeper in keepers]
    try:
        yield
    finally:
        for task in keeping:
            task.cancel()
        await asyncio.gather(*keeping, return_exceptions=True)
        await asyncio.gather(*(keeper.close() for keeper in keepers))


def guests_of(guests: Guests | None, url: str) -> list[Keeper]:
    """The keepers of a server's guests."""
    return [Keeper(program, GUEST_GRACE) for program in (guests(url) if guests is not None else ())]
