"""Quick matches over the wire: in, out, matched; and no match that a player never hears of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from cellrace_server.app import Node, running
from cellrace_server.config import Config
from cellrace_server.core.race import Race
from cellrace_server.matching import Matching, Wish
from cellrace_server.net.queueing import enter_match
from cellrace_server.net.session import Session
from cellrace_server.room import Member
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.queue import Match, QueueStore
from cellrace_server.store.races import RaceStore
from tests.story.players import Player, Table, table
from tests.waiting import eventually


@pytest_asyncio.fixture
async def others(store_url: str, node: Node) -> AsyncIterator[Table]:
    """A table at a second node on the same store."""
    async with (
        running(Config(port=0, redis=store_url, node="there")) as there,
        table(f"ws://127.0.0.1:{there.port}/ws") as opened,
    ):
        yield opened


async def test_two_at_different_nodes_are_matched_ready_and_started(seats: Table, others: Table) -> None:
    ann, ben = await seats.player("Ann"), await others.player("Ben")
    queued = await ann.ask("queue.join", variant="one-suit")
    assert (queued["type"], queued["waiting"]) == ("queued", 1)
    assert (await ben.ask("queue.join", variant="one-suit"))["waiting"] == 2
    race = (await ann.push("queue.matched"))["race"]
    assert (await ben.push("queue.matched"))["race"] == race
    for player in (ann, ben):
        await player.push("race.countdown", race=race)
        whole = await player.ask("race.sync", race=race)
        assert (whole["settings"]["variant"], whole["settings"]["ranked"]) == ("one-suit", True)
        assert {entrant["player"]["name"] for entrant in whole["entrants"]} == {"Ann", "Ben"}
        assert all(entrant["online"] for entrant in whole["entrants"])
        await player.push("race.started", race=race)


async def test_who_waits_already_is_told_so_and_can_leave_and_come_again(ann: Player) -> None:
    await ann.ask("queue.join")
    assert (await ann.refused("queue.join", variant="one-suit"))["code"] == "already_queued"
    for _ in range(2):
        assert (await ann.ask("queue.leave"))["type"] == "ok"
    assert (await ann.ask("queue.join", variant="one-suit"))["waiting"] == 1


async def test_leaving_without_waiting_is_fine(ann: Player) -> None:
    assert (await ann.ask("queue.leave"))["type"] == "ok"


async def test_a_game_that_there_is_not_is_not_found(ann: Player) -> None:
    refused = await ann.refused("queue.join", variant="whist")
    assert (refused["code"], refused["field"]) == ("not_found", "variant")
    assert (await ann.ask("queue.join"))["type"] == "queued"


async def test_once_matched_one_can_wait_again(ann: Player, ben: Player) -> None:
    for player in (ann, ben):
        await player.ask("queue.join", variant="one-suit")
    await ann.push("queue.matched")
    assert (await ann.ask("queue.join", variant="one-suit"))["waiting"] == 1


async def test_a_match_whose_telling_was_lost_is_found_when_the_node_hears_again(
    seats: Table, redis_client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pub/sub is a wake-up, the store is the truth."""
    told = []

    async def into_nothing(_: QueueStore, match: object) -> None:
        told.append(match)

    monkeypatch.setattr(QueueStore, "tell", into_nothing)
    ann, ben = await seats.player("Ann"), await seats.player("Ben")
    for player in (ann, ben):
        await player.ask("queue.join", variant="one-suit")
    await eventually(lambda: bool(told))
    await ann.settle()
    assert not [push for push in ann.pushes if push["type"] == "queue.matched"]
    await redis_client.client_kill_filter(_type="pubsub")
    race = (await ann.push("queue.matched"))["race"]
    assert (await ben.push("queue.matched"))["race"] == race
    await ann.push("race.started", race=race)


async def test_who_reconnects_between_the_match_and_its_race_is_brought_into_it(
    seats: Table, others: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node has died after the pop; another makes the race seconds later, and finds the players wherever they are."""
    make, lost = Matching._make_race, []  # noqa: SLF001 - the very step that a node dies before

    async def die_first(matching: Matching, variant: str, match: Match) -> None:
        if not lost:
            lost.append(match)
            raise StoreUnavailable("lost by the test")
        await make(matching, variant, match)

    monkeypatch.setattr(Matching, "_make_race", die_first)
    ann, ben = await seats.player("Ann"), await seats.player("Ben")
    for player in (ann, ben):
        await player.answer(await player.send("queue.join", variant="one-suit"))
    await eventually(lambda: bool(lost))
    await ann.drop()
    ann = await others.player(token=ann.token)
    race = (await ann.push("queue.matched"))["race"]
    assert (await ben.push("queue.matched"))["race"] == race
    await ann.push("race.started", race=race, patience=20)


async def test_nobody_is_brought_into_a_race_of_their_own_making_by_that(
    seats: Table, ann: Player, redis_client: Redis
) -> None:
    await ann.ask("race.create", settings={"seats": 3})
    await ann.ask("queue.join", variant="one-suit")
    await redis_client.client_kill_filter(_type="pubsub")
    ben = await seats.player("Ben")
    await ben.ask("queue.join", variant="one-suit")
    await ann.push("queue.matched")
    await ann.settle()
    assert [push["type"] for push in ann.pushes].count("queue.matched") == 0


async def test_an_entry_whose_answer_was_lost_goes_with_the_connection(
    seats: Table, node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    join = Matching.join

    async def join_and_lose_the_answer(*arguments: object) -> int:
        await join(*arguments)  # type: ignore[arg-type]  # as it was called
        raise StoreUnavailable("lost by the test")

    monkeypatch.setattr(Matching, "join", join_and_lose_the_answer)
    ann = await seats.player("Ann")
    assert (await ann.refused("queue.join"))["code"] == "retry_later"

    async def waiting() -> int:
        return len((await node.services.store.queue.read("freecell"))[0])

    assert await waiting() == 1
    await ann.drop()
    await eventually(lambda: _is(waiting, 0))


async def test_who_repeats_what_was_not_answered_and_is_matched_already_does_not_wait_again(
    seats: Table, node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`retry_later` asks for just that: the same request again, unchanged."""
    lose_first_answer(monkeypatch)
    tells = hold_tellings(monkeypatch)
    ann, ben = await seats.player("Ann"), await seats.player("Ben")
    asked = {"type": "queue.join", "id": "a", "variant": "one-suit"}
    await ann.send_map(asked)
    assert (await ann.answer("a"))["code"] == "retry_later"
    await ben.ask("queue.join", variant="one-suit")
    await eventually(lambda: _is(lambda: _waiting(node), 0))
    await ann.send_map(asked)
    queued = await ann.answer("a")
    assert (queued["type"], queued["waiting"]) == ("queued", 0)
    assert (await node.services.store.queue.read("one-suit"))[0] == []
    tells.set()
    race = (await ann.push("queue.matched"))["race"]
    assert (await ben.push("queue.matched"))["race"] == race
    await ann.send_map(asked)
    assert (await ann.answer("a"))["waiting"] == 1, "who has been told asks anew"


async def test_an_answer_that_is_late_comes_before_the_match_all_the_same(
    seats: Table, node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store has written, another was faster to read it, and this node hears of the match before its own reply."""
    join, told = Matching.join, asyncio.Event()

    async def note_and_enter(session: Session, race_id: str) -> None:
        if session.player.name == "Ann":
            told.set()
        await enter_match(session, race_id)

    async def join_late(matching: Matching, member: Member, wish: Wish) -> int:
        waiting = await join(matching, member, wish)
        if member.player.name == "Ann":
            await told.wait()
            for _ in range(50):  # More than is asked of the store to bring somebody into a race.
                await node.services.store.queue.read("one-suit")
        return waiting

    monkeypatch.setattr("cellrace_server.app.enter_match", note_and_enter)
    monkeypatch.setattr(Matching, "join", join_late)
    ann, ben = await seats.player("Ann"), await seats.player("Ben")
    asked = await ann.send("queue.join", variant="one-suit")
    await eventually(lambda: _is(lambda: _waiting(node), 1))
    await ben.ask("queue.join", variant="one-suit")
    assert (await ann.answer(asked))["type"] == "queued"
    assert [push["type"] for push in ann.pushes] == []
    await ann.push("queue.matched")
    assert (await ann.ask("queue.leave"))["type"] == "ok"
    monkeypatch.setattr(Matching, "join", join)
    assert (await ann.ask("queue.join", variant="one-suit"))["waiting"] == 1


async def test_a_race_that_is_held_here_while_it_is_made_is_entered_all_the_same(
    seats: Table, node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by a sweep, of one begun to be made before: of what a node writes past its room the room is not told."""
    append = RaceStore.append

    async with AsyncExitStack() as held:

        async def append_while_it_is_held(races: RaceStore, race: Race, *rest: Any) -> object:
            await held.enter_async_context(node.services.rooms.hold(race.id))
            monkeypatch.setattr(RaceStore, "append", append)
            return await append(races, race, *rest)

        monkeypatch.setattr(RaceStore, "append", append_while_it_is_held)
        ann, ben = await seats.player("Ann"), await seats.player("Ben")
        for player in (ann, ben):
            await player.ask("queue.join", variant="one-suit")
        race = (await ann.push("queue.matched"))["race"]
        assert (await ben.push("queue.matched"))["race"] == race


async def test_who_was_taken_out_while_the_node_seemed_dead_waits_again_when_it_is_back(
    ann: Player, node: Node, redis_client: Redis
) -> None:
    queue = node.services.store.queue
    await ann.ask("queue.join", variant="one-suit")
    (before,), _ = await queue.read("one-suit")
    await queue.leave("one-suit", ann.id, before.sid)
    await redis_client.client_kill_filter(_type="pubsub")

    async def waits() -> bool:
        return (await queue.read("one-suit"))[0] == [before]

    await eventually(waits)


def lose_first_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first join is on record, and nobody is told so."""
    join, lost = Matching.join, []

    async def join_and_lose(matching: Matching, member: Member, wish: Wish) -> int:
        waiting = await join(matching, member, wish)
        if not lost:
            lost.append(wish)
            raise StoreUnavailable("lost by the test")
        return waiting

    monkeypatch.setattr(Matching, "join", join_and_lose)


def hold_tellings(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Matches are told once this is set."""
    tell, passes = QueueStore.tell, asyncio.Event()

    async def tell_late(queue: QueueStore, match: Match) -> None:
        await passes.wait()
        await tell(queue, match)

    monkeypatch.setattr(QueueStore, "tell", tell_late)
    return passes


async def _waiting(node: Node) -> int:
    return len((await node.services.store.queue.read("one-suit"))[0])


async def _is(count: object, number: int) -> bool:
    return await count() == number  # type: ignore[operator]  # a function without arguments
