"""Sixty races at once while their nodes are killed: no answered move is lost, and every race comes to its end."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from random import Random
from typing import Any

import pytest

from cellrace.messages import EntrantStatus, Moved, RaceState, SettingsRequest
from cellrace.variants import MAIN_VARIANTS
from cellrace_client.connection import Connection, connect
from cellrace_client.demo import race_faults
from cellrace_client.race_view import RaceView
from cellrace_client.racer import race_to_the_end
from tests.server.net.fetching import fetch
from tests.story.cluster import Cluster
from tests.story.solved_games import golden_game, stocked_game
from tests.waiting import eventually

RACES = 60
FREECELL = 617
"""The deal of the races of FreeCell, whose stock has no proofs."""
KILLS = 6
BETWEEN = 400
"""Answered moves of all races from one blow to the next; together they have more than seven times as many."""
MEANWHILE = 200
"""Answered moves while a node is killed and started."""


class Course:
    """How far all races together may have come: nodes that are started slowly are not outrun."""

    def __init__(self) -> None:
        self.answered = 0
        self._limit = 0
        self._raised = asyncio.Event()

    def allow(self, limit: int) -> None:
        """Let them come so far, counted in answered moves."""
        self._limit = limit
        self._raised.set()
        self._raised = asyncio.Event()

    async def go_on(self) -> None:
        """Wait until more moves are allowed."""
        while self.answered >= self._limit:
            await self._raised.wait()


class Solved:
    """Plays a deal whose solution is known, to the end or, with `stops`, half way; notes what is answered."""

    def __init__(self, connection: Connection, course: Course, chance: Random, *, stops: bool) -> None:
        self.connection = connection
        self._course = course
        self.answered: list[str] = []
        self.plan: Sequence[str] = ()
        self._chance = chance
        self._stops = stops
        self._move = connection.move
        connection.move = self._noted  # type: ignore[method-assign]  # a spy on what is answered

    async def _noted(self, race: str, *moves: str, seq: int | None = None) -> Moved:
        answer = await self._move(race, *moves, seq=seq)
        self.answered += moves
        self._course.answered += len(moves)
        assert answer.seq == len(self.answered)
        return answer

    async def choose(self, view: RaceView) -> Sequence[str]:
        """The next moves of the solution."""
        assert view.dealt is not None
        assert view.dealt.deal is not None
        self.plan = _solution(view.settings.variant, view.dealt.deal)
        if self._stops:
            self.plan = self.plan[: len(self.plan) // 2]
        assert view.log[: len(self.answered)] == tuple(self.answered), "an answered move is gone"
        await asyncio.sleep(self._chance.uniform(0.02, 0.4))
        await self._course.go_on()
        return self.plan[len(view.log) :][: self._chance.randint(1, 3)]


def _solution(variant: str, deal: int) -> Sequence[str]:
    return golden_game(variant, deal, "safe") if variant == "freecell" else stocked_game(variant, deal)


def _settings(variant: str) -> SettingsRequest:
    deal = FREECELL if variant == "freecell" else None
    return SettingsRequest(variant=variant, deal=deal, countdown=1, seats=2)


@pytest.mark.timeout(300)
async def test_sixty_races_outlive_their_nodes(cluster: Cluster) -> None:
    """A player of each race at each node; both nodes are killed and started, in turn and together."""
    chance = Random(3)
    course = Course()
    players: list[Solved] = []
    async with AsyncExitStack() as stack:

        async def come(first: int, *, stops: bool) -> Solved:
            urls = [cluster.urls[first], cluster.urls[1 - first]]
            connection = await stack.enter_async_context(
                connect(urls, bot=True, subprotocol=("json", "msgpack")[first])
            )
            players.append(Solved(connection, course, Random(chance.random()), stops=stops))
            return players[-1]

        async def a_race(number: int) -> list[RaceView]:
            ann = await come(0, stops=False)
            ben = await come(1, stops=number % 3 == 0)
            race = (await ann.connection.create(_settings(MAIN_VARIANTS[number % len(MAIN_VARIANTS)]))).race
            await ben.connection.join(race)
            return list(await asyncio.gather(*(race_to_the_end(p.connection, race, p) for p in (ann, ben))))

        racing = asyncio.gather(*map(a_race, range(RACES)))
        for blow in range(1, KILLS + 1):
            # They play on while a node is killed, and at the other while it is started: so far, and no further.
            course.allow(blow * BETWEEN + MEANWHILE)
            await eventually(lambda due=blow * BETWEEN: course.answered >= due or racing.done(), 120)
            assert not racing.done(), "the nodes were to die in the middle"
            struck = (0, 1) if blow == KILLS else (blow % 2,)
            await cluster.kill(*struck)
            await cluster.start(*struck)
        course.allow(sys.maxsize)
        races = await racing
        for views in races:
            await _check_race(cluster, views, players)
        assert all(tuple(player.answered) == tuple(player.plan) for player in players)
    await _check_nothing_is_left(cluster, len(races))


async def _check_race(cluster: Cluster, views: list[RaceView], players: list[Solved]) -> None:
    """What both know, what the record tells each of them now, and what each node tells everybody."""
    race = views[0].race
    assert race_faults(views) == []
    known = {player.connection.player.id: player for player in players}
    whole = [await known[view.player].connection.sync(race) for view in views]
    for view, rival in zip(whole, reversed(whole), strict=True):
        mine = tuple(known[view.player].answered)
        assert view.log == mine
        assert rival.log_of(view.player) == mine
    told: list[dict[str, Any]] = [(await fetch(port, f"/api/v1/races/{race}")).json for port in cluster.ports]
    for one in told:
        one.pop("now")
    assert told[0] == told[1]
    assert [row["player"]["id"] for row in told[0]["standings"]] == [s.player.id for s in views[0].standings or ()]
    statuses = {standing.status for standing in views[0].standings or ()}
    assert statuses <= {EntrantStatus.WON, EntrantStatus.CONCEDED}


async def _check_nothing_is_left(cluster: Cluster, races: int) -> None:
    """No race is left open, and all of them have ended."""
    for port in cluster.ports:
        for state in (RaceState.OPEN, RaceState.COUNTDOWN, RaceState.RUNNING):
            assert (await fetch(port, f"/api/v1/races?state={state}")).json["races"] == []
        assert len((await fetch(port, "/api/v1/races?state=over&limit=100")).json["races"]) == races
