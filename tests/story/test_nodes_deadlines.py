"""Races whose nodes are all killed: each is looked at within two seconds of any node's start after its time."""

from __future__ import annotations

import asyncio
import time

from tests.server.net.fetching import fetch
from tests.story.cluster import Cluster
from tests.story.players import JSON, Map, open_race, play, start_race, table
from tests.story.solved_games import golden_game
from tests.waiting import eventually

LIMIT = 10
"""The shortest time limit there is, s."""
LATE_COMMITS = 2
"""For so many seconds after the limit a move that arrived in time may still be put on record."""
PROMISED = 2.0
"""Seconds from a node's start to the end of a race whose time has come."""

ONE_SUIT = golden_game("one-suit", 94, "none")


async def test_races_without_a_node_end_when_one_is_started(cluster: Cluster) -> None:
    """Their players were at both nodes and none comes back before; an answered move counts."""
    async with table(cluster.urls[0]) as here, table(cluster.urls[1]) as there:
        ann, ben = await here.player("Ann"), await there.player("Ben", JSON)
        settings = {"variant": "one-suit", "deal": 94, "autoplay": "none", "time_limit": LIMIT}
        timed = await start_race(ann, ben, **settings)
        played = await play(ann, timed, ONE_SUIT[:4], at_once=1)
        won = await start_race(ann, ben, **settings)
        await play(ben, won, ONE_SUIT)
        limit_at = (await ann.ask("race.sync", race=won))["start_at"] / 1000 + LIMIT
        await cluster.kill(0, 1)
    await eventually(lambda: time.time() > limit_at + LATE_COMMITS, LIMIT + LATE_COMMITS + 5)
    await cluster.start(1)
    async with asyncio.timeout(PROMISED):
        ended = [await _over(cluster.ports[1], race) for race in (timed, won)]
    assert _outcome(ended[0]) == {ann.id: ("timed_out", played["home"]), ben.id: ("timed_out", 0)}
    assert _outcome(ended[1]) == {ben.id: ("won", 13), ann.id: ("timed_out", 0)}
    async with table(cluster.urls[1]) as there:
        again = await there.back(ann)
        assert again.welcome["races"] == []
        whole = await again.ask("race.sync", race=timed)
        assert whole["you"]["moves"] == ONE_SUIT[:4]
        assert whole["standings"] == ended[0]["standings"]


async def test_a_race_in_which_all_got_ready_as_its_nodes_died_begins(cluster: Cluster) -> None:
    """Nobody asks again: whoever comes back finds the countdown, or the race."""
    async with table(cluster.urls[0]) as here, table(cluster.urls[1]) as there:
        ann, ben = await here.player("Ann"), await there.player("Ben")
        race = await open_race(ann, ben, variant="one-suit", deal=94)
        await ben.ask("race.ready", race=race)
        await ann.send("race.ready", race=race)
        await cluster.kill(0, 1)
    await cluster.start(0, 1)
    async with table(cluster.urls[0]) as here, table(cluster.urls[1]) as there:
        ann, ben = await here.back(ann), await there.back(ben)
        whole = await ann.ask("race.sync", race=race)
        if [entrant["status"] for entrant in whole["entrants"]] == ["joined", "ready"]:
            await ann.ask("race.ready", race=race)  # It was not answered, and was not carried out either.
        for player in (ann, ben):
            await eventually(lambda player=player: _runs(player, race))


async def _runs(player, race: str) -> bool:
    return (await player.ask("race.sync", race=race))["state"] == "running"


async def _over(port: int, race: str) -> Map:
    while True:
        told: Map = (await fetch(port, f"/api/v1/races/{race}")).json
        if told.get("state") == "over":
            return told
        await asyncio.sleep(0.05)


def _outcome(race: Map) -> dict[str, tuple[str, int]]:
    return {row["player"]["id"]: (row["status"], row["home"]) for row in race["standings"]}
