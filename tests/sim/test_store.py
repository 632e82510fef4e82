"""The model of the store answers as a real one does: whatever runs have asked of it is asked of both."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any
from urllib.parse import unquote, urlsplit

import hiredis
import pytest

from tests.sim.plot import Plot, plot_of
from tests.sim.run import run_plot
from tests.sim.store.commands import COMMANDS

pytestmark = pytest.mark.timeout(600)

UNORDERED = {b"HGETALL", b"HKEYS", b"HVALS", b"SMEMBERS"}
PAIRED = {b"HGETALL"}
OWN = {b"TIME", b"INFO", b"CONFIG", b"HRANDFIELD", b"PUBLISH"}
"""What each store answers as it is itself, or as its subscribers are."""


class RealStore:
    """A connection to a real store."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._replies = hiredis.Reader()

    async def carry_out(self, commands: list[list[bytes]]) -> list[Any]:
        """The answers to commands."""
        for words in commands:
            parts = [b"$%d\r\n%s\r\n" % (len(word), word) for word in words]
            self._writer.write(b"*%d\r\n%s" % (len(parts), b"".join(parts)))
        answers: list[Any] = []
        while len(answers) < len(commands):
            while (answer := self._replies.gets()) is not False:
                answers.append(answer)
            if len(answers) < len(commands):
                self._replies.feed(await self._reader.read(65536))
        return answers

    def close(self) -> None:
        """Take leave."""
        self._writer.close()


def shown(words: list[bytes], answer: Any) -> Any:
    """An answer without what a store is free to choose."""
    if isinstance(answer, Exception):
        return str(answer).partition(" ")[0]
    if words[0] in PAIRED:
        return sorted(zip(answer[::2], answer[1::2], strict=True))
    if words[0] == b"SCAN":
        return [answer[0], sorted(answer[1])]
    return sorted(answer) if words[0] in UNORDERED else answer


# A replica's store takes writes back, which cannot be asked of another one.
PLOTS = [replace(plot_of(seed), replica=False, faults=("cut", "hold", "kill", "end")) for seed in (3, 12)]
PLOTS.append(replace(PLOTS[0], dailies=True, grace=15, watched=True))


@pytest.mark.parametrize("plot", PLOTS)
async def test_the_model_answers_as_a_real_store_does(plot: Plot, store_url: str) -> None:
    """Every command of a run, functions and all, in the same order."""
    asked: list[tuple[list[bytes], Any]] = []
    assert not run_plot(plot, lambda words, answer: asked.append((words, answer))).violations
    real = RealStore(*await asyncio.open_unix_connection(unquote(urlsplit(store_url).path)))
    try:
        answers = await real.carry_out([words for words, _ in asked])
    finally:
        real.close()
    for (words, answer), answered in zip(asked, answers, strict=True):
        if words[0] not in OWN:
            assert shown(words, answered) == shown(words, answer), words
    assert {words[0] for words, _ in asked} & COMMANDS.keys() >= {b"HSET", b"ZADD", b"HMGET"}
    assert len({words[1] for words, _ in asked if words[0] == b"FCALL"}) > 15
