"""One's own game and the messages that carry it, over a connection of a few lines."""

from __future__ import annotations

import asyncio
from typing import cast

from cellrace.errors import CellraceError, ErrorCode, Refused
from cellrace.messages import Moved
from cellrace_client.connection import Connection
from cellrace_client.race_view import RaceView
from cellrace_client.terminal.app.own_game import OwnGame
from tests.client.app.test_ahead import view_with

STALE = Refused(ErrorCode.STALE)


class Line:
    """A connection on which each message waits until a test answers it."""

    def __init__(self) -> None:
        self.races: dict[str, RaceView] = {"r1": view_with()}
        self.sent: list[tuple[str, ...]] = []
        self._answers: list[asyncio.Future[None]] = []
        self._asked = asyncio.Event()

    async def move(self, _race: str, *moves: str, seq: int) -> Moved:
        """Sends a message, and waits."""
        self.sent.append(moves)
        answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._answers.append(answer)
        self._asked.set()
        await answer
        return Moved(race="r1", seq=seq + len(moves), steps=(), home=0, at=0, won=False)

    def view(self, race: str) -> RaceView:
        """The race as it is known."""
        return self.races[race]

    async def sync(self, race: str) -> RaceView:
        """The race as the server has it, which is the same here."""
        return self.races[race]

    async def asked(self, count: int) -> None:
        """Waits until so many messages were sent."""
        while len(self.sent) < count:
            self._asked.clear()
            await self._asked.wait()

    def answer(self, number: int, *log: str, refused: CellraceError | None = None) -> None:
        """Answers a message, with this log on record."""
        self.races["r1"] = view_with(*log)
        if refused is None:
            self._answers[number].set_result(None)
        else:
            self._answers[number].set_exception(refused)


class Table:
    """A game that is played, and what its player is told."""

    def __init__(self) -> None:
        self.line = Line()
        self.told: list[str] = []
        self.game = OwnGame(cast(Connection, self.line), view_with(), self.told.append)
        self._running = asyncio.create_task(self.game.run())

    async def play(self, *moves: str) -> None:
        """Plays moves, each in a message of its own."""
        for move in moves:
            self.game.play(move)
            await self.line.asked(len(self.line.sent) + 1)

    async def close(self) -> None:
        """Ends the game."""
        self._running.cancel()
        await asyncio.gather(self._running, return_exceptions=True)


async def test_moves_that_come_to_nothing_are_told_whatever_the_server_took_after_them() -> None:
    """One is refused for what the server knows otherwise, and the next fits in there by chance."""
    table = Table()
    await table.play("58", "4a")
    table.line.answer(1, "2b", "4a")
    await table.game.all_on_record()
    table.line.answer(0, "2b", "4a", refused=STALE)
    assert table.told == ["The server has not taken your last 2 moves: they are back."]
    assert table.game.ahead.game == view_with("2b", "4a").game
    await table.close()


async def test_all_is_on_record_when_nothing_waits_any_more() -> None:
    """Nothing is held back then, not even what may yet grow."""
    table = Table()
    table.game.play("58", may_grow=True)
    recorded = asyncio.create_task(table.game.all_on_record())
    await table.line.asked(1)
    assert not recorded.done()
    table.line.answer(0, "58")
    await recorded
    assert table.line.sent == [("58",)]
    await table.game.all_on_record()
    await table.close()


async def test_nobody_waits_for_a_game_that_is_known_no_longer() -> None:
    table = Table()
    await table.play("58")
    recorded = asyncio.create_task(table.game.all_on_record())
    table.game.end()
    await recorded
    await table.close()


async def test_what_the_server_has_forgotten_is_sent_again_by_itself() -> None:
    """Nothing needs to be typed for it: the last move of a game may be among them."""
    table = Table()
    await table.play("58", "4a")
    table.line.answer(0, "58")
    table.line.answer(1, "58", "4a")
    await table.game.all_on_record()
    table.game.hear_anew(view_with())
    await table.line.asked(3)
    assert table.line.sent[2] == ("58", "4a")
    await table.close()
