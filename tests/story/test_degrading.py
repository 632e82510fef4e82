"""The store slow, paused, full, read-only or gone: `retry_later`, not ready, and races that go on when it is back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from cellrace_server.app import Node, running
from cellrace_server.config import Config
from tests.faults import FaultProxy, faulty
from tests.server.net.fetching import fetch
from tests.story.players import Map, Player, Table, play, start_race, table
from tests.waiting import eventually

DEADLINE = 60.0
"""Seconds after which a request was awaited in vain: it is answered whatever the store does, not when that is back."""


class Place:
    """A node whose store is behind a proxy, a player there, and a race that has one move."""

    def __init__(self, node: Node, proxy: FaultProxy, redis: Redis, seats: Table) -> None:
        self.node = node
        self.proxy = proxy
        self.redis = redis
        self.seats = seats
        self.race = ""

    async def sit(self) -> Player:
        """The player."""
        ann = await self.seats.player("Ann")
        self.race = await start_race(ann, deal=617)
        await play(ann, self.race, ["1a"])
        await eventually(lambda: self.node.readiness() is None)
        return ann

    async def not_ready(self, reason: str) -> None:
        """Wait until `/readyz` says 503, and why."""

        async def unready() -> bool:
            told = await fetch(self.node.port, "/readyz")
            return told.status == 503 and reason in str(told.json["message"])

        await eventually(unready)


@pytest_asyncio.fixture
async def place(store_url: str, redis_client: Redis, tmp_path: Path) -> AsyncIterator[Place]:
    """A node behind a proxy that passes everything."""
    async with (
        faulty(store_url, tmp_path) as proxy,
        running(Config(port=0, redis=proxy.url, data_dir=tmp_path / "data")) as node,
        table(f"ws://127.0.0.1:{node.port}/ws") as seats,
    ):
        yield Place(node, proxy, redis_client, seats)
        await proxy.mend()


async def asked(player: Player, kind: str, **fields: object) -> Map:
    """The answer to a request, which comes in time."""
    return await player.answer(await player.send(kind, **fields), DEADLINE)


async def until_moved(player: Player, race: str, seq: int, move: str) -> Map:
    """A move repeated until it is answered, on the connection that there is."""
    async with asyncio.timeout(DEADLINE):
        while (answer := await asked(player, "move", race=race, seq=seq, moves=[move]))["type"] == "error":
            assert answer["code"] == "retry_later"
            await asyncio.sleep(0.05)
    return answer


async def _gone(place: Place) -> Callable[[], Awaitable[object]]:
    await place.proxy.cut()
    return place.proxy.mend


async def _held(place: Place) -> Callable[[], Awaitable[object]]:
    place.proxy.hold()
    return place.proxy.mend


async def _full(place: Place) -> Callable[[], Awaitable[object]]:
    await place.redis.config_set("maxmemory", 1)
    return lambda: place.redis.config_set("maxmemory", 0)


async def _read_only(place: Place) -> Callable[[], Awaitable[object]]:
    await place.redis.config_set("min-replicas-to-write", 1)
    return lambda: place.redis.config_set("min-replicas-to-write", 0)


async def _demoted(place: Place) -> Callable[[], Awaitable[object]]:
    await place.redis.replicaof("127.0.0.1", "1")  # Where nobody is: it stays as it is, and takes no writes.
    return lambda: place.redis.replicaof("NO", "ONE")


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        (_gone, "No such file"),
        (_held, "Timeout"),
        (_full, "maxmemory"),
        (_read_only, "good replicas"),
        (_demoted, "read only"),
    ],
    ids=["gone", "paused", "full", "read-only", "a replica"],
)
async def test_requests_are_told_to_repeat_and_all_goes_on_when_it_is_back(
    place: Place, harm: Callable[[Place], Awaitable[Callable[[], Awaitable[object]]]], reason: str
) -> None:
    ann = await place.sit()
    heal = await harm(place)
    try:
        for kind, fields in (
            ("move", {"race": place.race, "seq": 1, "moves": ["1b"]}),
            ("race.create", {}),
            ("race.concede", {"race": place.race}),
        ):
            answer = await asked(ann, kind, **fields)
            assert (answer["type"], answer["code"]) == ("error", "retry_later"), kind
            assert answer["retry_after"] > 0
        await place.not_ready(reason)
        assert (await fetch(place.node.port, "/healthz")).status == 200
        assert (await asked(ann, "ping"))["type"] == "pong"
    finally:
        await heal()
    assert (await until_moved(ann, place.race, 1, "1b"))["seq"] == 2
    await eventually(lambda: place.node.readiness() is None)
    whole = await ann.ask("race.sync", race=place.race)
    assert whole["you"]["moves"] == ["1a", "1b"]
    await ann.ask("race.concede", race=place.race)
    await ann.push("race.over", race=place.race)


async def test_a_slow_store_makes_slow_answers_and_no_refusals(place: Place) -> None:
    ann = await place.sit()
    place.proxy.delay = 0.3
    began = time.monotonic()
    await play(ann, place.race, ["1b", "1c"], seq=1, at_once=1)
    assert time.monotonic() - began >= 0.6


async def test_what_was_carried_out_though_the_reply_was_lost_is_on_record_once(place: Place) -> None:
    ann = await place.sit()
    for seq, move in ((1, "1b"), (2, "1c")):
        place.proxy.lose_replies(2)
        assert (await until_moved(ann, place.race, seq, move))["seq"] == seq + 1
    assert place.proxy.lost
    assert (await ann.ask("race.sync", race=place.race))["you"]["moves"] == ["1a", "1b", "1c"]
