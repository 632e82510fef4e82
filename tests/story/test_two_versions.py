"""An upgrade, node by node: old and new nodes, each with functions of its own version, finish one race (NODES, 18)."""

from __future__ import annotations

from redis.asyncio import Redis

from cellrace_server.store import keys
from tests.story import newer
from tests.story.players import JSON, Map, play, start_race, table
from tests.story.servers import Servers
from tests.story.solved_games import golden_game


async def test_old_and_new_nodes_finish_one_race(house: Servers, store_url: str, redis_client: Redis) -> None:
    """Two play at an old and a new node, change places, and end at the new one when the old one is stopped."""
    old = await house.start("--redis", store_url)
    new = await house.start("--redis", store_url, command=newer.COMMAND)
    libraries = await redis_client.function_list()
    assert {library[1].decode() for library in libraries} >= {"cellrace_1", "cellrace_2"}
    moves = golden_game("freecell", 617, "none")
    async with table(old.url) as olds, table(new.url) as news:
        ann, bob = await olds.player("Ann"), await news.player("Bob", JSON)
        race = await start_race(ann, bob, deal=617, autoplay="none")
        await play(ann, race, moves[:20])
        await play(bob, race, moves[:10])
        await bob.push("race.progress", race=race, player=ann.id, seq=20)
        await ann.push("race.progress", race=race, player=bob.id, seq=10)

        ann, bob = await news.back(ann), await olds.back(bob, JSON)
        for player, seq in ((ann, 20), (bob, 10)):
            assert (await player.ask("race.sync", race=race))["you"]["moves"] == moves[:seq]
        await play(ann, race, moves[20:50], seq=20)
        await play(bob, race, moves[10:30], seq=10)

        assert await old.terminate() == 0
        assert await bob.closed() == 1001
        bob = await news.back(bob, JSON)
        await bob.ask("race.sync", race=race)
        await play(bob, race, moves[30:40], seq=30)
        assert (await play(ann, race, moves[50:], seq=50))["won"]
        written = await redis_client.get(keys.race(race) + newer.WRITTEN)
        assert int(written or 0) == 10 + 30 + 10 + len(moves) - 50, "what was played at the new node, by its function"
        await bob.ask("race.concede", race=race)
        standings: list[Map] = (await ann.push("race.over", race=race))["standings"]
        assert [(row["player"]["name"], row["status"], row["moves"]) for row in standings] == [
            ("Ann", "won", len(moves)),
            ("Bob", "conceded", 40),
        ]
        assert (await bob.push("race.over", race=race))["standings"] == standings
