"""`kill -9` in a running race: the race goes on with every answered move."""

from __future__ import annotations

import asyncio

import pytest
from websockets.exceptions import ConnectionClosed

from tests.server.store.processes import store_pid
from tests.story.players import JSON, MSGPACK, Map, Player, Table, play, start_race, table
from tests.story.servers import Server, Servers, end_process
from tests.story.solved_games import golden_game
from tests.waiting import eventually


class Runner:
    """A player who plays one move after the other, until the connection ends; `answered` are those that count."""

    def __init__(self, player: Player, race: str, moves: list[str]) -> None:
        self.player = player
        self.race = race
        self.moves = moves
        self.answered: list[Map] = []

    async def run(self) -> None:
        """Play on from where the answers end."""
        try:
            while len(self.answered) < len(self.moves):
                seq = len(self.answered)
                self.answered.append(await self.player.ask("move", race=self.race, seq=seq, moves=[self.moves[seq]]))
        except (ConnectionClosed, OSError):
            return

    async def come_back(self, seats: Table, subprotocol: str) -> None:
        """Return by token and hold the server to each answer that it has given."""
        self.player = await seats.back(self.player, subprotocol)
        assert self.player.welcome["races"] == [{"race": self.race, "state": "running"}]
        kept = (await self.player.ask("race.sync", race=self.race))["you"]["moves"]
        assert len(kept) - len(self.answered) in (0, 1), "only the one without an answer may be there too"
        assert kept == self.moves[: len(kept)]
        if self.answered:
            seq = len(self.answered) - 1
            again = await self.player.ask("move", race=self.race, seq=seq, moves=[self.moves[seq]])
            assert {**again, "re": 0} == {**self.answered[-1], "re": 0}


async def _finish(runners: list[Runner]) -> None:
    await asyncio.gather(*(runner.run() for runner in runners))


async def _until(runners: list[Runner], answers: int) -> None:
    await eventually(lambda: min(len(runner.answered) for runner in runners) >= answers)


def _kill_store(server: Server, house: Servers) -> int:
    pid = store_pid(house.data_dir)
    assert pid is not None
    end_process(pid)
    assert server.process.returncode is None
    return pid


async def test_the_server_is_killed_and_started_again(house: Servers) -> None:
    """Three race; the server dies twice; all come back by token; the standings are right."""
    server = await house.start()
    moves = golden_game("freecell", 617, "none")
    names = ("Ann", "Bob", "Cem")
    async with table(server.url) as seats:
        players = [await seats.player(name) for name in names]
        race = await start_race(*players, deal=617, autoplay="none")
        runners = [Runner(player, race, moves[:length]) for player, length in zip(players, (103, 60, 40), strict=True)]
        racing = asyncio.create_task(_finish(runners))
        await _until(runners, 10)
        await server.kill()
        await racing
    assert len(runners[0].answered) < len(moves), "the server was to die in the middle"
    server = await house.start()
    async with table(server.url) as seats:
        for runner, subprotocol in zip(runners, (JSON, MSGPACK, JSON), strict=True):
            await runner.come_back(seats, subprotocol)
        racing = asyncio.create_task(_finish(runners))
        await _until(runners, 25)
        await server.kill()
        await racing
    server = await house.start()
    async with table(server.url) as seats:
        for runner in runners:
            await runner.come_back(seats, JSON)
        ann, bob, cem = runners
        await asyncio.gather(ann.run(), bob.run(), cem.run())
        assert ann.answered[-1]["won"]
        await bob.player.ask("race.concede", race=race)
        await cem.player.ask("race.forfeit", race=race)
        over = await ann.player.push("race.over", race=race)
        table_ = [(s["player"]["name"], s["place"], s["status"], s["home"], s["moves"]) for s in over["standings"]]
        assert table_ == [
            ("Ann", 1, "won", 52, 103),
            ("Bob", 2, "conceded", bob.answered[-1]["home"], 60),
            ("Cem", 3, "forfeited", cem.answered[-1]["home"], 40),
        ]
        assert over["standings"][0]["raw"] == ann.answered[-1]["at"]
        logs = (await ann.player.ask("race.sync", race=race))["logs"]
        assert [log["moves"] for log in logs] == [moves[:60], moves[:40]]


async def test_the_store_is_killed_under_a_running_server(house: Servers) -> None:
    """The server starts its store again; requests in between may be told to repeat; no answered move is lost."""
    server = await house.start()
    moves = golden_game("freecell", 617, "none")
    async with table(server.url) as seats:
        ann, bob = await seats.player("Ann"), await seats.player("Bob", JSON)
        race = await start_race(ann, bob, deal=617, autoplay="none")
        await play(ann, race, moves[:20], at_once=5)
        killed = _kill_store(server, house)
        seq = 20
        while seq < len(moves):
            answer = await ann.answer(await ann.send("move", race=race, seq=seq, moves=[moves[seq]]))
            if answer["type"] == "error":
                assert answer["code"] in ("retry_later", "rate_limited")
                # The server says how long.
                await asyncio.sleep(answer["retry_after"] / 1000)
                continue
            seq += 1
            assert answer["seq"] == seq
        assert answer["won"]
        await bob.push("race.done", race=race, player=ann.id, status="won")
        assert store_pid(house.data_dir) not in (None, killed)
        await bob.ask("race.concede", race=race)
        over = await ann.push("race.over", race=race)
        assert [s["status"] for s in over["standings"]] == ["won", "conceded"]
        whole = await bob.ask("race.sync", race=race)
        assert whole["logs"] == [{"player": ann.id, "seq": 103, "moves": moves}]


async def test_server_and_store_are_killed_together(house: Servers) -> None:
    server = await house.start()
    moves = golden_game("freecell", 617, "safe")
    async with table(server.url) as seats:
        ann = await seats.player("Ann")
        race = await start_race(ann, deal=617)
        await play(ann, race, moves[:30], at_once=3)
        _kill_store(server, house)
        await server.kill()
    server = await house.start()
    async with table(server.url) as seats:
        again = await seats.back(ann)
        assert (await again.ask("race.sync", race=race))["you"]["moves"] == moves[:30]
        assert (await play(again, race, moves[30:], at_once=10, seq=30))["won"]
        await again.push("race.over", race=race)


@pytest.mark.parametrize("state", ["open", "countdown"])
async def test_a_race_that_has_not_started_goes_on_too(house: Servers, state: str) -> None:
    server = await house.start()
    async with table(server.url) as seats:
        ann, bob = await seats.player("Ann"), await seats.player("Bob")
        # A countdown that goes on must last for longer than a busy machine takes to start the node again.
        settings = {"countdown": 10 if state == "countdown" else 0, "variant": "one-suit"}
        race = (await ann.ask("race.create", settings=settings))["race"]
        await bob.ask("race.join", race=race)
        await ann.ask("race.ready", race=race)
        if state == "countdown":
            await bob.ask("race.ready", race=race)
            countdown = await bob.push("race.countdown", race=race)
        await server.kill()
    server = await house.start()
    async with table(server.url) as seats:
        ann, bob = await seats.back(ann), await seats.back(bob)
        assert ann.welcome["races"] == [{"race": race, "state": state}]
        whole = await ann.ask("race.sync", race=race)
        if state == "open":
            assert [entrant["status"] for entrant in whole["entrants"]] == ["ready", "joined"]
            await bob.ask("race.ready", race=race)
            countdown = await bob.push("race.countdown", race=race)
        else:
            assert whole["commitment"] == countdown["commitment"]
            assert whole["start_at"] == countdown["start_at"]
        for player in (ann, bob):
            started = await player.push("race.started", race=race)
            assert started["start_at"] == countdown["start_at"]
