"""Draws: proved numbers, new to everyone who races, whatever two nodes do at once and whichever replies are lost."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from types import SimpleNamespace

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from cellrace.deals import UNWINNABLE_FREECELL_DEALS
from cellrace.variants import find_variant
from cellrace_server.core.daily import is_reserved
from cellrace_server.stock import Stock, load_stock
from cellrace_server.store import deals, keys
from cellrace_server.store.deals import CANDIDATES, FLOOR, REFILL, DealStore, new_secret
from cellrace_server.store.library import Answer, Argument, Link
from cellrace_server.store.races import Secret

GAME = "one-suit"
FREE = [number for number in load_stock(GAME).numbers if not is_reserved(GAME, number)]
"""The numbers of the stock that are not kept for daily challenges."""
StockOf = Callable[..., None]


class Resent(Link):
    """A link that loses the first reply to everything it sends, and so sends it again, as redis-py does."""

    async def commands(self, commands: Iterable[Sequence[Argument]], *, lasting: bool = True) -> list[Answer]:
        """Twice, and only the second answer is heard."""
        sent = list(commands)
        await super().commands(sent, lasting=lasting)
        return await super().commands(sent, lasting=lasting)


@pytest_asyncio.fixture
async def store(redis_client: Redis) -> DealStore:
    """The deals of one node."""
    link = Link(redis_client)
    await link.load_libraries()
    return DealStore(link)


@pytest.fixture
def other(store: DealStore, client_of: Callable[[str], Redis], store_url: str) -> DealStore:
    """The deals of another node on the same store."""
    return DealStore(Link(client_of(store_url)))


@pytest.fixture
def stock_of(monkeypatch: pytest.MonkeyPatch) -> StockOf:
    """Replaces the stock by a few numbers, none of them reserved, and the pause before a draw gives up by nothing."""

    def replace(*numbers: int) -> None:
        monkeypatch.setattr(deals, "load_stock", lambda variant: Stock(find_variant(variant), numbers))
        monkeypatch.setattr(deals, "is_reserved", lambda variant, number: False)
        monkeypatch.setattr(deals, "LAST_LOOK", 0.0)

    return replace


async def history(redis: Redis, player: str, variant: str = GAME) -> list[int]:
    """The numbers that a player has had."""
    return sorted(int(number) for number in await redis.hkeys(keys.player_deals(player, variant)))


async def give(redis: Redis, player: str, numbers: Iterable[int]) -> None:
    """Let a player have had some numbers."""
    await redis.hset(keys.player_deals(player, GAME), mapping=dict.fromkeys(map(str, numbers), "earlier"))


async def test_a_draw_is_of_the_stock_with_a_new_salt_and_in_each_history(
    store: DealStore, redis_client: Redis
) -> None:
    drawn = [await store.draw(GAME, ["ann", "bob"]) for _ in range(3)]
    numbers = [secret.deal for secret in drawn if secret is not None]
    assert len(set(numbers)) == 3
    assert all(number in load_stock(GAME) for number in numbers)
    assert len({secret.salt for secret in drawn if secret is not None}) == 3
    assert all(len(bytes.fromhex(secret.salt)) == 16 for secret in drawn if secret is not None)
    assert await history(redis_client, "ann") == await history(redis_client, "bob") == sorted(numbers)


async def test_freecell_is_drawn_from_its_million_without_eight(store: DealStore) -> None:
    secret = await store.draw("freecell", ["ann"])
    assert secret is not None
    assert 1 <= secret.deal <= 1_000_000
    assert secret.deal not in UNWINNABLE_FREECELL_DEALS


async def test_each_number_is_drawn_once_then_none(store: DealStore, redis_client: Redis, stock_of: StockOf) -> None:
    stock_of(*range(1, 9))
    drawn = [await store.draw(GAME, ["ann"]) for _ in range(9)]
    assert sorted(secret.deal for secret in drawn[:8] if secret is not None) == list(range(1, 9))
    assert drawn[8] is None
    assert await history(redis_client, "ann") == list(range(1, 9))


async def test_the_one_number_that_is_left_of_thousands_is_found(store: DealStore, redis_client: Redis) -> None:
    await give(redis_client, "ann", (number for number in load_stock(GAME).numbers if number != FREE[1234]))
    secret = await store.draw(GAME, ["ann"])
    assert secret is not None
    assert secret.deal == FREE[1234]


@pytest.mark.parametrize("left", [1700, 40, 3])
async def test_no_number_that_is_kept_for_a_daily_is_drawn_however_few_are_left(
    store: DealStore, redis_client: Redis, left: int
) -> None:
    """All the reserved ones are left as well, so that a draw which took them would find them."""
    await give(redis_client, "ann", FREE[left:])
    drawn = [await store.draw(GAME, ["ann"]) for _ in range(min(left, 200))]
    numbers = {secret.deal for secret in drawn if secret is not None}
    assert len(numbers) == min(left, 200)
    assert numbers <= set(FREE[:left])


async def test_of_freecell_and_of_the_pool_the_same_share_is_kept_for_dailies(store: DealStore) -> None:
    for number in range(1, 2001):
        await store.pool.add(GAME, -number, b"")
    drawn = [(game, await store.draw(game, [f"{game} {i}"])) for game in ("freecell", GAME) for i in range(100)]
    assert all(secret is not None and not is_reserved(game, secret.deal) for game, secret in drawn)


async def test_who_has_had_all_but_the_reserved_numbers_has_had_all(
    store: DealStore, redis_client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deals, "LAST_LOOK", 0.0)
    await give(redis_client, "ann", FREE)
    assert await store.draw(GAME, ["ann"]) is None
    (level,) = await store.pool.levels([GAME])
    assert level.wanted == REFILL


async def test_a_reserved_number_that_somebody_has_chosen_is_fit_for_no_day_any_more(
    store: DealStore, redis_client: Redis
) -> None:
    kept = next(number for number in load_stock(GAME).numbers if is_reserved(GAME, number))
    await store.note(GAME, ["ann"], new_secret(kept))
    await store.note(GAME, ["ann"], new_secret(FREE[0]))
    assert await redis_client.smembers(keys.daily_deals(GAME)) == {str(kept).encode()}


def test_numbers_of_freecell_are_counted_out_without_being_listed() -> None:
    left = load_stock("freecell").numbers
    first = set(left[:50])
    assert list(load_stock("freecell").without(frozenset(first))[:3]) == list(left[50:53])


async def test_what_one_of_the_players_has_had_is_drawn_for_none(
    store: DealStore, redis_client: Redis, stock_of: StockOf
) -> None:
    stock_of(*range(1, 7))
    await give(redis_client, "ann", (1, 2))
    await give(redis_client, "bob", (3, 4, 5))
    secret = await store.draw(GAME, ["ann", "bob"])
    assert secret is not None
    assert secret.deal == 6
    assert await store.draw(GAME, ["bob", "ann"]) is None
    assert await history(redis_client, "ann") == [1, 2, 6]


async def test_all_that_are_left_are_as_likely_as_each_other(
    store: DealStore, redis_client: Redis, stock_of: StockOf
) -> None:
    stock_of(1, 2, 3, 4)
    for number in (5, 6, 7, 8):
        await store.pool.add(GAME, number, b"")
    drawn = [await store.draw(GAME, [f"player {i}"]) for i in range(400)]
    counts = Counter(secret.deal for secret in drawn if secret is not None)
    assert sum(counts.values()) == 400
    assert sorted(counts) == list(range(1, 9))
    assert all(15 <= count <= 95 for count in counts.values()), counts  # Five deviations around 50.


async def test_an_equal_share_of_candidates_comes_from_a_pool_beside_a_large_stock(store: DealStore) -> None:
    stock = load_stock(GAME)
    for number in range(1, 2001):
        await store.pool.add(GAME, -number, b"")
    drawn = [await store.draw(GAME, [f"player {i}"]) for i in range(200)]
    pooled = sum(secret.deal < 0 for secret in drawn if secret is not None)
    assert len(stock.numbers) == 2000
    assert 60 <= pooled <= 140  # More than five deviations around 100.


async def test_two_nodes_never_draw_one_number_for_the_same_players(
    store: DealStore, other: DealStore, redis_client: Redis, stock_of: StockOf
) -> None:
    stock_of(*range(1, 7))
    draws = [node.draw(GAME, ["ann", "bob"]) for _ in range(5) for node in (store, other)]
    drawn = [secret.deal for secret in await asyncio.gather(*draws) if secret is not None]
    assert sorted(drawn) == list(range(1, 7))
    assert await history(redis_client, "ann") == await history(redis_client, "bob") == list(range(1, 7))


@pytest.mark.parametrize("seed", range(4))
async def test_no_player_gets_a_number_twice_however_draws_overlap(
    store: DealStore, other: DealStore, redis_client: Redis, stock_of: StockOf, seed: int
) -> None:
    stock_of(*range(1, 13))
    source = random.Random(seed)
    everyone = ["ann", "bob", "cy", "di", "eve"]
    groups = [source.sample(everyone, source.randint(1, 4)) for _ in range(16)]
    drawn = await asyncio.gather(*(source.choice((store, other)).draw(GAME, group) for group in groups))
    for player in everyone:
        mine = [
            secret.deal for group, secret in zip(groups, drawn, strict=True) if secret is not None and player in group
        ]
        assert sorted(mine) == await history(redis_client, player), "dealt twice, or reserved and not let go"


async def test_a_lost_reply_costs_no_number(store: DealStore, redis_client: Redis, stock_of: StockOf) -> None:
    stock_of(1, 2)
    resent = DealStore(Resent(redis_client))
    drawn = [await resent.draw(GAME, ["ann", "bob"]) for _ in range(2)]
    assert sorted(secret.deal for secret in drawn if secret is not None) == [1, 2]
    assert await history(redis_client, "ann") == await history(redis_client, "bob") == [1, 2]


async def test_a_number_that_was_let_go_can_be_drawn_again(store: DealStore, stock_of: StockOf) -> None:
    stock_of(7)
    drawn = await store.draw(GAME, ["ann", "bob"])
    assert drawn is not None
    await store.release(GAME, ["ann", "bob"], drawn)
    await store.release(GAME, ["ann", "bob"], drawn)
    again = await store.draw(GAME, ["bob"])
    assert again is not None
    assert again.deal == 7


async def test_nobody_can_let_go_what_another_draw_has_reserved(
    store: DealStore, redis_client: Redis, stock_of: StockOf
) -> None:
    stock_of(7)
    drawn = await store.draw(GAME, ["ann"])
    assert drawn is not None
    await store.release(GAME, ["ann"], new_secret(7))
    assert await history(redis_client, "ann") == [7]


async def test_a_draw_that_finds_none_waits_whether_the_last_one_is_let_go(
    store: DealStore, other: DealStore, stock_of: StockOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock_of(7)
    drawn = await other.draw(GAME, ["ann"])
    assert drawn is not None
    paused = []

    async def let_go_meanwhile(seconds: float) -> None:
        paused.append(seconds)
        await other.release(GAME, ["ann"], drawn)

    monkeypatch.setattr(deals, "asyncio", SimpleNamespace(sleep=let_go_meanwhile))
    again = await store.draw(GAME, ["ann"])
    assert paused == [0.0]
    assert again is not None
    assert again.deal == 7


async def test_a_chosen_deal_is_never_drawn_for_those_who_had_it(
    store: DealStore, redis_client: Redis, stock_of: StockOf
) -> None:
    stock_of(7, 8)
    await store.note(GAME, ["ann", "bob"], Secret(7, "0" * 32))
    await store.note(GAME, ["ann", "bob"], Secret(7, "1" * 32))
    secret = await store.draw(GAME, ["bob"])
    assert secret is not None
    assert secret.deal == 8
    assert await history(redis_client, "ann") == [7]


async def test_histories_of_different_games_are_apart(store: DealStore, stock_of: StockOf) -> None:
    stock_of(7)
    assert await store.draw("one-suit", ["ann"]) is not None
    assert await store.draw("two-suit", ["ann"]) is not None


async def test_the_pool_goes_on_where_the_stock_ends(store: DealStore, stock_of: StockOf) -> None:
    stock_of(1)
    await store.pool.add(GAME, 2, b"")
    drawn = [await store.draw(GAME, ["ann"]) for _ in range(3)]
    assert sorted(secret.deal for secret in drawn if secret is not None) == [1, 2]
    assert drawn[2] is None


@pytest.mark.parametrize(("left", "wanted"), [(FLOOR, 0), (FLOOR - 1, 1 + REFILL - (FLOOR - 1)), (0, 1 + REFILL)])
async def test_a_draw_that_finds_few_numbers_left_says_how_large_the_pool_should_be(
    store: DealStore, redis_client: Redis, left: int, wanted: int
) -> None:
    await store.pool.add(GAME, -1, b"")
    await give(redis_client, "ann", [-1, *FREE[left:]])
    await store.draw(GAME, ["ann"])
    (level,) = await store.pool.levels([GAME])
    assert level.wanted == wanted
    assert level.short == bool(wanted)


async def test_a_draw_among_plenty_reads_no_history_as_a_whole(store: DealStore, redis_client: Redis) -> None:
    await give(redis_client, "ann", load_stock(GAME).numbers[:500])
    await redis_client.config_resetstat()
    for _ in range(20):
        assert await store.draw(GAME, ["ann"]) is not None
    used = await redis_client.info("commandstats")
    assert "cmdstat_hkeys" not in used
    assert used["cmdstat_hmget"]["calls"] == 20
    assert CANDIDATES < 100


async def test_a_race_of_250_draws_in_a_few_round_trips(store: DealStore, redis_client: Redis) -> None:
    players = [f"player {i}" for i in range(250)]
    secret = await store.draw("freecell", players)
    assert secret is not None
    for player in (players[0], players[249]):
        assert await history(redis_client, player, "freecell") == [secret.deal]


def test_a_secret_does_not_show_its_number() -> None:
    assert "617" not in repr(new_secret(617))
    assert "617" not in f"{[new_secret(617)]}"
