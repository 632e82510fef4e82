"""Players of one race at two nodes: to them the nodes are one server (protocol, sections 2 and 4)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from cellrace_server.app import Node, running
from cellrace_server.config import Bounds, Config
from tests.story.passing_time import PassingTime
from tests.story.players import JSON, Map, Player, Table, open_race, play, start_race, table
from tests.waiting import eventually

WIN = ["2a", "2b", "31v2"]
"""Wins deal 94 of one-suit."""
ONE_SUIT = {"variant": "one-suit", "deal": 94}


@dataclass
class House:
    """Two nodes that have been there for a minute, and a table at each."""

    nodes: list[Node]
    here: Table
    there: Table
    time: PassingTime

    async def pass_by(self, seconds: float) -> None:
        """Time passes at both."""
        await self.time.pass_by(seconds, *self.nodes)


@pytest_asyncio.fixture
async def house(store_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[House]:
    """Both nodes in this process, on an empty store."""
    config = Config(port=0, redis=store_url, bounds=Bounds(burst=10**6))
    time = PassingTime(monkeypatch)
    async with running(config) as one, running(config) as other:
        await time.pass_by(60, one, other)
        async with table(url(one)) as here, table(url(other)) as there:
            yield House([one, other], here, there, time)


def url(node: Node) -> str:
    return f"ws://127.0.0.1:{node.port}/ws"


def told(player: Player, race: str) -> list[Map]:
    """The facts of a race that a player was told, without the time at which that was."""
    return [
        {name: value for name, value in frame.items() if name != "now"}
        for frame in player.frames
        if frame.get("race") == race and "version" in frame and "re" not in frame
    ]


async def test_both_are_told_the_same_in_the_same_order(house: House) -> None:
    """Each fact from the second's joining on, whoever's node has written it."""
    ann, ben = await house.here.player("Ann"), await house.there.player("Ben", JSON)
    race = await start_race(ann, ben, **ONE_SUIT)
    await play(ann, race, WIN, at_once=1)
    progress = await ben.push("race.progress", race=race, player=ann.id, seq=1)
    assert progress["moves"] == 1
    await ben.ask("race.concede", race=race)
    for player in (ann, ben):
        await player.push("race.over", race=race)
    hers, his = told(ann, race), told(ben, race)
    joined = next(i for i, fact in enumerate(hers) if fact["type"] == "race.joined" and fact["player"]["id"] == ben.id)
    assert len(his) > 5
    assert hers[joined:] == his


async def test_who_connects_at_another_node_takes_over_and_goes_on(house: House) -> None:
    """The older connection is closed with 4100, wherever it is; the moves made there are known here."""
    ann, ben = await house.here.player("Ann"), await house.there.player("Ben")
    race = await start_race(ann, ben, **ONE_SUIT)
    await play(ann, race, WIN[:2])
    again = await house.there.back(ann)
    assert again.welcome["races"] == [{"race": race, "state": "running"}]
    assert await ann.closed() == 4100
    assert (await again.ask("race.sync", race=race))["you"]["moves"] == WIN[:2]
    await play(again, race, WIN[2:], seq=2)
    back_home = await house.here.back(again)
    assert await again.closed() == 4100
    assert (await back_home.ask("move", race=race, seq=0, moves=WIN[:2]))["seq"] == 2
    assert not [frame for frame in ben.frames if frame["type"] == "race.online"], "she was never away"


async def test_an_absence_is_seen_and_ended_across_nodes(house: House) -> None:
    ann, ben = await house.here.player("Ann"), await house.there.player("Ben")
    race = await start_race(ann, ben, grace=60, **ONE_SUIT)
    house.time.stand_still(house.nodes[0])
    await ann.drop()
    await ben.push("race.online", race=race, player=ann.id, online=False)
    await house.pass_by(50)
    again = await house.there.back(ann)
    await ben.push("race.online", race=race, player=ann.id, online=True)
    await house.pass_by(50)
    await again.drop()
    await ben.push("race.online", race=race, player=ann.id, online=False)
    await house.pass_by(61)
    done = await ben.push("race.done", race=race)
    assert (done["player"], done["status"]) == (ann.id, "abandoned")


async def test_the_host_who_goes_is_followed_by_one_at_another_node(house: House) -> None:
    ann, ben, cem = [await one.player() for one in (house.here, house.there, house.here)]
    race = await open_race(ann, ben, cem, **ONE_SUIT)
    await ann.ask("race.leave", race=race)
    for player in (ben, cem):
        await player.push("race.left", race=race, player=ann.id)
    assert (await cem.refused("race.start", race=race))["code"] == "not_host"
    dan = await house.there.player()
    await dan.ask("race.join", race=race)
    await ben.ask("race.kick", race=race, player=dan.id)
    assert (await dan.push("race.left", race=race))["reason"] == "kicked"
    for player in (ben, cem):
        await player.ask("race.ready", race=race)
    for player in (ben, cem):
        await player.push("race.started", race=race)


async def test_a_private_race_and_its_rematch_lead_to_one_race(house: House) -> None:
    """By the code at any node; and however many ask for the rematch at once, it is one."""
    ann, ben = await house.here.player("Ann"), await house.there.player("Ben")
    race = (await ann.ask("race.create", settings={"private": True, "countdown": 0, **ONE_SUIT}))["race"]
    code = (await ann.ask("race.sync", race=race))["code"]
    assert (await ben.refused("race.join", race=race))["code"] == "no_such_race"
    assert (await ben.ask("race.join", code=code.lower()))["race"] == race
    for player in (ann, ben):
        await player.ask("race.ready", race=race)
    for player in (ann, ben):
        await player.push("race.started", race=race)
    for player in (ann, ben):
        await player.ask("race.concede", race=race)
    for player in (ann, ben):
        await player.push("race.over", race=race)
    asked = [await player.send("race.rematch", race=race) for player in (ann, ben)]
    answers = [await player.answer(request) for player, request in zip((ann, ben), asked, strict=True)]
    assert {answer["type"] for answer in answers} == {"race"}
    successor = answers[0]["race"]
    assert answers[1]["race"] == successor

    async def whole_race() -> Map | None:
        """The race at Ann's node, once that has heard of whoever entered it at the other one."""
        found = await ann.ask("race.sync", race=successor)
        return found if len(found["entrants"]) == 2 else None

    whole = await eventually(whole_race)
    assert whole is not None
    assert {entrant["player"]["name"] for entrant in whole["entrants"]} == {"Ann", "Ben"}
    assert whole["parent"] == race
    assert whole["code"] != code


@pytest.mark.parametrize("spectate", ["live", "delayed", "after"])
async def test_spectators_at_another_node_see_what_the_settings_say(house: House, spectate: str) -> None:
    ann, ben = await house.here.player("Ann"), await house.here.player("Ben")
    cem = await house.there.player("Cem")
    race = await start_race(ann, ben, autoplay="none", spectate=spectate, **ONE_SUIT)
    await cem.ask("race.watch", race=race)
    await play(ann, race, WIN[:1])
    await cem.push("race.progress", race=race, player=ann.id)
    if spectate != "live":
        await cem.settle()
        assert not [push for push in cem.pushes if push["type"] == "race.moved"]
    if spectate == "delayed":
        await house.pass_by(61)
    if spectate != "after":
        assert (await cem.push("race.moved", race=race, player=ann.id))["moves"] == WIN[:1]
    for player in (ann, ben):
        await player.ask("race.forfeit", race=race)
    await cem.push("race.over", race=race)
    if spectate == "after":
        assert (await cem.push("race.moved", race=race, player=ann.id))["moves"] == WIN[:1]
    logs = (await cem.ask("race.sync", race=race))["logs"]
    assert {log["player"]: log["moves"] for log in logs} == {ann.id: WIN[:1], ben.id: []}


async def test_two_who_wait_at_two_nodes_are_matched(house: House) -> None:
    ann, ben = await house.here.player("Ann"), await house.there.player("Ben")
    await ann.ask("queue.join", variant="one-suit")
    await ben.ask("queue.join", variant="one-suit")
    races = [(await player.push("queue.matched"))["race"] for player in (ann, ben)]
    assert races[0] == races[1]
    for player in (ann, ben):
        await player.push("race.countdown", race=races[0])
