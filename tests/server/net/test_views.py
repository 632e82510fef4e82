"""What each audience may see, and when: nobody the deal before the start, nobody but entrants the code."""

from __future__ import annotations

import json

import pytest
from redis.asyncio import Redis

from cellrace_server.app import Node
from cellrace_server.config import Bounds
from cellrace_server.store import keys
from tests.server.net.fetching import fetch
from tests.story.passing_time import PassingTime
from tests.story.players import JSON, SECRETS, Player, Table, open_race, play, start_race


@pytest.fixture
def bounds() -> Bounds:
    """Room for looking all the time."""
    return Bounds(burst=10**6, http_burst=10**6)


async def secret_of(redis_client: Redis, race: str) -> tuple[int, str]:
    """The deal and salt, from where they are kept."""
    deal, salt = await redis_client.hmget(keys.secret(race), "deal", "salt")  # type: ignore[misc]  # redis-py types both of its clients as one
    return int(deal), salt.decode()


def told(frames: list[dict[str, object]]) -> str:
    return json.dumps(frames)


@pytest.mark.parametrize("variant", ["marseille", "eight-off"])
async def test_the_deal_is_a_secret_until_the_start_over_every_way_out(
    seats: Table, node: Node, redis_client: Redis, variant: str
) -> None:
    """Everybody looks at all there is to see through the whole countdown; nobody sees a trace of the deal."""
    ann, bob, cem, eve = [await seats.player(name, JSON) for name in ("Ann", "Bob", "Cem", "Eve")]
    race = await open_race(ann, bob, variant=variant, countdown=3, spectate="live")
    await cem.ask("race.watch", race=race)
    for player in (ann, bob):
        await player.ask("race.ready", race=race)
    await ann.push("race.countdown", race=race)
    deal, salt = await secret_of(redis_client, race)
    looks, pages = 0, b""
    while not [push for push in ann.pushes if push["type"] == "race.started"]:
        looks += 1
        for player in (ann, bob, cem):
            await player.ask("race.sync", race=race)
            await player.ask("race.sync", race=race, since=0)
        for player in (ann, eve):
            await player.ask("race.list")
            await player.ask("race.list", mine=True)
        await eve.refused("race.sync", race=race)
        await eve.ask("race.watch", race=race)
        await eve.ask("race.unwatch", race=race)
        for path in ("/api/v1/races", f"/api/v1/races/{race}", "/readyz", "/metrics"):
            page = await fetch(node.port, path)
            if ann.pushes and ann.pushes[-1]["type"] == "race.started":
                break
            pages += page.body
    assert looks
    countdown = [frame for frame in ann.frames if frame["type"] == "race.countdown"]
    for player in (ann, bob, cem, eve):
        before = [frame for frame in player.frames if not _tells_the_start(frame)]
        assert salt not in told(before)
        assert not any(SECRETS & frame.keys() for frame in before)
    started = await ann.push("race.started", race=race)
    assert (started["deal"], started["salt"]) == (deal, salt)
    for player in (bob, cem):
        assert (await player.push("race.started", race=race))["layout"] == started["layout"]
    assert countdown[0]["commitment"] in told(eve.frames)
    shown_before_start = pages.split(b'"state":"running"')[0]
    assert salt.encode() not in shown_before_start


def _tells_the_start(frame: dict[str, object]) -> bool:
    return frame["type"] == "race.started" or (frame["type"] == "race" and frame["state"] == "running")


async def test_the_deal_of_a_race_cancelled_in_its_countdown_stays_secret(
    seats: Table, node: Node, redis_client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also long after its start would have been, and for who comes back."""
    ann, bob = await seats.player("Ann", JSON), await seats.player("Bob", JSON)
    race = await open_race(ann, bob, countdown=60)
    for player in (ann, bob):
        await player.ask("race.ready", race=race)
    start_at = (await ann.push("race.countdown", race=race))["start_at"]
    _, salt = await secret_of(redis_client, race)
    for player in (ann, bob):
        await player.ask("race.leave", race=race)
    await ann.ask("race.sync", race=race)
    await PassingTime(monkeypatch).pass_by(62, node)
    clock = node.services.store.clock
    assert clock.now() > start_at + clock.margin + 100
    again = await seats.back(bob, JSON)
    for player in (ann, again):
        whole = await player.ask("race.sync", race=race)
        assert whole["state"] == "cancelled"
        assert not SECRETS & whole.keys()
        await player.ask("race.sync", race=race, since=0)
        assert salt not in told(player.frames)


async def test_the_code_goes_to_entrants_only(seats: Table, node: Node) -> None:
    ann, bob, cem = [await seats.player(name, JSON) for name in ("Ann", "Bob", "Cem")]
    created = await ann.ask("race.create")
    race, code = created["race"], created["code"]
    watched = await cem.ask("race.watch", race=race)
    assert "code" not in watched
    assert "code" not in await cem.ask("race.sync", race=race)
    assert (await bob.ask("race.join", race=race))["code"] == code
    await cem.ask("race.list")
    await cem.settle()
    assert code not in told(cem.frames)
    for path in ("/api/v1/races", f"/api/v1/races/{race}"):
        assert code.encode() not in (await fetch(node.port, path)).body
    await bob.ask("race.leave", race=race)
    assert (await bob.refused("race.sync", race=race))["code"] == "not_allowed"


async def test_everybody_sees_progress_and_only_those_who_may_see_moves(seats: Table) -> None:
    ann, bob, cem, eve = [await seats.player(name) for name in ("Ann", "Bob", "Cem", "Eve")]
    race = await start_race(ann, bob, cem, deal=617, spectate="live")
    await cem.ask("race.concede", race=race)
    await eve.ask("race.watch", race=race)
    await play(ann, race, ["1a"])
    for player in (bob, cem, eve):
        await player.push("race.progress", race=race, player=ann.id, seq=1)
    for player in (cem, eve):
        assert (await player.push("race.moved", race=race, player=ann.id))["moves"] == ["1a"]
    await bob.settle()
    assert not [frame for frame in bob.frames if frame["type"] == "race.moved"]


async def test_an_entrant_sees_each_rival_as_everybody_does(seats: Table) -> None:
    """Names, status, counts: the same for entrants, watchers and lists."""
    ann, bob, eve = [await seats.player(name) for name in ("Ann", "Bob", "Eve")]
    race = await start_race(ann, bob, variant="one-suit", deal=94)
    await play(ann, race, ["2a", "u", "2a"])
    await play(bob, race, ["2a"])
    expected = (await ann.ask("race.sync", race=race))["entrants"]
    assert [(e["seq"], e["home"], e["moves"], e["undos"], e["status"]) for e in expected] == [
        (3, 1, 2, 1, "playing"),
        (1, 1, 1, 0, "playing"),
    ]
    assert (await bob.ask("race.sync", race=race))["entrants"] == expected
    assert (await eve.ask("race.watch", race=race))["entrants"] == expected
    assert (await eve.ask("race.list"))["races"][0]["entrants"] == expected


async def test_both_subprotocols_tell_the_same(seats: Table) -> None:
    ann, bob = await seats.player("Ann"), await seats.player("Bob", JSON)
    race = await start_race(ann, bob, variant="marseille", deal=617)
    for player in (ann, bob):
        await player.ask("race.concede", race=race)
    for player in (ann, bob):
        await player.push("race.over", race=race)

    def facts(player: Player) -> list[dict[str, object]]:
        kinds = ("race.ready", "race.countdown", "race.started", "race.done", "race.over")
        return [frame for frame in player.frames if frame["type"] in kinds]

    assert facts(ann) == facts(bob)


async def test_who_comes_back_is_told_the_race_whole_and_only_later_what_was_missed(seats: Table) -> None:
    """What was played meanwhile is no fact: the facts after a version are for a connection that stayed open."""
    ann, bob = await seats.player("Ann", JSON), await seats.player("Bob", JSON)
    race = await start_race(ann, bob, deal=617)
    known = (await bob.ask("race.sync", race=race))["version"]
    await play(ann, race, ["1a"])
    for since in (1, known):
        whole = await (await seats.back(bob, JSON)).ask("race.sync", race=race, since=since)
        assert (whole["type"], whole["version"], whole["entrants"][0]["moves"]) == ("race", known, 1)
    again = await seats.back(bob, JSON)
    await again.ask("race.sync", race=race)
    await ann.ask("race.concede", race=race)
    await again.push("race.done", race=race)
    missed = await again.ask("race.sync", race=race, since=known)
    assert [event["type"] for event in missed["events"]] == ["race.done"]
