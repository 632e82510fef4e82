"""Players who do anything at any time, on two nodes: every answer is one that the page names, and all see one truth."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from random import Random
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from cellrace_server.app import running
from cellrace_server.config import Bounds, Config
from tests.story.players import JSON, MSGPACK, Map, Player, Table, play, start_race, table
from tests.waiting import eventually

MOVES = [f"{source}{target}" for source in "123ab" for target in "123abh" if source != target] + ["u"]
ANY = {"bad_message", "no_such_race", "not_found"}
HOST = {"not_host", "already_started", "too_few", "not_entrant", "not_running"}
STOP = {"not_entrant", "not_started", "not_running", "already_done"}
ANSWERS: dict[str, set[str]] = {
    "ping": {"pong"},
    "race.create": {"race", "bad_settings", "not_allowed"},
    "race.join": {"race", "race_full", "already_started", "bots_not_allowed", "not_running", "not_allowed"},
    "race.leave": {"ok", "not_entrant"},
    "race.ready": {"ok", "not_entrant", "already_started", "not_running", "not_allowed"},
    "race.start": {"ok", *HOST},
    "race.kick": {"ok", *HOST},
    "race.concede": {"ok", *STOP},
    "race.forfeit": {"ok", *STOP},
    "race.sync": {"race", "race.missed", "not_allowed"},
    "race.watch": {"race", "not_allowed"},
    "race.unwatch": {"ok"},
    "race.rematch": {"race", "not_entrant", "not_over", "race_full", "already_started", "not_running", "not_allowed"},
    "race.list": {"races"},
    "move": {"moved", "stale", "illegal_move", *STOP},
}
"""What the page says a request may be answered with, next to what any may be."""


SHARED = ("state", "version", "host", "standings", "layout", "salt")
"""What of a race is the same for all who may see it."""


class World:
    """What all the monkeys know: the races there are."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.races: list[str] = ["nothing"]

    def request(self, player: Player, others: list[str]) -> tuple[str, Map]:
        """Any request, more often one that makes sense."""
        chance = self.chance
        race = chance.choice(self.races[-2:])
        kind = chance.choices(list(ANSWERS), [1, 1, 12, 0.3, 12, 2, 0.5, 0.5, 0.3, 6, 1, 1, 2, 1, 40])[0]
        fields: Map = {}
        if kind == "race.create":
            settings: Map = {"variant": "one-suit", "countdown": 0, "seats": chance.randint(2, 4)}
            if chance.random() < 0.5:
                settings["deal"] = 94
            fields = {"settings": settings | ({"ends": "first_win"} if chance.random() < 0.3 else {})}
        elif kind not in ("ping", "race.list"):
            fields = {"race": race}
        if kind == "race.kick":
            fields["player"] = chance.choice(others)
        elif kind == "race.ready":
            fields["ready"] = chance.random() < 0.9
        elif kind == "race.sync" and chance.random() < 0.5:
            fields["since"] = chance.randrange(6)
        elif kind == "race.list":
            fields = {"mine": chance.random() < 0.5, "limit": chance.randrange(5)}
        elif kind == "move":
            seq = self._seq(player, race)
            fields |= {"seq": seq, "moves": chance.choices(MOVES, k=chance.choice([1, 1, 1, 3]))}
            if chance.random() < 0.2:
                fields["moves"] = ["2a", "2b", "31v2"]
        return kind, fields

    def _seq(self, player: Player, race: str) -> int:
        known = [
            f for f in player.frames if f.get("race") == race and (f["type"] == "moved" or f.get("code") == "stale")
        ]
        return int(known[-1]["seq"]) if known else 0


class Monkey:
    """One of them: does something, drops the connection now and then, comes back at any node."""

    def __init__(self, world: World, tables: list[Table], player: Player) -> None:
        self.world = world
        self.tables = tables
        self.player = player
        self.strange: list[Map] = []

    async def live(self, actions: int, everybody: list[str]) -> None:
        """So many actions."""
        chance = self.world.chance
        for _ in range(actions):
            if chance.random() < 0.015:
                await self.player.drop()
                await self._return()
            kind, fields = self.world.request(self.player, everybody)
            try:
                answer = await self.player.answer(await self.player.send(kind, **fields))
            except ConnectionClosed:
                await self._return()
                continue
            told = answer["code"] if answer["type"] == "error" else answer["type"]
            if told not in ANSWERS[kind] | ANY:
                self.strange.append({"asked": {"type": kind, **fields}, "answer": answer})
            if kind == "race.create" and told == "race":
                self.world.races.append(answer["race"])

    async def _return(self) -> None:
        chance = self.world.chance
        self.player = await chance.choice(self.tables).back(self.player, chance.choice([JSON, MSGPACK]))


async def _same_everywhere(players: list[Player], race: str) -> bool:
    """Whether all who may see a race see the same of it."""
    seen: list[Map] = []
    for player in players:
        answer = await player.answer(await player.send("race.sync", race=race))
        if answer["type"] == "race":
            seen.append(
                {name: answer.get(name) for name in ("state", "version", "host", "standings", "layout", "salt")}
            )
            seen[-1]["entrants"] = [{**entrant, "online": True} for entrant in answer["entrants"]]
    return all(view == seen[0] for view in seen)


@pytest.mark.parametrize(("seed", "player_races"), [*((seed, 100) for seed in range(6)), (6, 1)])
async def test_whatever_they_do_is_answered_as_the_page_says(store_url: str, seed: int, player_races: int) -> None:
    config = Config(port=0, redis=store_url, bounds=Bounds(burst=10**6, player_races=player_races))
    async with AsyncExitStack() as stack:
        nodes = [await stack.enter_async_context(running(config)) for _ in range(2)]
        tables = [await stack.enter_async_context(table(f"ws://127.0.0.1:{node.port}/ws")) for node in nodes]
        world = World(seed)
        monkeys = [Monkey(world, tables, await tables[n % 2].player(f"Monkey {n}")) for n in range(5)]
        everybody = [monkey.player.id for monkey in monkeys] + ["nobody"]
        await asyncio.gather(*(monkey.live(120, everybody) for monkey in monkeys))
        assert not [strange for monkey in monkeys for strange in monkey.strange]
        players = [monkey.player for monkey in monkeys]
        for race in world.races[1:]:
            await eventually(lambda race=race: _same_everywhere(players, race))  # type: ignore[misc]  # a loop's variable, bound now
        for player in players:
            for summary in (await player.ask("race.list", mine=True))["races"]:
                await player.answer(await player.send("race.leave", race=summary["race"]))
        await _afterwards_all_is_well(players)


async def _afterwards_all_is_well(players: list[Player]) -> None:
    """The node has taken no harm: those who want to race do so."""
    ann, bob, *others = players
    race = await start_race(ann, bob, variant="one-suit", deal=94)
    await play(ann, race, ["2a", "2b", "31v2"])
    await bob.ask("race.concede", race=race)
    for player in (ann, bob):
        over: dict[str, Any] = await player.push("race.over", race=race)
        assert [standing["status"] for standing in over["standings"]] == ["won", "conceded"]
    for other in others:
        await other.settle()
