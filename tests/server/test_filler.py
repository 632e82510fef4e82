"""Filling the pools: as far as wanted, slowly, by processes that are replaced when they die and ended when idle."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from functools import partial

import pytest
import structlog
from click.testing import CliRunner
from redis.asyncio import Redis

from cellrace.autoplay import Autoplay
from cellrace.board import dealt_board
from cellrace.deals import deal
from cellrace.game import Game
from cellrace.variants import VARIANTS, find_variant
from cellrace_client.cli import serving
from cellrace_server import filler as module
from cellrace_server.app import running
from cellrace_server.config import Config
from cellrace_server.filler import Filler, Pace, Prover, ProverFailed
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.library import Link
from cellrace_server.store.pool import PoolStore
from tests.background import background
from tests.server.net.fetching import Fetched, fetch
from tests.server.store.processes import is_alive
from tests.waiting import eventually as eventually_within

# Processes that prove deals have the lowest priority: on a busy machine they wait for long.
pytestmark = pytest.mark.timeout(900)
eventually = partial(eventually_within, timeout=600.0)

AT_ONCE = Pace(first=0, look=0.01, share=1, hurried_share=1, pause=0, hurried_pause=0)
GAMES = ("one-suit", "two-suit")

NODE = """
import asyncio, sys
from redis.asyncio import Redis
from cellrace_server.filler import Filler, Pace
from cellrace_server.store.library import Link
from cellrace_server.store.pool import PoolStore

async def main():
    filler = Filler(PoolStore(Link(Redis.from_url(sys.argv[1]))), 100_000, 2, Pace(0, 0.01, 1, 1, 0, 0))
    filling = asyncio.create_task(filler.run())
    while len(filler.pids) < 2:
        await asyncio.sleep(0.01)
    print(*filler.pids, flush=True)
    await filling

asyncio.run(main())
"""
"""A node that does nothing but fill the pools."""


@pytest.fixture
def pool(redis_client: Redis) -> PoolStore:
    """The pools of an empty store."""
    return PoolStore(Link(redis_client))


@pytest.fixture
def few_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two small games are all there are."""
    monkeypatch.setattr(module, "VARIANTS", {game: VARIANTS[game] for game in GAMES})


def filled(filler: Filler, wanted: dict[str, int]) -> bool:
    """Whether the pools have come to these sizes and no process is left to prove more.

    Two more at most: a look may have begun before the last one was added, and so may a try of another node.
    """
    sizes = filler.detail().sizes
    return not filler.pids and all(size <= sizes.get(game, 0) <= size + 2 for game, size in wanted.items())


async def sizes(pool: PoolStore) -> dict[str, int]:
    """How many numbers each pool has."""
    return {level.variant: level.size for level in await pool.levels(GAMES)}


async def test_each_pool_is_filled_to_the_target_with_proofs_that_win(pool: PoolStore, few_games: None) -> None:
    filler = Filler(pool, 4, 1, AT_ONCE)
    async with background(filler.run()):
        await eventually(lambda: filled(filler, {"one-suit": 4, "two-suit": 4}))
    for game in GAMES:
        for number in await pool.numbers(game):
            proof = await pool.proof(game, number)
            assert proof is not None
            board = dealt_board(find_variant(game), deal(find_variant(game), number))
            assert Game(board, Autoplay.NONE).play_all(proof)[0].won


async def test_without_a_target_nothing_is_proved(pool: PoolStore, few_games: None) -> None:
    await pool.want("one-suit", 10)
    filler = Filler(pool, 0, 1, AT_ONCE)
    async with background(filler.run()):
        await eventually(lambda: filler.detail().short == ("one-suit",))
        assert not filler.pids
    assert await sizes(pool) == {"one-suit": 0, "two-suit": 0}


async def test_nodes_share_the_work(pool: PoolStore, few_games: None) -> None:
    first, second = Filler(pool, 10, 1, AT_ONCE), Filler(pool, 10, 1, AT_ONCE)
    async with background(first.run()), background(second.run()):
        await eventually(lambda: all(filled(node, {"one-suit": 10, "two-suit": 10}) for node in (first, second)))


async def test_a_pool_that_players_want_larger_grows_beyond_the_target(pool: PoolStore, few_games: None) -> None:
    await pool.want("two-suit", 6)
    filler = Filler(pool, 2, 1, AT_ONCE)
    async with background(filler.run()):
        await eventually(lambda: filled(filler, {"one-suit": 2, "two-suit": 6}))
    assert filler.detail().target == 2


async def test_a_pool_grows_to_a_bound_whatever_is_wanted(
    pool: PoolStore, few_games: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST", 3)
    await pool.want("one-suit", 1_000_000)
    filler = Filler(pool, 2, 1, AT_ONCE)
    async with background(filler.run()):
        await eventually(lambda: filled(filler, {"one-suit": 6, "two-suit": 2}))
    assert filler.detail().short == ("one-suit",)


async def test_players_who_wait_are_served_first(
    pool: PoolStore, few_games: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = []

    async def note(variant: str, number: int, packed: bytes) -> bool:
        added.append(variant)
        return await PoolStore.add(pool, variant, number, packed)

    monkeypatch.setattr(pool, "add", note)
    await pool.want("two-suit", 5)
    async with background(Filler(pool, 4, 1, AT_ONCE).run()):
        await eventually(lambda: "one-suit" in added)
    assert added.index("one-suit") >= 5


async def test_a_pool_that_runs_short_is_told_once_and_once_more_when_it_does_not(
    pool: PoolStore, few_games: None
) -> None:
    filler = Filler(pool, 0)
    with structlog.testing.capture_logs() as lines:
        await filler.look()
        assert not lines
        await pool.want("one-suit", 1)
        for _ in range(5):
            await filler.look()
        await pool.add("one-suit", 12345678, b"")
        for _ in range(5):
            await filler.look()
    assert [(line["log_level"], line["variant"]) for line in lines] == [("warning", "one-suit"), ("info", "one-suit")]
    assert "--pool" in lines[0]["advice"]
    assert "12345678" not in json.dumps(lines)


async def test_a_prover_that_was_killed_is_replaced(pool: PoolStore, few_games: None) -> None:
    filler = Filler(pool, 400, 1, AT_ONCE)
    async with background(filler.run()):
        (pid,) = await eventually(lambda: filler.pids)
        before = await eventually(lambda: sum(filler.detail().sizes.values()))
        os.kill(pid, signal.SIGKILL)
        await eventually(lambda: filler.pids and filler.pids != (pid,))
        await eventually(lambda: sum(filler.detail().sizes.values()) > before + 1)


async def test_a_prover_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    prover = Prover()
    await prover.prove("one-suit")
    pid = prover.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    monkeypatch.setattr(module, "LONGEST_TRY", 0.05)
    with pytest.raises(ProverFailed):
        await prover.prove("one-suit")
    assert not is_alive(pid)
    assert prover.pid is None


async def test_a_prover_that_fails_at_one_deal_goes_on() -> None:
    prover = Prover()
    try:
        with pytest.raises(ProverFailed, match="UnknownVariant"):
            await prover.prove("spider")
        assert (await prover.prove("one-suit")).seconds > 0
    finally:
        await prover.end()


async def test_no_process_is_left_when_the_node_stops(pool: PoolStore, few_games: None) -> None:
    filler = Filler(pool, 1_000_000, 2, AT_ONCE)
    async with background(filler.run()):
        pids = await eventually(lambda: filler.pids if len(filler.pids) == 2 else ())
    assert not any(map(is_alive, pids))


async def test_no_process_is_left_when_the_node_is_killed(store_url: str) -> None:
    node = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", NODE, store_url), stdout=asyncio.subprocess.PIPE
    )
    assert node.stdout is not None
    pids = [int(pid) for pid in (await node.stdout.readline()).split()]
    assert len(pids) == 2
    assert all(map(is_alive, pids))
    node.kill()
    await node.wait()
    await eventually(lambda: not any(map(is_alive, pids)))


async def test_a_store_that_is_away_ends_no_filling(
    pool: PoolStore, few_games: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = 0

    async def refuse(variant: str, number: int, packed: bytes) -> bool:
        nonlocal refused
        refused += 1
        if refused < 3:
            raise StoreUnavailable("away")
        return await PoolStore.add(pool, variant, number, packed)

    monkeypatch.setattr(pool, "add", refuse)
    filler = Filler(pool, 1, 1, AT_ONCE)
    async with background(filler.run()):
        await eventually(lambda: filled(filler, {"one-suit": 1, "two-suit": 1}))


@pytest.mark.parametrize(("busy", "hurried", "pause"), [(0.001, False, 0.25), (1.0, False, 9.0), (1.0, True, 1.0)])
def test_pauses_leave_the_rest_of_the_core_to_others(busy: float, hurried: bool, pause: float) -> None:
    assert Pace().after(busy, hurried) == pytest.approx(pause)


async def test_a_node_fills_the_pools_and_leaves_no_process(
    store_url: str, pool: PoolStore, few_games: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Filler] = []

    def at_once(pool: PoolStore, target: int, provers: int) -> Filler:
        made.append(Filler(pool, target, provers, AT_ONCE))
        return made[-1]

    monkeypatch.setattr("cellrace_server.app.Filler", at_once)
    async with running(Config(port=0, redis=store_url, pool=3000, pool_workers=2)):
        (filler,) = made
        pids = await eventually(lambda: filler.pids if len(filler.pids) == 2 else ())
        await eventually(lambda: sum(filler.detail().sizes.values()) > 2)
    assert not any(map(is_alive, pids))


async def test_a_node_proves_nothing_unless_it_is_asked_to(store_url: str) -> None:
    assert Config().pool == 0
    async with running(Config(port=0, redis=store_url)) as node:
        ready = await eventually(lambda: _ready(node.port))
    assert ready.json["detail"]["pool"]["target"] == 0


@pytest.mark.parametrize(
    ("options", "pool", "workers"),
    [((), 500, 1), (("--pool", "0"), 0, 1), (("--pool", "7", "--pool-workers", "2"), 7, 2)],
)
def test_serve_proves_deals_unless_told_not_to(
    options: tuple[str, ...], pool: int, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[Config] = []

    async def note(config: Config, *_: object) -> None:
        served.append(config)

    monkeypatch.setattr(serving, "serve_until_told", note)
    monkeypatch.setattr(serving, "configure_logs", lambda *level: None)
    monkeypatch.delenv("CELLRACE_POOL", raising=False)
    result = CliRunner().invoke(serving.serve, options)
    assert result.exit_code == 0, result.output
    assert [(config.pool, config.pool_workers) for config in served] == [(pool, workers)]


async def test_readyz_tells_how_the_pools_stand(store_url: str, pool: PoolStore) -> None:
    await pool.want("six-by-six", 100)
    await pool.add("six-by-six", 1, b"")

    async with running(Config(port=0, redis=store_url)) as node:
        body = (await eventually(lambda: _ready(node.port))).json
    assert body["status"] == "ready"
    detail = body["detail"]["pool"]
    assert detail["short"] == ["six-by-six"]
    assert detail["sizes"] == {**dict.fromkeys(VARIANTS, 0), "six-by-six": 1}


async def _ready(port: int) -> Fetched | None:
    """What a node that is ready and has looked at the pools says."""
    fetched = await fetch(port, "/readyz")
    return fetched if fetched.status == 200 and fetched.json["detail"]["pool"]["sizes"] else None
