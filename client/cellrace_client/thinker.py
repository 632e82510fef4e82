"""The solver in a process of its own, with low priority: the connection answers while it thinks.

The other process reads a question a line from its standard input and writes an answer a line; it ends when the input
does, so it never outlives the bot for longer than one question takes.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress

import msgspec

from cellrace.board import Board
from cellrace.board_text import board_text, parse_board
from cellrace.solver import DEFAULT_STATES, Search, Solution
from cellrace.variants import find_variant

_PRIORITY = 10
"""By so much nicer: the solver takes what the connection, and others on this machine, leave."""
_SLICE = 5_000
"""States that are searched between two calls of the search."""


class Question(msgspec.Struct, frozen=True):
    """A board to be solved, in the text of fc-solve."""

    variant: str
    board: str
    states: int


class Finding(msgspec.Struct, frozen=True):
    """What was found, if anything."""

    moves: tuple[str, ...] | None
    safe_moves: tuple[str, ...]
    states: int


class Thinker:
    """A solver process, started when it is first asked; one question at a time."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._one_at_a_time = asyncio.Lock()

    async def solve(self, board: Board, states: int = DEFAULT_STATES) -> Solution | None:
        """A way to win from a board, None where none was found. Who stops waiting stops the search."""
        question = Question(board.variant.id, board_text(board), states)
        async with self._one_at_a_time:
            try:
                finding = await self._ask(question)
            except BaseException:
                await self._kill()
                raise
        if finding is None or finding.moves is None:
            return None
        return Solution(finding.moves, finding.safe_moves, finding.states)

    async def _ask(self, question: Question) -> Finding | None:
        process = await self._started()
        assert process.stdin is not None, "the process was started with pipes"
        assert process.stdout is not None, "the process was started with pipes"
        try:
            process.stdin.write(msgspec.json.encode(question) + b"\n")
            await process.stdin.drain()
            answer = await process.stdout.readline()
            return msgspec.json.decode(answer, type=Finding)
        except (OSError, msgspec.DecodeError):
            # It has died, of too little memory perhaps: nothing found, and the next question gets a new one.
            await self._kill()
            return None

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                __name__,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
            )
        return self._process

    async def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()

    async def close(self) -> None:
        """Ends the process."""
        await self._kill()


def answer(question: Question) -> Finding:
    """Solves one question."""
    search = Search(parse_board(find_variant(question.variant), question.board), question.states)
    while search.advance(_SLICE):
        pass
    found = search.solution
    if found is None:
        return Finding(None, (), search.states)
    return Finding(found.moves, found.safe_moves, found.states)


def answer_all() -> None:
    """Answers questions until there are no more: what the other process does."""
    # Ctrl-C is for the bot, which then closes our input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(_PRIORITY)
    decoder = msgspec.json.Decoder(Question)
    for line in sys.stdin.buffer:
        try:
            sys.stdout.buffer.write(msgspec.json.encode(answer(decoder.decode(line))) + b"\n")
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            return


if __name__ == "__main__":
    answer_all()
