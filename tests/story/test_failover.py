"""A race whose store's primary is killed goes on at the one that the Sentinels elect (NODES, 16 and 17)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from cellrace_server.app import running
from cellrace_server.config import Config
from tests.server.store.sentinels import Watched
from tests.story.players import play, start_race, table
from tests.story.solved_games import golden_game


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    """A primary, its replica and three Sentinels."""
    watched = Watched(tmp_path)
    try:
        watched.start()
        yield watched
    finally:
        watched.close()


async def test_a_race_outlives_the_primary_of_its_store(watched, tmp_path):
    """Its player repeats what is not answered, on the connection that there is; each answered move is on record."""
    moves = golden_game("freecell", 617, "none")
    config = Config(port=0, redis=watched.url, data_dir=tmp_path / "data")
    async with running(config) as node, table(f"ws://127.0.0.1:{node.port}/ws") as seats:
        player = await seats.player("Ann")
        race = await start_race(player, deal=617, autoplay="none")
        await play(player, race, moves[:40])
        next_move = {"seq": 40, "moves": moves[40:41]}
        watched.primary.kill()
        while (answer := await player.answer(await player.send("move", race=race, **next_move)))["type"] == "error":
            assert answer["code"] == "retry_later"
            await asyncio.sleep(answer["retry_after"] / 1000)
        assert watched.replica.is_primary
        last = await play(player, race, moves[41:], seq=41)
        assert last["won"]
        assert (await player.ask("race.sync", race=race))["you"]["moves"] == moves
        (place,) = (await player.push("race.over", race=race))["standings"]
        assert place["status"] == "won"
