"""The pool in the store: each number once, with a proof that wins, and how many are wanted."""

from __future__ import annotations

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from cellrace.autoplay import Autoplay
from cellrace.board import dealt_board
from cellrace.deals import deal
from cellrace.game import Game
from cellrace.variants import Variant, find_variant
from cellrace_server.stock.making import prove
from cellrace_server.stock.packing import pack_moves, unpack_moves
from cellrace_server.store import keys
from cellrace_server.store.library import Link
from cellrace_server.store.pool import WANTED, Level, PoolStore


@pytest.fixture
def pool(redis_client: Redis) -> PoolStore:
    """The pools of an empty store."""
    return PoolStore(Link(redis_client))


@pytest_asyncio.fixture(params=["one-suit", "marseille", "seahaven"])
async def proved(request: pytest.FixtureRequest, pool: PoolStore) -> tuple[Variant, int]:
    """A number in the pool of a game: without and with a reserve, and with cells dealt."""
    variant = find_variant(request.param)
    for number in range(1, 100):
        if moves := prove(variant, number):
            assert await pool.add(variant.id, number, pack_moves(moves))
            return variant, number
    raise AssertionError("no deal can be won")


async def test_a_proof_of_the_pool_wins(pool: PoolStore, proved: tuple[Variant, int]) -> None:
    variant, number = proved
    proof = await pool.proof(variant.id, number)
    assert proof is not None
    game, _ = Game(dealt_board(variant, deal(variant, number)), Autoplay.NONE).play_all(proof)
    assert game.won
    assert [move for move in proof if move[0] == "r"] == ["r1", "r2", "r3"][: variant.reserve]


async def test_a_number_that_is_not_in_the_pool_has_no_proof(pool: PoolStore) -> None:
    assert await pool.proof("one-suit", 1) is None


async def test_a_number_is_added_once_and_keeps_its_first_proof(pool: PoolStore) -> None:
    assert await pool.add("two-suit", 5, pack_moves(["1h"]))
    assert not await pool.add("two-suit", 5, pack_moves(["2h"]))
    assert await pool.numbers("two-suit") == [5]


async def test_some_numbers_are_different_ones_of_the_pool(pool: PoolStore) -> None:
    for number in range(100, 130):
        await pool.add("two-suit", number, b"")
    size, numbers = await pool.some("two-suit", 10)
    assert size == 30
    assert len(set(numbers)) == 10
    assert set(numbers) <= set(range(100, 130))
    size, numbers = await pool.some("two-suit", 50)
    assert sorted(numbers) == list(range(100, 130))


async def test_an_empty_pool_has_no_numbers(pool: PoolStore) -> None:
    assert await pool.some("two-suit", 10) == (0, [])
    assert await pool.numbers("two-suit") == []


async def test_levels_are_told_in_the_order_asked(pool: PoolStore) -> None:
    await pool.add("two-suit", 1, b"")
    await pool.want("one-suit", 300)
    assert await pool.levels(["one-suit", "two-suit"]) == (Level("one-suit", 0, 300), Level("two-suit", 1, 0))


async def test_a_pool_is_short_until_it_has_grown_as_wanted(pool: PoolStore) -> None:
    await pool.want("two-suit", 2)
    shorts = []
    for number in (1, 2):
        await pool.add("two-suit", number, b"")
        (level,) = await pool.levels(["two-suit"])
        shorts.append(level.short)
    assert shorts == [True, False]


async def test_what_is_wanted_is_forgotten_when_no_draw_says_it_again(pool: PoolStore, redis_client: Redis) -> None:
    await pool.want("two-suit", 300)
    assert 0 < await redis_client.pttl(keys.pool_wanted("two-suit")) <= WANTED


def test_what_is_packed_is_unpacked() -> None:
    moves = ["r1", "26v3", "0h", "kh", "a5", "57"]
    assert unpack_moves(pack_moves(moves)) == moves
    assert len(pack_moves(moves)) == 12
