"""After a storm of races nothing is left of them: no task, no descriptor, no object."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections import Counter
from pathlib import Path

import pytest

from cellrace_server.app import Node, running
from cellrace_server.config import Bounds, Config
from cellrace_server.net.connection import Connection
from cellrace_server.net.outbox import Outbox
from cellrace_server.net.session import Session
from cellrace_server.play import Play
from cellrace_server.referee import Referee
from cellrace_server.room import Room
from tests.story.players import Table, open_race, play, start_race, table
from tests.story.solved_games import stocked_game
from tests.waiting import eventually

KINDS = (Connection, Outbox, Play, Referee, Room, Session)
AT_ONCE = 10
GENEROUS = Bounds(burst=10_000, new_players_here=10_000)
MORE_OBJECTS = 1_000
"""Of so many there may be more after one storm than after the one before, by chance; a race has thousands."""
MORE_DESCRIPTORS = 64
"""So many connections to the store may have been wanted at once this time; players had three for each race, and 240."""


async def _race(seats: Table, number: int) -> None:
    """A race to one of the ends that there are, with a spectator; half of all go without a word."""
    ann, bob, cem = [await seats.player() for _ in range(3)]
    if number % 4 == 3:
        await open_race(ann, bob)  # Never begun, and left behind.
    else:
        race = await start_race(ann, bob, variant="one-suit", spectate="live", grace=15)
        await cem.ask("race.watch", race=race)
        deal = (await ann.ask("race.sync", race=race))["deal"]
        await play(ann, race, stocked_game("one-suit", deal))
        await bob.ask("race.concede" if number % 4 else "race.forfeit", race=race)
        await cem.push("race.over", race=race)
    for player in (ann, bob, cem):
        await (player.drop() if number % 2 else player.close())


async def _storm(node: Node, races: int) -> None:
    async with table(f"ws://127.0.0.1:{node.port}/ws") as seats:
        for begin in range(0, races, AT_ONCE):
            await asyncio.gather(*(_race(seats, number) for number in range(begin, begin + AT_ONCE)))
    await eventually(lambda: not len(node.sessions) and not len(node.services.rooms))


def _left() -> tuple[Counter[str], int]:
    """How many there are of each kind, and of all objects."""
    gc.collect()
    objects = gc.get_objects()
    return Counter(type(one).__name__ for one in objects if isinstance(one, KINDS)), len(objects)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="descriptors are counted in /proc")
async def test_all_is_as_it_was_before(store_url: str, tmp_path: Path) -> None:
    others = _left()[0]  # What tests before this one in this process have left is not this node's.
    async with running(Config(port=0, redis=store_url, data_dir=tmp_path, bounds=GENEROUS)) as node:
        await _storm(node, 40)  # Fills caches, and the pool of connections to the store.
        await eventually(lambda: len(asyncio.all_tasks()) < 30)
        tasks, descriptors, (_, objects) = len(asyncio.all_tasks()), len(os.listdir("/proc/self/fd")), _left()
        await _storm(node, 80)
        await eventually(lambda: len(asyncio.all_tasks()) <= tasks)
        await eventually(lambda: len(os.listdir("/proc/self/fd")) <= descriptors + MORE_DESCRIPTORS)
        await eventually(lambda: not _left()[0] - others)  # Now and then the sweep looks at a race that nobody is in.
        await eventually(lambda: _left()[1] - objects < MORE_OBJECTS)
