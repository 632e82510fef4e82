"""Deals as players get them, over whole nodes: each one new, none wasted, and more proved when they run out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from cellrace_server.app import Node, running
from cellrace_server.config import Config
from cellrace_server.filler import Filler, Pace
from cellrace_server.stock import load_stock
from cellrace_server.store import keys
from cellrace_server.store.deals import DealStore
from cellrace_server.store.pool import PoolStore
from cellrace_server.store.races import Secret
from cellrace_server.upkeep import Upkeep
from tests.server.net.fetching import fetch
from tests.story.players import Player, Table, open_race, start_race, table
from tests.waiting import eventually

GAME = "one-suit"
AT_ONCE = Pace(first=0, look=0.01, share=1, hurried_share=1, pause=0, hurried_pause=0)


@pytest.fixture
def no_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes find no race due: one that another node is about to begin would be begun, and held, by two at once."""

    async def sweep_nothing(_: Upkeep) -> None:
        """Nothing is due."""

    monkeypatch.setattr(Upkeep, "sweep_once", sweep_nothing)


@pytest_asyncio.fixture
async def nodes(store_url: str) -> AsyncIterator[list[Node]]:
    """Two nodes on one store."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(running(Config(port=0, redis=store_url))) for _ in range(2)]


@pytest_asyncio.fixture
async def tables(nodes: list[Node]) -> AsyncIterator[list[Table]]:
    """A table at each node."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(table(f"ws://127.0.0.1:{node.port}/ws")) for node in nodes]


async def history(redis: Redis, player: Player) -> set[int]:
    """The numbers that a player has had."""
    return {int(number) for number in await redis.hkeys(keys.player_deals(player.id, GAME))}


async def give(redis: Redis, player: Player, numbers: Iterable[int]) -> None:
    """Let a player have had some numbers."""
    await redis.hset(keys.player_deals(player.id, GAME), mapping=dict.fromkeys(map(str, numbers), "earlier"))


async def deal_of(player: Player, race: str) -> int:
    """The number of a race that has started."""
    return int((await player.ask("race.sync", race=race))["deal"])


async def test_two_nodes_that_draw_for_one_race_reserve_one_number_between_them(
    nodes: list[Node], tables: list[Table], redis_client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = asyncio.Barrier(2)
    for node in nodes:
        monkeypatch.setattr(node.services.store.deals, "draw", _drawing_with(node.services.store.deals, both))
    ann, bob = await tables[0].player("Ann"), await tables[1].player("Bob")
    dealt = set()
    for _ in range(4):
        race = await start_race(ann, bob, variant=GAME)
        dealt.add(await deal_of(ann, race))
        assert await deal_of(bob, race) in dealt
    assert len(dealt) == 4
    await eventually(lambda: _is(redis_client, ann, dealt))
    await eventually(lambda: _is(redis_client, bob, dealt))


def _drawing_with(deals: DealStore, others: asyncio.Barrier) -> Callable[..., Awaitable[Secret | None]]:
    draw = deals.draw

    async def draw_then_wait(variant: str, players: Iterable[str]) -> Secret | None:
        secret = await draw(variant, players)
        await others.wait()
        return secret

    return draw_then_wait


@pytest.mark.usefixtures("no_sweeps")
async def test_whoever_becomes_ready_during_the_draw_has_not_had_the_deal(
    nodes: list[Node], tables: list[Table], redis_client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = await tables[0].player("Ann"), await tables[0].player("Bob")
    cy = await tables[1].player("Cy")
    race = await open_race(ann, bob, seats=3, variant=GAME)
    here, there = nodes[0].services.store.deals, nodes[1].services.store.deals
    draw_here, draw_there = here.draw, there.draw
    drawn: list[int] = []
    drawing, others_came = asyncio.Event(), asyncio.Event()

    async def draw_slowly(variant: str, players: Iterable[str]) -> Secret | None:
        secret = await draw_here(variant, players)
        assert secret is not None
        drawn.append(secret.deal)
        drawing.set()
        await others_came.wait()
        return secret

    async def draw_too_late(variant: str, players: Iterable[str]) -> Secret | None:
        await eventually(lambda: len(drawn) == 2)
        return await draw_there(variant, players)

    monkeypatch.setattr(here, "draw", draw_slowly)
    monkeypatch.setattr(there, "draw", draw_too_late)
    for player in (ann, bob):
        await player.ask("race.ready", race=race)
    await drawing.wait()
    await give(redis_client, cy, drawn)
    await cy.ask("race.join", race=race)
    await cy.ask("race.ready", race=race)
    others_came.set()
    await cy.push("race.started", race=race)
    deal = await deal_of(cy, race)
    assert drawn[1] == deal != drawn[0], "the deal that Cy has had is let go, and another drawn"
    await eventually(lambda: _is(redis_client, ann, {deal}))
    await eventually(lambda: _is(redis_client, cy, {drawn[0], deal}))


async def test_a_chosen_deal_is_remembered(tables: list[Table], redis_client: Redis) -> None:
    ann = await tables[0].player("Ann")
    await start_race(ann, variant=GAME, deal=94)
    assert await history(redis_client, ann) == {94}


@pytest.mark.timeout(900)
async def test_players_who_have_had_all_wait_until_more_is_proved(
    store_url: str, redis_client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Filler] = []

    def at_once(pool: PoolStore, target: int, provers: int) -> Filler:
        made.append(Filler(pool, 2, 1, AT_ONCE))
        return made[-1]

    monkeypatch.setattr("cellrace_server.app.Filler", at_once)
    monkeypatch.setattr("cellrace_server.store.deals.LAST_LOOK", 0.0)
    monkeypatch.setattr("cellrace_server.filler.VARIANTS", {GAME: None})
    async with running(Config(port=0, redis=store_url)) as node, table(f"ws://127.0.0.1:{node.port}/ws") as seats:
        pool = PoolStore(node.services.store.link)
        # What proves has the lowest priority, and waits for long on a busy machine.
        await eventually(lambda: made[0].detail().sizes.get(GAME, 0) >= 2 and not made[0].pids, 400)
        ann = await seats.player("Ann")
        await give(redis_client, ann, {*load_stock(GAME).numbers, *await pool.numbers(GAME)})
        race = await open_race(ann, seats=1, variant=GAME)
        await ann.ask("race.ready", race=race)
        assert (await ann.push("race.delayed", race=race))["reason"] == "no_deal"
        await ann.push("race.ready", race=race, ready=False)
        await eventually(lambda: _short(node))
        await eventually(lambda: made[0].detail().sizes[GAME] >= 10, 400)
        await ann.ask("race.ready", race=race)
        await ann.push("race.started", race=race)
        assert await deal_of(ann, race) in await pool.numbers(GAME)


async def _is(redis: Redis, player: Player, numbers: set[int]) -> bool:
    return await history(redis, player) == numbers


async def _short(node: Node) -> bool:
    fetched = await fetch(node.port, "/readyz")
    return fetched.status == 200 and fetched.json["detail"]["pool"]["short"] == [GAME]
