"""`cellrace watch`, and watching at the lines of `cellrace play`: processes with pipes, players on another node."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from cellrace_server.app import Node, running
from cellrace_server.config import Bounds, Config
from tests.story.players import Player, Table, open_race, play, start_race, table
from tests.waiting import eventually

COMMAND = (sys.executable, "-c", "from cellrace_client.cli import main; main(prog_name='cellrace')")
PATIENCE = 60.0
"""Seconds after which a line was awaited in vain."""
ONE_SUIT = ["2a", "2b", "31v2"]
"""What wins deal 94."""


class Watcher:
    """A running command, and what it has said so far."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.lines: list[str] = []

    async def says(self, beginning: str) -> str:
        """Read until a line begins so."""
        assert self._process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            while True:
                line = (await self._process.stdout.readline()).decode()
                assert line, f"{beginning!r} was not said: {self.lines}"
                self.lines.append(line.rstrip("\n"))
                if line.startswith(beginning):
                    return self.lines[-1]

    async def type(self, *lines: str) -> None:
        """Type lines into its pipe."""
        assert self._process.stdin is not None
        self._process.stdin.write("".join(f"{line}\n" for line in lines).encode())
        await self._process.stdin.drain()

    async def ends(self) -> int:
        """The exit status, once all is said."""
        assert self._process.stdout is not None
        assert self._process.stdin is not None
        self._process.stdin.close()
        async with asyncio.timeout(PATIENCE):
            self.lines += (await self._process.stdout.read()).decode().splitlines()
            return await self._process.wait()


@asynccontextmanager
async def run(folder: Path, *arguments: str) -> AsyncIterator[Watcher]:
    """Run the command, in English, with a configuration of its own."""
    environment = os.environ | {"TERM": "dumb", "LANG": "C", "LC_ALL": "C", "XDG_CONFIG_HOME": str(folder)}
    process = await asyncio.create_subprocess_exec(
        *(*COMMAND, *arguments),
        env=environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        yield Watcher(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest_asyncio.fixture
async def nodes(store_url: str) -> AsyncIterator[list[Node]]:
    """Two nodes on one store: players at the first, watchers at the second."""
    config = Config(port=0, redis=store_url, bounds=Bounds(burst=10**6))
    async with running(config) as one, running(config) as other:
        yield [one, other]


@pytest_asyncio.fixture
async def seats(nodes: list[Node]) -> AsyncIterator[Table]:
    """The players' table."""
    async with table(url(nodes[0])) as opened:
        yield opened


def url(node: Node) -> str:
    return f"ws://127.0.0.1:{node.port}/ws"


async def pair(seats: Table) -> tuple[Player, Player]:
    return await seats.player("Ann"), await seats.player("Ben")


async def test_a_live_race_is_told_from_the_start_to_the_standings(
    seats: Table, nodes: list[Node], tmp_path: Path
) -> None:
    """Who comes, the board, each move as it is played, boards and progress, the ends, the standings."""
    ann, ben = await pair(seats)
    race = await open_race(ann, variant="one-suit", deal=94, spectate="live")
    async with run(tmp_path, "watch", race, "--server", url(nodes[1]), "--boards", "0.5") as watcher:
        await watcher.says(f"Race {race} is open: One Suit")
        await ben.ask("race.join", race=race)
        await watcher.says("Ben has joined")
        for player in (ann, ben):
            await player.ask("race.ready", race=race)
        await ann.push("race.started", race=race)
        await watcher.says("The race has started: One Suit, deal 94.")
        await watcher.says("All begin with this board:")
        await play(ann, race, ONE_SUIT[:1])
        assert await watcher.says("Ann: ") == "Ann: 9S from column 2 to cell a. By itself went home: AS."
        await watcher.says("The board of Ann:")
        await watcher.says("cells   a 9S  b --")
        await watcher.says("1 card of 13 home.")
        await play(ann, race, ONE_SUIT[1:], seq=1)
        await watcher.says("Ann won in ")
        await ben.ask("race.concede", race=race)
        await watcher.says("Ben conceded with 0 cards home.")
        await watcher.says("The race is over. The standings:")
        assert await watcher.ends() == 0
    assert watcher.lines[-2].startswith("1st: Ann won in ")
    assert watcher.lines[-1].startswith("2nd: Ben conceded with 0 cards home")


async def test_moves_that_are_held_back_are_not_told_and_progress_is(
    seats: Table, nodes: list[Node], tmp_path: Path
) -> None:
    """Whoever watches a delayed race could else tell a player what the rival does."""
    ann, ben = await pair(seats)
    race = await start_race(ann, ben, variant="one-suit", deal=94, spectate="delayed")
    async with run(tmp_path, "watch", race, "--server", url(nodes[1]), "--progress", "0.5") as watcher:
        await watcher.says("All begin with this board:")
        await play(ann, race, ONE_SUIT[:1])
        await watcher.says("Ann has 1 card home.")
        for player in (ann, ben):
            await player.ask("race.forfeit", race=race)
        await watcher.says("The race is over.")
        assert await watcher.ends() == 0
    assert not [line for line in watcher.lines if "9S from" in line]


async def test_a_private_race_is_watched_by_its_code_alone(seats: Table, nodes: list[Node], tmp_path: Path) -> None:
    """By its id it does not seem to exist."""
    ann, ben = await pair(seats)
    race = await open_race(ann, variant="one-suit", deal=94, private=True)
    code = (await ann.ask("race.sync", race=race))["code"]
    await ben.ask("race.join", code=code)
    for player in (ann, ben):
        await player.ask("race.ready", race=race)
    await ben.push("race.started", race=race)
    async with run(tmp_path, "watch", race, "--server", url(nodes[1])) as refused:
        assert await refused.ends() == 1
        assert refused.lines == ["Error: There is no such race."]
    async with run(tmp_path, "watch", "--code", code.lower(), "--server", url(nodes[1])) as watcher:
        await watcher.says(f"Race {race} is running")
        for player in (ann, ben):
            await player.ask("race.concede", race=race)
        await watcher.says("The race is over.")
        assert await watcher.ends() == 0


async def test_a_race_that_has_ended_is_told_as_it_ended(seats: Table, nodes: list[Node], tmp_path: Path) -> None:
    """The standings at once; of a cancelled race there are none, and the exit status says so."""
    ann, ben = await pair(seats)
    race = await start_race(ann, ben, variant="one-suit", deal=94)
    await play(ann, race, ONE_SUIT)
    await ben.ask("race.concede", race=race)
    await ann.push("race.over", race=race)
    async with run(tmp_path, "watch", race, "--server", url(nodes[1])) as watcher:
        assert await watcher.ends() == 0
        assert watcher.lines[0].startswith(f"Race {race} is over")
        assert watcher.lines[1].startswith("1st: Ann won in ")
    left = await open_race(ann)
    await ann.ask("race.leave", race=left)
    async with run(tmp_path, "watch", left, "--server", url(nodes[1])) as watcher:
        assert await watcher.ends() == 1


async def test_at_the_lines_of_play_one_watches_too(seats: Table, nodes: list[Node], tmp_path: Path) -> None:
    """Moves are told as they come, boards when asked for, and leaving ends it without harm to anybody."""
    ann, ben = await pair(seats)
    race = await start_race(ann, ben, variant="one-suit", deal=94, spectate="live")
    async with run(tmp_path, "play", "--plain", "--server", url(nodes[1])) as watcher:
        await watcher.type(f"watch {race}")
        await watcher.says("Ann: playing, 0 cards home, 0 moves.")
        await play(ann, race, ONE_SUIT[:1])
        await watcher.says("Ann: 9S from column 2 to cell a. By itself went home: AS.")
        await watcher.type("board")
        await watcher.says("The board of Ann:")
        await watcher.type("board ben", "leave")
        await watcher.says("The board of Ben:")
        await watcher.says("You watch the race no more.")
        room = next(iter(nodes[1].services.rooms), None)
        await eventually(lambda: room is None or not room.room.spectators)
        assert await watcher.ends() == 0
    assert (await ben.ask("race.sync", race=race))["state"] == "running"


@pytest.mark.parametrize("arguments", [[], ["r", "--code", "ABCDEFGH"]])
async def test_it_must_be_said_which_race(tmp_path: Path, arguments: list[str]) -> None:
    """Neither none nor two."""
    async with run(tmp_path, "watch", *arguments) as watcher:
        assert await watcher.ends() == 2
