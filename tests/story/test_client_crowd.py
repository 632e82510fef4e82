"""Twelve bots on each of the six main games, all at once: every race is run as it must be."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from random import Random

import pytest_asyncio

from cellrace.board import Board
from cellrace.messages import SettingsRequest
from cellrace.solver import DEFAULT_STATES, Solution
from cellrace.variants import MAIN_VARIANTS
from cellrace_client.bot import SolverBot
from cellrace_client.connection import Connection, connect
from cellrace_client.demo import race_faults
from cellrace_client.pace import PACES, Pace
from cellrace_client.race_view import RaceView
from cellrace_client.racer import race_to_the_end
from cellrace_client.thinker import Thinker
from cellrace_server.app import running
from cellrace_server.config import Bounds, Config

BOTS = 12


class OneMind(Thinker):
    """A solver that is asked once for each board, though all twelve bots of a race ask."""

    def __init__(self) -> None:
        super().__init__()
        self._found: dict[Board, asyncio.Task[Solution | None]] = {}

    async def solve(self, board: Board, states: int = DEFAULT_STATES) -> Solution | None:
        """The one answer to all who ask."""
        if board not in self._found:
            self._found[board] = asyncio.create_task(super().solve(board, states))
        return await asyncio.shield(self._found[board])


@pytest_asyncio.fixture
async def url(store_url: str) -> AsyncIterator[str]:
    """A node in this process, on an empty store."""
    async with running(Config(port=0, redis=store_url, node="here", bounds=Bounds(new_players=10_000))) as node:
        yield f"ws://127.0.0.1:{node.port}/ws"


async def test_twelve_bots_race_on_each_of_the_six_main_games_at_once(url: str) -> None:
    """Every layout equal, every commitment right, every standings right and the same for all."""
    mind = OneMind()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(mind.close)

        async def a_race(variant: str) -> list[RaceView]:
            bots = [
                await stack.enter_async_context(
                    connect(url, name=f"{variant} {n}", bot=True, subprotocol=("msgpack", "json")[n % 2])
                )
                for n in range(BOTS)
            ]
            race = (await bots[0].create(SettingsRequest(variant=variant, seats=BOTS, countdown=1))).race
            for bot in bots[1:]:
                await bot.join(race)
            return await asyncio.gather(*(_play(bot, race, mind, n) for n, bot in enumerate(bots)))

        races = await asyncio.gather(*map(a_race, MAIN_VARIANTS))
    for variant, views in zip(MAIN_VARIANTS, races, strict=True):
        assert race_faults(views) == [], variant
        assert len({view.player for view in views}) == BOTS
        standings = views[0].standings
        assert standings is not None
        assert len(standings) == BOTS
        assert all(standing.time is not None for standing in standings), "all have won"


async def _play(connection: Connection, race: str, mind: Thinker, n: int) -> RaceView:
    pace = PACES[5] if n % 2 else Pace(0.0, 0.02, slips=0.1, at_once=4)
    return await race_to_the_end(connection, race, SolverBot(mind, pace, Random(n)))
