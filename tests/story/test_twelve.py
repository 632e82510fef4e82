"""Twelve race on each of the six main games at once: every layout equal, every commitment and standings right."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass, field
from random import Random

from tests.story.players import JSON, MSGPACK, Map, Player, Table, table
from tests.story.servers import Servers
from tests.story.solved_games import golden_game, stocked_game

GAMES = ("freecell", "marseille", "six-by-six", "six-by-six-down", "two-suit", "one-suit")
ENTRANTS = 12


@dataclass
class Racer:
    """One who races, how far the game is to go, and what was seen of it."""

    player: Player
    ends: str
    """`won`, `conceded` or `forfeited`."""
    countdown: Map = field(default_factory=dict)
    started: Map = field(default_factory=dict)
    over: Map = field(default_factory=dict)
    last: Map = field(default_factory=dict)
    undone: int = 0
    played: int = 0

    async def race(self, race: str, variant: str, chance: Random) -> None:
        """From the countdown to the standings."""
        self.countdown = await self.player.push("race.countdown", race=race)
        self.started = await self.player.push("race.started", race=race)
        moves = _solution(variant, int(self.started["deal"]))
        if self.ends != "won":
            # There are deals of One Suit that a single move wins.
            moves = moves[: chance.randrange(max(1, len(moves) // 2))]
        seq = 0
        while seq - self.undone * 2 < len(moves):
            done = seq - self.undone * 2
            sent = moves[done : done + chance.randint(1, 16)]
            # Not around a reserve that is being laid out, nor after a winning move.
            if chance.random() < 0.1 and done > 3 and done + 1 < len(moves):
                sent = [sent[0], "u", *sent]
                self.undone += 1
            self.last = await self.player.ask("move", race=race, seq=seq, moves=sent)
            seq += len(sent)
        self.played = seq - self.undone - sum(move.startswith("r") for move in moves)
        if self.ends != "won":
            await self.player.ask(f"race.{'concede' if self.ends == 'conceded' else 'forfeit'}", race=race)
        self.over = await self.player.push("race.over", race=race)


def _solution(variant: str, deal: int) -> list[str]:
    return golden_game(variant, deal, "safe") if variant == "freecell" else stocked_game(variant, deal)


async def _race(seats: Table, variant: str, number: int) -> list[Racer]:
    """One race of twelve; all they have seen."""
    chance = Random(number)
    ends = ["won"] * 7 + ["conceded"] * 3 + ["forfeited"] * 2
    chance.shuffle(ends)
    racers = [
        Racer(await seats.player(f"{variant} {n}", JSON if n % 2 else MSGPACK, bot=n % 3 == 0), end)
        for n, end in enumerate(ends)
    ]
    settings: Map = {"variant": variant, "seats": ENTRANTS, "countdown": 0}
    if variant == "freecell":
        settings["deal"] = 617
    race = (await racers[0].player.ask("race.create", settings=settings))["race"]
    for racer in racers[1:]:
        await racer.player.ask("race.join", race=race)
    for racer in racers:
        await racer.player.ask("race.ready", race=race)
    await asyncio.gather(*(racer.race(race, variant, Random(number * 100 + n)) for n, racer in enumerate(racers)))
    return racers


def _one(values: list[object]) -> None:
    assert len({json.dumps(value, sort_keys=True) for value in values}) == 1


def _check(racers: list[Racer], variant: str) -> None:
    """Everything that can be checked from outside, reckoned anew."""
    _one([racer.started for racer in racers])
    _one([racer.countdown["commitment"] for racer in racers])
    started, standings = racers[0].started, racers[0].over["standings"]
    text = f"cellrace:{variant}:{started['deal']}:{started['salt']}"
    assert hashlib.sha256(text.encode()).hexdigest() == racers[0].countdown["commitment"]
    _one([racer.over["standings"] for racer in racers])
    by_id = {racer.player.id: racer for racer in racers}
    assert {standing["player"]["id"] for standing in standings} == set(by_id)
    for standing in standings:
        racer = by_id[standing["player"]["id"]]
        assert standing["player"] == racer.player.welcome["player"]
        assert standing["status"] == racer.ends
        assert standing["home"] == racer.last.get("home", 0)
        assert (standing["moves"], standing["undos"]) == (racer.played, racer.undone)
        if racer.ends == "won":
            assert racer.last["won"]
            assert standing["raw"] == racer.last["at"]
            assert 0 <= standing["latency"] <= 250
            assert standing["time"] == max(0, standing["raw"] - standing["latency"])
        else:
            assert not {"time", "raw", "latency"} & standing.keys()
        better = [other for other in standings if _rank(other) < _rank(standing)]
        assert standing["place"] == 1 + len(better)
    assert [standing["place"] for standing in standings] == sorted(standing["place"] for standing in standings)
    for racer in racers:
        told = [f for f in racer.player.frames if f["type"] == "race.done"]
        assert {fact["player"]: fact["status"] for fact in told} == {id_: other.ends for id_, other in by_id.items()}


def _rank(standing: Map) -> tuple[int, int]:
    """What the page says: winners by time, then those who stopped, then those who gave up, by cards home."""
    if standing["status"] == "won":
        return 0, standing["time"]
    return (1 if standing["status"] in ("conceded", "timed_out") else 2), -standing["home"]


async def test_twelve_race_on_each_of_the_six_games_at_once(house: Servers) -> None:
    server = await house.start()
    async with table(server.url) as seats:
        races = await asyncio.gather(*(_race(seats, variant, number) for number, variant in enumerate(GAMES)))
        for variant, racers in zip(GAMES, races, strict=True):
            _check(racers, variant)
        assert '"level": "error"' not in server.log
