"""Days on record: one deal a day for everyone, one attempt a player, whoever asks at once (NODES, 21)."""

from __future__ import annotations

import asyncio
from datetime import date, timedelta

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from cellrace.variants import MAIN_VARIANTS, find_variant
from cellrace_server.core.daily import is_reserved
from cellrace_server.stock import Stock, load_stock
from cellrace_server.store import daily, keys
from cellrace_server.store.daily import Attempt, DailyStore
from cellrace_server.store.library import Link

DAY = date(2026, 10, 14)
GAME = "one-suit"
RESERVED = [number for number in load_stock(GAME).numbers if is_reserved(GAME, number)]


@pytest_asyncio.fixture
async def days(link: Link) -> DailyStore:
    """The days of one node."""
    return DailyStore(link)


class TestDeals:
    async def test_a_days_deal_is_the_same_whoever_asks_and_however_often(self, days: DailyStore) -> None:
        drawn = await asyncio.gather(*(days.secret(DAY, GAME) for _ in range(20)))
        assert len(set(drawn)) == 1
        assert await days.secret(DAY, GAME) == drawn[0]

    @pytest.mark.parametrize("variant", MAIN_VARIANTS)
    async def test_it_is_proved_and_kept_from_races(self, days: DailyStore, variant: str) -> None:
        secret = await days.secret(DAY, variant)
        assert secret.deal in load_stock(variant)
        assert is_reserved(variant, secret.deal)
        assert len(bytes.fromhex(secret.salt)) == 16

    async def test_no_two_days_have_one_number_until_all_are_used(
        self, days: DailyStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        few = RESERVED[:12]
        monkeypatch.setattr(daily, "load_stock", lambda variant: Stock(find_variant(variant), few))
        drawn = [(await days.secret(DAY + timedelta(days=n), GAME)).deal for n in range(15)]
        assert sorted(drawn[:12]) == few
        assert set(drawn[12:]) <= set(few)

    async def test_nor_have_days_whose_deals_are_drawn_at_once(
        self, days: DailyStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """By several nodes, each of which has looked before the others have drawn."""
        few = RESERVED[:12]
        monkeypatch.setattr(daily, "load_stock", lambda variant: Stock(find_variant(variant), few))
        drawn = await asyncio.gather(*(days.secret(DAY + timedelta(days=n), GAME) for n in range(12)))
        assert sorted(secret.deal for secret in drawn) == few

    async def test_what_is_proved_beyond_the_stock_is_used_too(
        self, days: DailyStore, redis_client: Redis, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(daily, "load_stock", lambda variant: Stock(find_variant(variant), RESERVED[:1]))
        free = next(number for number in range(10**6, 2 * 10**6) if not is_reserved(GAME, number))
        pooled = next(number for number in range(10**6, 2 * 10**6) if is_reserved(GAME, number))
        await redis_client.hset(keys.pool(GAME), mapping={str(free): b"", str(pooled): b""})
        drawn = {(await days.secret(DAY + timedelta(days=n), GAME)).deal for n in range(2)}
        assert drawn == {RESERVED[0], pooled}

    async def test_a_number_that_somebody_has_chosen_for_a_race_is_no_days(
        self, days: DailyStore, redis_client: Redis, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(daily, "load_stock", lambda variant: Stock(find_variant(variant), RESERVED[:3]))
        await redis_client.sadd(keys.daily_deals(GAME), RESERVED[0], RESERVED[2])
        assert (await days.secret(DAY, GAME)).deal == RESERVED[1]

    async def test_of_two_that_draw_at_once_the_number_that_is_not_used_is_free_again(
        self, days: DailyStore, redis_client: Redis
    ) -> None:
        drawn = await asyncio.gather(*(days.secret(DAY, GAME) for _ in range(20)))
        assert await redis_client.smembers(keys.daily_deals(GAME)) == {str(drawn[0].deal).encode()}

    async def test_a_day_exists_once_it_is_drawn_and_each_game_has_its_own(self, days: DailyStore) -> None:
        assert not await days.exists(DAY, GAME)
        await days.secret(DAY, GAME)
        assert await days.exists(DAY, GAME)
        assert not await days.exists(DAY, "two-suit")
        assert not await days.exists(DAY + timedelta(days=1), GAME)


class TestAttempts:
    async def test_the_first_claim_counts_and_all_later_ones_are_told_of_it(self, days: DailyStore) -> None:
        first = await days.claim(DAY, GAME, "ann", "r1", 100)
        assert first == (True, Attempt("r1", 100))
        assert await days.claim(DAY, GAME, "ann", "r2", 200) == (False, Attempt("r1", 100))
        assert await days.attempt(DAY, GAME, "ann") == Attempt("r1", 100)

    async def test_of_many_at_once_one_counts(self, days: DailyStore) -> None:
        claims = await asyncio.gather(*(days.claim(DAY, GAME, "ann", f"r{n}", n) for n in range(20)))
        assert sorted(new for new, _ in claims) == [False] * 19 + [True]
        assert len({attempt for _, attempt in claims}) == 1
        assert await days.entries(DAY, GAME) == 1

    async def test_a_race_that_is_made_is_noted_so_that_it_is_not_made_again(self, days: DailyStore) -> None:
        _, attempt = await days.claim(DAY, GAME, "ann", "r1", 100)
        for _ in range(2):
            await days.made(DAY, GAME, "ann", attempt)
        assert await days.attempt(DAY, GAME, "ann") == Attempt("r1", 100, made=True)
        assert await days.claim(DAY, GAME, "ann", "r2", 200) == (False, Attempt("r1", 100, made=True))

    async def test_noting_makes_no_attempt(self, days: DailyStore) -> None:
        await days.made(DAY, GAME, "ann", Attempt("r1", 100))
        assert await days.attempt(DAY, GAME, "ann") is None

    async def test_attempts_are_by_player_day_and_game(self, days: DailyStore) -> None:
        await days.claim(DAY, GAME, "ann", "r1", 100)
        for day, variant, name in (
            (DAY, GAME, "ben"),
            (DAY, "freecell", "ann"),
            (DAY + timedelta(days=1), GAME, "ann"),
        ):
            assert await days.attempt(day, variant, name) is None
        await days.claim(DAY, GAME, "ben", "r2", 100)
        assert await days.entries(DAY, GAME) == 2
        assert await days.entries(DAY + timedelta(days=1), GAME) == 0
