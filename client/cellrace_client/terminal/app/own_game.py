"""One's own game in one race: shown ahead of the server, its moves sent in order, several messages at once.

It lives as long as the player is there, whatever screen is shown, so that what was typed is sent even when the
connection comes back on another one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Literal

from cellrace.errors import CellraceError, ErrorCode, Refused
from cellrace_client.connection import Connection
from cellrace_client.errors import Closed
from cellrace_client.language import n_
from cellrace_client.race_view import RaceView
from cellrace_client.terminal.app.ahead import Ahead, Parcel
from cellrace_client.terminal.refusals import refusal_text

ON_THEIR_WAY = 8
"""So many messages may wait for their answer; moves beyond them wait here, and share a message when there is room."""
GROWING = 1.5
"""Seconds for which a move that may yet be told to carry more cards is not sent."""


_ENDED = (ErrorCode.ALREADY_DONE, ErrorCode.NOT_RUNNING)
"""Refusals that say that there is nothing to be stopped any more."""
Stop = Literal["concede", "forfeit"]
"""How a player stops before the end."""


class OwnGame:
    """A game that is played here; `on_refusal` is told what the server has not taken, and why."""

    def __init__(self, connection: Connection, view: RaceView, on_refusal: Callable[[str], None]) -> None:
        self.race = view.race
        self._connection = connection
        self._ahead = Ahead(view)
        self._on_refusal = on_refusal
        self._more = asyncio.Event()
        self._room = asyncio.Semaphore(ON_THEIR_WAY)
        self._growing: asyncio.TimerHandle | None = None
        self._settled = asyncio.Event()
        self._round = 0
        self._ended = False
        self.stopping: Stop | None = None
        """How the player has stopped, from then on and before the server has answered: no move may come after it."""

    @property
    def ahead(self) -> Ahead:
        """The game as it is shown."""
        return self._ahead

    def play(self, move: str, *, instead: bool = False, may_grow: bool = False) -> list[str]:
        """Plays a move at once, and sends it; its step. Raises IllegalMove, and then nothing has happened.

        `instead` of the last one, where that is not sent yet; one that `may_grow` is held back for a moment.
        """
        step = self._ahead.play_instead(move) if instead else self._ahead.play(move)
        self.release()
        if may_grow:
            self._growing = asyncio.get_running_loop().call_later(GROWING, self.release)
        self._more.set()
        return step

    def release(self) -> None:
        """Sends what was held back."""
        if self._growing is not None:
            self._growing.cancel()
            self._growing = None
            self._more.set()

    def hear_anew(self, view: RaceView) -> None:
        """Learns all that the server knows."""
        self._ahead.forgotten(view)
        self.hear(view)
        self._more.set()

    def hear(self, view: RaceView) -> None:
        """Learns how things stand on the server."""
        self._tell_lost(self._ahead.follow(view), "")
        self._settled.set()

    async def all_on_record(self) -> None:
        """Waits until all that was played is on record, or is taken back; nothing is held back any more."""
        self.release()
        while self._ahead.waiting and not self._ended:
            self._settled.clear()
            await self._settled.wait()

    def stop(self, how: Stop) -> Coroutine[object, object, None]:
        """Takes no more moves from now on, and tells the server once all that was played before is on record.

        Raises CellraceError, and the game goes on.
        """
        self.stopping = how
        return self._stop(how)

    async def _stop(self, how: Stop) -> None:
        await self.all_on_record()
        try:
            await (self._connection.concede(self.race) if how == "concede" else self._connection.forfeit(self.race))
        except CellraceError as refused:
            if isinstance(refused, Refused) and refused.code in _ENDED:
                # It ended by itself while the connection was away.
                return
            self.stopping = None
            raise

    def end(self) -> None:
        """Sends nothing more: nobody knows the race any longer."""
        self._ended = True
        self._more.set()
        self._settled.set()

    async def run(self) -> None:
        """Sends moves for as long as the player is there and the race is known."""
        async with asyncio.TaskGroup() as sending:
            while not self._ended:
                await self._more.wait()
                await self._room.acquire()
                # Taken only now: what was played meanwhile shares the message.
                parcel = self._ahead.next_parcel(but_last=self._growing is not None)
                if parcel is None:
                    self._room.release()
                    self._more.clear()
                else:
                    sending.create_task(self._send(parcel, self._round))

    async def _send(self, parcel: Parcel, sent_in: int) -> None:
        try:
            await self._connection.move(self.race, *parcel.moves, seq=parcel.seq)
        except Closed:
            # The end of the connection is told where its events are read.
            return
        except CellraceError as refused:
            if sent_in == self._round:
                # Those sent after this one are refused too: what becomes of all of them is settled here.
                self._round += 1
                await self._settle(refused)
        else:
            if (view := self._connection.races.get(self.race)) is not None:
                self.hear(view)
        finally:
            self._room.release()

    async def _settle(self, refused: CellraceError) -> None:
        stale = isinstance(refused, Refused) and refused.code == ErrorCode.STALE
        try:
            view = self._connection.view(self.race) if stale else await self._connection.sync(self.race)
        except CellraceError:
            # The race is not there any more, or the connection: both are told elsewhere.
            return
        self._tell_lost(self._ahead.refused(view, stale=stale), "" if stale else refusal_text(refused))
        self._settled.set()
        self._more.set()

    def _tell_lost(self, lost: int, why: str) -> None:
        if lost:
            sentence = n_(
                "The server has not taken your last move: it is back.",
                "The server has not taken your last {count} moves: they are back.",
                lost,
            ).format(count=lost)
            self._on_refusal(f"{sentence} {why}".rstrip())
