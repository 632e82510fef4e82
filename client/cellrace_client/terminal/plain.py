"""The line client: a race in plain lines, for a pipe, a dumb terminal, a screen reader, or whoever likes it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from enum import IntEnum

from cellrace.errors import CellraceError, ErrorCode, IllegalMove, Refused
from cellrace.messages import MAX_MOVES, EntrantStatus, MovedPush, RaceState, StartedPush
from cellrace.notation import UNDO
from cellrace_client.connection import Connection
from cellrace_client.errors import Closed, Unclear, Unreachable
from cellrace_client.events import Back, Event, Happened, Matched, Renamed, Synced
from cellrace_client.language import _
from cellrace_client.race_view import DONE, RaceView
from cellrace_client.terminal.commands import Command, Moves, Unknown, read_line, says_no, says_yes
from cellrace_client.terminal.move_words import tell_moves, why_not
from cellrace_client.terminal.plain_commands import Commands, has_begun
from cellrace_client.terminal.progress import ProgressTeller
from cellrace_client.terminal.refusals import refusal_text
from cellrace_client.terminal.sentences import countdown_text, tell_event
from cellrace_client.terminal.speech import folded, printable
from cellrace_client.terminal.typed_lines import TypedLines
from cellrace_client.terminal.watching import first_board_lines, tell_moved

PROGRESS_EVERY = 10.0
"""Seconds between two sentences about the progress of rivals, unless somebody wants it otherwise."""


class Ending(IntEnum):
    """How a session ended, as an exit status."""

    WELL = 0
    NOT_WELL = 1


class PlainClient:
    """One player at the lines of a connection.

    `interactive` is False for a pipe: then moves wait for the start of a race, a refusal makes the exit status 1, and
    at the end of the input a game that has ended waits for the standings. `lasting` says whether the server is still
    there afterwards. `width` tells how wide the terminal is that is written to, None where it is none. `rename` takes
    another name where that is kept elsewhere too.
    """

    def __init__(
        self,
        connection: Connection,
        lines: TypedLines,
        say: Callable[[str], None],
        *,
        interactive: bool,
        lasting: bool = True,
        progress_every: float = PROGRESS_EVERY,
        width: Callable[[], int | None] = lambda: None,
        rename: Callable[[str], Awaitable[str | None]] | None = None,
    ) -> None:
        self._connection = connection
        self._lines = lines
        self._write = say
        self._interactive = interactive
        self._lasting = lasting
        self._width = width
        self._progress = ProgressTeller(progress_every)
        self._heard = asyncio.Event()
        self._came_back = asyncio.Event()
        self._commands = Commands(connection, self.say, rename or connection.rename, interactive=interactive)
        self._refusals = 0
        self._told: RaceView | None = None

    def say(self, *sentences: str) -> None:
        """Says sentences, a line each, with nothing in them that a terminal would obey."""
        for sentence in sentences:
            for line in folded(printable(sentence), self._width()):
                self._write(line)

    async def run(self, race: str | None = None) -> Ending:
        """Plays until `quit` or the end of the input. Raises CellraceError when the connection ends before."""
        self._commands.race = race
        self.say(_("You are {name}. Type help for what you can type.").format(name=self._connection.player.name))
        if race is not None:
            self._told = self._connection.view(race)
            self._commands.tell_race(self._told)
            self._show_board(self._told)
        telling = asyncio.create_task(self._tell_events())
        ticking = asyncio.create_task(self._tell_progress())
        rejoining = asyncio.create_task(self._rejoin())
        typing = asyncio.create_task(self._obey_lines())
        try:
            await asyncio.wait((telling, typing), return_when=asyncio.FIRST_COMPLETED)
            if not typing.done():
                # The connection has ended for good, and with it whatever the lines could ask.
                await telling
                return Ending.NOT_WELL
            # What was told last must be heard: the events end with the connection.
            await self._connection.close()
            await telling
            return typing.result()
        finally:
            tasks = (typing, ticking, telling, rejoining)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._commands.close()

    # --- what happens

    async def _tell_events(self) -> None:
        async for event in self._connection.events():
            self._tell(event)

    def _tell(self, event: Event) -> None:
        nothing_new = self._says_nothing_new(event)
        sentences = [] if nothing_new else tell_event(event, self._connection.clock.now())
        if not isinstance(event, Happened | Synced):
            if isinstance(event, Matched):
                self._commands.matched(event.race)
            self.say(*sentences)
            if isinstance(event, Back | Renamed):
                self._came_back.set()
            return
        view = event.view
        if view.race != self._commands.race:
            of_another = _("Race {race}: {sentence}")
            for sentence in sentences:
                self.say(sentence if view.race in sentence else of_another.format(race=view.race, sentence=sentence))
            return
        self.say(*sentences)
        if isinstance(event, Happened) and isinstance(event.push, MovedPush) and view.me is None:
            self.say(*tell_moved(event, event.push))
        self._progress.hear(view)
        self._heard.set()
        if isinstance(event, Happened):
            if isinstance(event.push, StartedPush) and event.before.dealt is None:
                self._show_board(view)
        elif not nothing_new and view.game is not None and (event.before is None or event.before.log != view.log):
            self._show_board(view)

    def _says_nothing_new(self, event: Event) -> bool:
        """Whether it is the arrival at the race that was told at the beginning."""
        told = self._told
        if told is None or told.ended or not isinstance(event, Synced) or event.before is not None:
            return False
        return (event.view.race, event.view.version, event.view.log) == (told.race, told.version, told.log)

    async def _rejoin(self) -> None:
        """Waits for a rival again after each drop, as the server forgets with the connection who waits."""
        while True:
            await self._came_back.wait()
            self._came_back.clear()
            try:
                await self._commands.wait_again()
            except (Closed, Unreachable):
                return
            except CellraceError as refused:
                self.say(refusal_text(refused))

    async def _tell_progress(self) -> None:
        clock = self._connection.clock
        while True:
            wait = self._progress.due(clock.local())
            if wait is None:
                self._heard.clear()
                await self._heard.wait()
            else:
                await asyncio.sleep(wait)  # Until the next sentence about progress is due.
                if (sentence := self._progress.tell(clock.local())) is not None:
                    self.say(sentence)

    def _show_board(self, view: RaceView) -> None:
        if view.playing:
            self._commands.show_board(view)
        elif view.me is None:
            self.say(*first_board_lines(view))

    # --- what is typed

    async def _obey_lines(self) -> Ending:
        while (line := await self._lines.next()) is not None:
            try:
                if not await self._obey(line):
                    self._tell_what_goes_on()
                    return self._ending(Ending.WELL)
            except (Closed, Unreachable):
                raise
            except CellraceError as refused:
                self._refusals += 1
                self.say(*self._refusal_sentences(refused))
        return self._ending(await self._finish())

    def _ending(self, ending: Ending) -> Ending:
        return Ending.NOT_WELL if self._refusals and not self._interactive else ending

    async def _obey(self, line: str) -> bool:
        """Does what a line asks for; False when it asks for the end."""
        asked = read_line(line)
        question, self._commands.question = self._commands.question, None
        if question is not None:
            if says_yes(line):
                await question.do()
                return True
            self.say(question.otherwise)
            if says_no(line):
                return True
        match asked:
            case None:
                pass
            case Unknown():
                self._refusals += 1
                self.say(asked.sentence)
            case Moves():
                await self._play(asked.moves)
            case Command(word="quit"):
                return False
            case Command(word="undo"):
                await self._undo(asked.rest)
            case Command():
                await self._commands.obey(asked)
        return True

    async def _undo(self, rest: tuple[str, ...]) -> None:
        count = rest[0] if rest else "1"
        if not (count.isascii() and count.isdigit() and 1 <= int(count[:4]) <= MAX_MOVES):
            raise Unclear(_("Say how many moves to take back, 1 to {most}: undo 3.").format(most=MAX_MOVES))
        await self._play((UNDO,) * int(count))

    async def _play(self, moves: Sequence[str]) -> None:
        view = self._commands.view()
        if not self._interactive and _is_about_to_start(view):
            view = await self._connection.view_where(view.race, has_begun)
        for start in range(0, len(moves), MAX_MOVES):
            before = self._connection.view(view.race).game
            moved = await self._connection.move(view.race, *moves[start : start + MAX_MOVES])
            if before is not None:
                self.say(*tell_moves(before, moved.steps)[0])
        after = self._connection.view(view.race)
        if after.game is not None and not after.game.won:
            self._commands.show_board(after)

    def _refusal_sentences(self, refused: CellraceError) -> list[str]:
        why = refusal_text(refused)
        if not isinstance(refused, Refused):
            return [why]
        if refused.code == ErrorCode.ILLEGAL_MOVE and refused.move is not None:
            game = self._commands.view().game
            if refused.reason is not None and game is not None and not refused.index:
                why = why_not(game.board, IllegalMove(refused.reason, refused.move))
            told = _("{move} is not possible. {reason}").format(move=refused.move, reason=why)
            return [told] if not refused.index else [told, _("None of the moves on this line was played.")]
        if refused.code == ErrorCode.NOT_STARTED:
            view = self._commands.view()
            if view.start_at is not None:
                return [countdown_text(view.start_at - self._connection.clock.now())]
        return [why]

    # --- the end

    def _tell_what_goes_on(self) -> None:
        view = self._connection.races.get(self._commands.race or "")
        if self._lasting and view is not None and view.playing:
            self.say(
                _("Your game in race {race} is not over. Come back within {seconds} s to go on with it.").format(
                    race=view.race, seconds=view.settings.grace
                )
            )

    async def _finish(self) -> Ending:
        """At the end of the input: the standings of a game that has ended are waited for, another is left as it is."""
        if self._interactive:
            # Ctrl-D is how a person says quit.
            self._tell_what_goes_on()
            return Ending.WELL
        view = self._connection.races.get(self._commands.race or "")
        if view is None or view.me is None:
            return Ending.WELL
        if view.state is RaceState.RUNNING and view.me.status in DONE:
            self.say(_("Waiting for the others to end their games."))
            view = await self._connection.view_where(view.race, lambda view: view.ended)
        if view.ended:
            return Ending.WELL
        self._tell_what_goes_on()
        return Ending.NOT_WELL


def _is_about_to_start(view: RaceView) -> bool:
    """Whether a start is what a person at a pipe has asked for: the countdown runs, or one is ready."""
    ready = view.me is not None and view.me.status is EntrantStatus.READY
    return view.state is RaceState.COUNTDOWN or (view.state is RaceState.OPEN and ready)
