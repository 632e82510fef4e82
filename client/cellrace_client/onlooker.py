"""Watches one race to its end and tells it, a sentence a line."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from cellrace.messages import MovedPush, RaceState, StartedPush
from cellrace_client.connection import Connection
from cellrace_client.events import Event, Happened, Lost, Synced
from cellrace_client.race_view import RaceView
from cellrace_client.terminal.progress import ProgressTeller
from cellrace_client.terminal.sentences import tell_event, tell_race
from cellrace_client.terminal.speech import printable
from cellrace_client.terminal.standings_lines import entrants_lines
from cellrace_client.terminal.watching import BoardTeller, first_board_lines, tell_moved


class Onlooker:
    """A spectator who tells all that is shown: boards and progress at most once in so many seconds."""

    def __init__(
        self, connection: Connection, say: Callable[[str], None], *, boards_every: float, progress_every: float
    ) -> None:
        self._connection = connection
        self._write = say
        self._boards = BoardTeller(boards_every)
        self._progress = ProgressTeller(progress_every)
        self._heard = asyncio.Event()

    async def watch(self, race: str | None, code: str | None = None) -> RaceView | None:
        """The race as it has ended; None when no more of it is told. Raises Refused, Closed."""
        view = await self._connection.watch(race, code=code)
        self._say(*tell_race(view))
        if view.state is not RaceState.OPEN:
            self._say(*entrants_lines(view))
        if view.ended:
            return view
        self._say(*first_board_lines(view))
        self._hear(view)
        ticking = asyncio.create_task(self._tell_in_time())
        try:
            async for event in self._connection.events():
                self._tell(event, view.race)
                if isinstance(event, Lost) and event.race == view.race:
                    return None
                if isinstance(event, Happened | Synced) and event.view.race == view.race and event.view.ended:
                    return event.view
            return None
        finally:
            ticking.cancel()
            await asyncio.gather(ticking, return_exceptions=True)

    def _tell(self, event: Event, race: str) -> None:
        if isinstance(event, Happened | Synced) and event.view.race != race:
            return
        self._say(*tell_event(event, self._connection.clock.now()))
        if isinstance(event, Happened):
            if isinstance(event.push, MovedPush):
                self._say(*tell_moved(event, event.push))
            elif isinstance(event.push, StartedPush) and event.before.dealt is None:
                self._say(*first_board_lines(event.view))
        if isinstance(event, Happened | Synced):
            self._hear(event.view)

    def _hear(self, view: RaceView) -> None:
        self._boards.hear(view)
        self._progress.hear(view)
        self._heard.set()

    async def _tell_in_time(self) -> None:
        clock = self._connection.clock
        while True:
            now = clock.local()
            waits = [wait for wait in (self._boards.due(now), self._progress.due(now)) if wait is not None]
            if not waits:
                self._heard.clear()
                await self._heard.wait()
                continue
            await asyncio.sleep(min(waits))  # Until the next thing is due to be told.
            now = clock.local()
            self._say(*self._boards.tell(now))
            if (sentence := self._progress.tell(now)) is not None:
                self._say(sentence)

    def _say(self, *sentences: str) -> None:
        for sentence in sentences:
            self._write(printable(sentence))
