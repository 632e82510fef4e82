"""Nobody can keep the others from going on: absences, limits, idle races (protocol, section 4, States)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from cellrace_server.app import Node, running
from cellrace_server.config import Bounds, Config
from cellrace_server.store.deals import DealStore
from tests.story.passing_time import PassingTime
from tests.story.players import JSON, Table, open_race, play, start_race, table
from tests.waiting import eventually


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> PassingTime:
    """Passes when a test says so."""
    return PassingTime(monkeypatch)


@pytest_asyncio.fixture
async def node(store_url: str, time: PassingTime) -> AsyncIterator[Node]:
    """A node that has been there for a minute."""
    async with running(Config(port=0, redis=store_url, bounds=Bounds(burst=10**6))) as node:
        await time.pass_by(60, node)
        yield node


@pytest_asyncio.fixture
async def seats(node: Node) -> AsyncIterator[Table]:
    """Connections to it."""
    async with table(f"ws://127.0.0.1:{node.port}/ws") as opened:
        yield opened


async def test_coming_back_within_grace_changes_nothing(seats: Table, node: Node, time: PassingTime) -> None:
    ann, bob = await seats.player("Ann"), await seats.player("Bob")
    race = await start_race(ann, bob, deal=617, grace=60)
    await play(ann, race, ["1a", "1b"])
    time.stand_still(node)
    await ann.drop()
    await bob.push("race.online", race=race, player=ann.id, online=False)
    await time.pass_by(59, node)
    again = await seats.back(ann, JSON)
    await bob.push("race.online", race=race, player=ann.id, online=True)
    whole = await again.ask("race.sync", race=race)
    assert (whole["state"], whole["you"]["moves"]) == ("running", ["1a", "1b"])
    assert [entrant["status"] for entrant in whole["entrants"]] == ["playing", "playing"]
    await time.pass_by(120, node)
    await play(again, race, ["1c"], seq=2)
    assert not [push for push in bob.pushes if push["type"] == "race.done"]


async def test_who_stays_away_longer_than_grace_is_abandoned(seats: Table, node: Node, time: PassingTime) -> None:
    ann, bob = await seats.player("Ann"), await seats.player("Bob")
    race = await start_race(ann, bob, variant="one-suit", deal=94, grace=60)
    await play(ann, race, ["2a"])
    await ann.drop()
    await bob.push("race.online", race=race, player=ann.id, online=False)
    await time.pass_by(61, node)
    done = await bob.push("race.done", race=race)
    assert (done["player"], done["status"], done["home"]) == (ann.id, "abandoned", 1)
    again = await seats.back(ann)
    assert again.welcome["races"] == [{"race": race, "state": "running"}]
    assert (await again.refused("move", race=race, seq=1, moves=["2b"]))["code"] == "already_done"
    assert (await again.ask("move", race=race, seq=0, moves=["2a"]))["seq"] == 1
    await bob.ask("race.forfeit", race=race)
    over = await again.push("race.over", race=race)
    assert [(s["status"], s["place"]) for s in over["standings"]] == [("abandoned", 1), ("forfeited", 2)]


async def test_absences_do_not_add_up(seats: Table, node: Node, time: PassingTime) -> None:
    ann, bob = await seats.player("Ann"), await seats.player("Bob")
    race = await start_race(ann, bob, deal=617, grace=60)
    time.stand_still(node)
    for _ in range(3):
        await ann.drop()
        await bob.push("race.online", race=race, player=ann.id, online=False)
        await time.pass_by(50, node)
        ann = await seats.back(ann)
        await bob.push("race.online", race=race, player=ann.id, online=True)
    assert (await ann.ask("race.sync", race=race))["entrants"][0]["status"] == "playing"


async def test_if_all_stay_away_the_race_is_over(seats: Table, node: Node, time: PassingTime) -> None:
    ann, bob = await seats.player("Ann"), await seats.player("Bob")
    race = await start_race(ann, bob, deal=617, grace=15)
    await ann.drop()
    await bob.push("race.online", race=race, player=ann.id, online=False)
    await bob.drop()
    again = await seats.stranger()
    await time.pass_by(40, node)
    await again.hello(token=bob.token)
    assert again.welcome["races"] == []
    whole = await again.ask("race.sync", race=race)
    assert whole["state"] == "over"
    assert {standing["status"] for standing in whole["standings"]} == {"abandoned"}
    assert {standing["place"] for standing in whole["standings"]} == {1}


async def test_at_the_time_limit_who_still_plays_is_timed_out(seats: Table, node: Node, time: PassingTime) -> None:
    ann, bob, cem = [await seats.player(name) for name in ("Ann", "Bob", "Cem")]
    race = await start_race(ann, bob, cem, variant="one-suit", deal=94, time_limit=60)
    await play(ann, race, ["2a", "2b", "31v2"])
    await play(bob, race, ["2a"])
    time.stand_still(node)
    whole = await bob.ask("race.sync", race=race)
    await time.pass_until(whole["start_at"] + 59_000, node)
    assert (await bob.ask("race.sync", race=race))["state"] == "running"
    await play(bob, race, ["u"], seq=1)
    await time.pass_by(1.5, node)
    assert (await bob.refused("move", race=race, seq=2, moves=["2a"]))["code"] == "already_done"
    await time.pass_by(2, node)
    over = await bob.push("race.over", race=race)
    assert [(s["player"]["name"], s["status"], s["home"], s["place"]) for s in over["standings"]] == [
        ("Ann", "won", 13, 1),
        ("Bob", "timed_out", 0, 2),
        ("Cem", "timed_out", 0, 2),
    ]
    await cem.push("race.over", race=race)
    done = [frame for frame in cem.frames if frame["type"] == "race.done"]
    assert {fact["player"]: fact["status"] for fact in done} == {
        ann.id: "won",
        bob.id: "timed_out",
        cem.id: "timed_out",
    }


async def test_who_is_offline_in_an_open_race_is_removed(seats: Table, node: Node, time: PassingTime) -> None:
    ann, bob, cem = [await seats.player(name) for name in ("Ann", "Bob", "Cem")]
    race = await open_race(ann, bob, cem)
    time.stand_still(node)
    await ann.drop()
    await bob.push("race.online", race=race, player=ann.id, online=False)
    for player in (bob, cem):
        await player.ask("race.ready", race=race)
    await time.pass_by(29, node)
    assert (await bob.ask("race.sync", race=race))["state"] == "open"
    await time.pass_by(2, node)
    left = await bob.push("race.left", race=race)
    assert (left["player"], left["reason"]) == (ann.id, "offline")
    time.go_by_itself()
    await bob.push("race.started", race=race)
    assert (await cem.ask("race.sync", race=race))["host"] == bob.id
    again = await seats.back(ann)
    assert again.welcome["races"] == []
    assert (await again.refused("race.sync", race=race))["code"] == "not_allowed"


async def test_an_open_race_without_anyone_online_is_cancelled(seats: Table, node: Node, time: PassingTime) -> None:
    ann, bob = await seats.player("Ann"), await seats.player("Bob")
    race = await open_race(ann)
    await ann.drop()
    await eventually(lambda: len(node.sessions) == 1)
    await time.pass_by(35, node)
    assert (await bob.ask("race.list"))["races"] == []
    assert (await bob.refused("race.join", race=race))["code"] == "not_running"


async def test_an_open_race_that_nobody_changes_is_cancelled(seats: Table, node: Node, time: PassingTime) -> None:
    ann = await seats.player("Ann")
    race = await open_race(ann)
    await time.pass_by(29 * 60, node)
    assert (await ann.ask("race.sync", race=race))["state"] == "open"
    await ann.ask("race.ready", race=race)
    await time.pass_by(29 * 60, node)
    assert (await ann.ask("race.sync", race=race))["state"] == "open"
    await time.pass_by(65, node)
    assert (await ann.push("race.cancelled", race=race))["reason"] == "unchanged"
    assert (await ann.ask("race.sync", race=race))["state"] == "cancelled"
    assert (await ann.refused("race.ready", race=race))["code"] == "not_running"


async def test_a_drop_in_the_countdown_counts_from_the_start(seats: Table, node: Node, time: PassingTime) -> None:
    ann, bob = await seats.player("Ann"), await seats.player("Bob")
    race = await open_race(ann, bob, countdown=60, grace=30, deal=617)
    time.stand_still(node)
    for player in (ann, bob):
        await player.ask("race.ready", race=race)
    countdown = await bob.push("race.countdown", race=race)
    await ann.drop()
    await bob.push("race.online", race=race, player=ann.id, online=False)
    await time.pass_until(countdown["start_at"] + 29_000, node)
    whole = await bob.ask("race.sync", race=race)
    assert [entrant["status"] for entrant in whole["entrants"]] == ["playing", "playing"]
    await time.pass_by(1, node)
    done = await bob.push("race.done", race=race)
    assert (done["player"], done["status"]) == (ann.id, "abandoned")


async def test_without_a_deal_the_race_goes_back_to_open(seats: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(*_: object, **__: object) -> None:
        return None

    ann, bob = await seats.player("Ann"), await seats.player("Bob")
    race = await open_race(ann, bob, variant="one-suit")
    with monkeypatch.context() as patched:
        patched.setattr(DealStore, "draw", nothing)
        for player in (ann, bob):
            await player.ask("race.ready", race=race)
        for player in (ann, bob):
            assert (await player.push("race.delayed", race=race))["reason"] == "no_deal"
    whole = await ann.ask("race.sync", race=race)
    assert whole["state"] == "open"
    assert [entrant["status"] for entrant in whole["entrants"]] == ["joined", "joined"]
    for player in (ann, bob):
        await player.ask("race.ready", race=race)
    for player in (ann, bob):
        await player.push("race.started", race=race)
