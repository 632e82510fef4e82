"""The queue on record: who waits by which connection, and matches that no node's death can lose (NODES, 22)."""

from __future__ import annotations

import asyncio

import msgspec
import pytest_asyncio

from cellrace_server.core.matchmaking import Waiting
from cellrace_server.store import keys
from cellrace_server.store.library import Link
from cellrace_server.store.queue import Match, QueueStore
from tests.server.races import player

GAME = "freecell"


@pytest_asyncio.fixture
async def queue(link: Link) -> QueueStore:
    """The queues of one node."""
    return QueueStore(link)


def waiting(name: str, sid: str = "1.s", command_id: str = "") -> Waiting:
    return Waiting(player(name), sid, "here:1", 5, 1000, False, command_id or f"of {name}")


def match(one: Waiting, other: Waiting, race: str = "r1", at: int = 9) -> Match:
    return Match(race, at, (one, other))


ANN, BEN, CAT = waiting("ann"), waiting("ben"), waiting("cat")


async def join(queue: QueueStore, *several: Waiting) -> None:
    for one in several:
        await queue.join(GAME, one)


async def who(queue: QueueStore) -> set[str]:
    waits, _ = await queue.read(GAME)
    return {one.player.id for one in waits}


async def test_who_joins_waits_and_is_told_how_many_do(queue: QueueStore) -> None:
    assert [await queue.join(GAME, one) for one in (ANN, BEN)] == [1, 2]
    waits, pending = await queue.read(GAME)
    assert sorted(waits, key=lambda one: one.player.id) == [ANN, BEN]
    assert pending == []


async def test_joining_again_is_waiting_once(queue: QueueStore) -> None:
    assert [await queue.join(GAME, ANN) for _ in range(2)] == [1, 1]


async def test_games_have_queues_of_their_own(queue: QueueStore) -> None:
    await join(queue, ANN)
    assert await queue.read("one-suit") == ([], [])


async def test_a_newer_connection_waits_in_place_of_the_older(queue: QueueStore) -> None:
    await join(queue, ANN, waiting("ann", "2.t"))
    waits, _ = await queue.read(GAME)
    assert [one.sid for one in waits] == ["2.t"]


async def test_only_the_connection_that_waits_can_leave(queue: QueueStore) -> None:
    """The older one ends after the newer has joined: it must not take that out."""
    await join(queue, waiting("ann", "2.t"))
    await queue.leave(GAME, "ann", "1.s")
    assert await who(queue) == {"ann"}
    await queue.leave(GAME, "ann", "2.t")
    await queue.leave(GAME, "ann", "2.t")
    assert await who(queue) == set()


async def test_two_are_taken_out_and_their_match_stands_in_the_same_call(queue: QueueStore) -> None:
    await join(queue, ANN, BEN, CAT)
    assert await queue.pop(GAME, match(ANN, CAT))
    waits, pending = await queue.read(GAME)
    assert [one.player.id for one in waits] == ["ben"]
    assert pending == [match(ANN, CAT)]


async def test_nobody_is_taken_out_when_one_waits_no_more(queue: QueueStore) -> None:
    await join(queue, ANN)
    assert not await queue.pop(GAME, match(ANN, BEN))
    await join(queue, waiting("ben", "2.t"))
    assert not await queue.pop(GAME, match(ANN, BEN)), "by another connection"
    assert await queue.read(GAME) == ([ANN, waiting("ben", "2.t")], [])


async def test_a_pop_whose_reply_was_lost_succeeds_again(queue: QueueStore) -> None:
    await join(queue, ANN, BEN)
    assert await queue.pop(GAME, match(ANN, BEN))
    assert await queue.pop(GAME, match(ANN, BEN))
    assert not await queue.pop(GAME, match(ANN, BEN, "r2")), "another match of the same two is none"


async def test_of_two_nodes_that_match_the_same_player_one_does(queue: QueueStore) -> None:
    await join(queue, ANN, BEN, CAT)
    popped = await asyncio.gather(queue.pop(GAME, match(ANN, BEN, "r1")), queue.pop(GAME, match(ANN, CAT, "r2")))
    assert sorted(popped) == [False, True]


async def test_leaving_after_the_pop_leaves_the_match_as_it_is(queue: QueueStore) -> None:
    await join(queue, ANN, BEN)
    await queue.pop(GAME, match(ANN, BEN))
    await queue.leave(GAME, "ann", "1.s")
    _, pending = await queue.read(GAME)
    assert pending == [match(ANN, BEN)]


async def test_a_join_that_comes_again_after_its_match_puts_nobody_back(queue: QueueStore) -> None:
    """redis-py sends it again when the reply was lost: the player would be matched again, and races already."""
    await join(queue, ANN, BEN)
    await queue.pop(GAME, match(ANN, BEN))
    assert await queue.join(GAME, ANN) == 0
    assert await queue.join(GAME, waiting("ben", "2.t")) == 0, "by another connection, that goes on waiting"
    assert await who(queue) == set()
    assert await queue.join(GAME, waiting("ann", command_id="another")) == 1, "who asks anew waits anew"


async def test_a_join_that_comes_again_before_its_match_is_taken_for_what_it_is(queue: QueueStore) -> None:
    await join(queue, ANN, BEN, waiting("ann", "2.t"))
    assert not await queue.pop(GAME, match(ANN, BEN))
    assert await queue.pop(GAME, match(waiting("ann", "2.t"), BEN))


async def test_what_was_popped_is_known_and_not_what_was_read_before(queue: QueueStore) -> None:
    """Between the look and the pop somebody may have left and joined anew."""
    await join(queue, ANN, BEN, waiting("ann", command_id="another"))
    assert await queue.pop(GAME, match(ANN, BEN))
    await queue.join(GAME, waiting("ann", command_id="another"))
    assert await who(queue) == set()


async def test_who_was_matched_is_remembered_for_a_minute(queue: QueueStore, link: Link) -> None:
    for at in (1_000, 60_999, 61_000):
        one, other = waiting("ann", command_id=f"ann {at}"), waiting("ben", command_id=f"ben {at}")
        await join(queue, one, other)
        await queue.pop(GAME, match(one, other, f"r{at}", at))
    known = await link.command("ZRANGE", keys.queue(GAME) + ":matched", 0, -1)
    assert known == [b"ann 60999", b"ben 60999", b"ann 61000", b"ben 61000"]


async def test_nodes_before_the_commands_had_ids_join_as_they_did(queue: QueueStore, link: Link) -> None:
    for who_waits in (ANN, BEN):
        entry = msgspec.json.encode({**msgspec.to_builtins(who_waits), "command_id": ""})
        await link.call("queue_join", [keys.queue(GAME)], who_waits.player.id, who_waits.sid, entry)
    assert await queue.pop(GAME, match(ANN, BEN))
    assert await link.call("queue_join", [keys.queue(GAME)], "ann", "1.s", "{}") == 1


async def test_who_is_left_of_a_match_that_is_called_off_waits_on(queue: QueueStore) -> None:
    await join(queue, ANN, BEN)
    await queue.pop(GAME, match(ANN, BEN))
    for _ in range(2):
        await queue.call_off(GAME, match(ANN, BEN), [BEN])
        assert await queue.read(GAME) == ([BEN], [])
    await queue.join(GAME, waiting("ben", "2.t"))
    assert await who(queue) == {"ben"}, "by the same command: it has come to no match"
    await queue.leave(GAME, "ben", "2.t")
    await queue.call_off(GAME, match(ANN, BEN), [BEN])
    assert await who(queue) == set(), "nobody is put back twice"


async def test_a_newer_wish_stays_when_a_match_is_called_off(queue: QueueStore) -> None:
    newer = waiting("ben", "2.t", "another")
    await join(queue, ANN, BEN)
    await queue.pop(GAME, match(ANN, BEN))
    await join(queue, newer)
    await queue.call_off(GAME, match(ANN, BEN), [BEN])
    assert await queue.read(GAME) == ([newer], [])


async def test_a_match_is_cleared_once_its_race_is_made(queue: QueueStore) -> None:
    await join(queue, ANN, BEN)
    await queue.pop(GAME, match(ANN, BEN))
    for _ in range(2):
        await queue.clear(GAME, match(ANN, BEN))
    assert await queue.read(GAME) == ([], [])
