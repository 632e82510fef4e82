"""What the commands of the line client do, apart from moves."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from cellrace.errors import ErrorCode, Refused, UnknownVariant
from cellrace.messages import Entrant, RaceState
from cellrace.rules_text import rules_paragraphs
from cellrace.variants import find_variant
from cellrace_client.connection import Connection
from cellrace_client.errors import Unclear
from cellrace_client.language import _, spoken
from cellrace_client.race_view import DONE, RaceView, goes_on
from cellrace_client.terminal.board_lines import board_lines
from cellrace_client.terminal.commands import Command, help_lines, says_yes
from cellrace_client.terminal.competing_commands import DEFAULT_GAME, WORDS_HERE, CompetingCommands
from cellrace_client.terminal.hints import find_hint, tell_hint, why_no_hint
from cellrace_client.terminal.move_words import home_words, move_words
from cellrace_client.terminal.questions import Question, daily_question, stop_question
from cellrace_client.terminal.race_lines import invitation, rematch_sentence, settings_sentences, summary_line
from cellrace_client.terminal.race_settings import read_settings
from cellrace_client.terminal.sentences import tell_race
from cellrace_client.terminal.standings_lines import entrants_lines
from cellrace_client.terminal.watching import board_of, first_board_lines, shown_boards
from cellrace_client.thinker import Thinker

Say = Callable[..., None]
Rename = Callable[[str], Awaitable[str | None]]
_CODE = re.compile(r"[2-9A-HJKMNP-Z]{8}", re.IGNORECASE)


class Commands:
    """Carries out commands; `race` is the one that they are about, `question` what waits for a yes."""

    def __init__(self, connection: Connection, say: Say, rename: Rename, *, interactive: bool) -> None:
        self.race: str | None = None
        self.question: Question | None = None
        self._connection = connection
        self._say = say
        self._rename = rename
        self._interactive = interactive
        self._thinker = Thinker()
        self._competing = CompetingCommands(connection, say)

    async def close(self) -> None:
        """Ends what was started for hints."""
        await self._thinker.close()

    def view(self) -> RaceView:
        """The race that the commands are about. Raises Refused where there is none."""
        if self.race is None:
            raise Refused(ErrorCode.NO_SUCH_RACE, "You are in no race; type list, join or open.")
        return self._connection.view(self.race)

    async def obey(self, command: Command) -> None:
        """Carries out a command other than quit and undo. Raises CellraceError where it cannot be."""
        connection, rest = self._connection, command.rest
        match command.word:
            case "help":
                self._say(*help_lines(rest[0] if rest else None))
            case "list":
                await self._list(rest[0] if rest else None)
            case "open":
                self._enter(await connection.create(read_settings(rest)))
            case "join":
                await self._join(rest)
            case "watch":
                await self._watch(rest)
            case "ready" | "unready":
                await connection.ready(self.view().race, command.word == "ready")
            case "start":
                await connection.start(self.view().race)
            case "kick":
                await self._kick(" ".join(rest))
            case "leave" | "concede" | "forfeit":
                await self._stop(command.word, sure=bool(rest) and says_yes(rest[0]))
            case "board":
                await self._board(" ".join(rest))
            case "legal":
                self._legal()
            case "hint":
                await self._hint()
            case "rules":
                self._rules(rest[0] if rest else None)
            case "standings":
                self._say(*entrants_lines(self.view()))
            case "race":
                self.tell_race(self.view())
                self._say(*settings_sentences(self.view()))
            case "wait":
                await self._wait()
            case "name":
                await self._name(" ".join(rest))
            case "rematch":
                await self._rematch(self.view())
            case "daily":
                await self._daily(rest)
            case word if word in WORDS_HERE:
                await self._competing.obey(command)
            case _:
                self._say(_("{word} cannot be done here.").format(word=command.word))

    def matched(self, race: str) -> None:
        """The queue has found a rival."""
        self.race = race
        self._competing.waiting = None

    async def wait_again(self) -> None:
        """Waits in the queue again, where that was going on before the connection dropped. Raises CellraceError."""
        if (race := await self._competing.wait_again()) is not None:
            self.matched(race.race)
            self.tell_race(race)

    async def _name(self, name: str) -> None:
        if not name:
            self._say(_("You are {name}; name NEW takes another name.").format(name=self._connection.player.name))
        elif (trouble := await self._rename(name)) is not None:
            self._say(trouble)

    def show_board(self, view: RaceView) -> None:
        """Shows one's board."""
        if view.game is None:
            self._say(_("There is no board before the start."))
            return
        self._say(*board_lines(view.game.board), home_words(view.game))

    def _enter(self, view: RaceView) -> None:
        self.race = view.race
        self.tell_race(view)

    async def _rematch(self, parent: RaceView) -> None:
        self._enter(await self._connection.rematch(parent.race))
        self._say(*filter(None, [rematch_sentence(parent)]))

    async def _list(self, variant: str | None) -> None:
        races = await self._connection.list_races(variant=variant, state=RaceState.OPEN)
        self._say(*[summary_line(summary) for summary in races] or [_("No race is open; type open.")])

    async def _join(self, rest: tuple[str, ...]) -> None:
        if len(rest) != 1:
            raise Unclear(_("Say which race: join RACE or join CODE; list tells those that are open."))
        self._enter(await _by_id_or_code(self._connection.join, rest[0]))

    async def _watch(self, rest: tuple[str, ...]) -> None:
        if len(rest) != 1:
            raise Unclear(_("Say which race: watch RACE or watch CODE."))
        view = await _by_id_or_code(self._connection.watch, rest[0])
        self._enter(view)
        if view.dealt is not None:
            self._say(*entrants_lines(view))

    async def _board(self, name: str) -> None:
        view = self.view()
        if not name and view.game is not None:
            self.show_board(view)
        elif view.dealt is None:
            self._say(_("There is no board before the start."))
        elif not name:
            shown = [line for player in shown_boards(view) for line in board_of(view, player)]
            self._say(*shown or first_board_lines(view))
        else:
            player = _named(view.entrants, name).player.id
            self._say(*board_of(await self._connection.with_logs(view.race), player))

    async def _kick(self, name: str) -> None:
        view = self.view()
        if not name:
            raise Unclear(_("Say whom: kick NAME."))
        await self._connection.kick(view.race, _named(view.rivals, name).player.id)

    async def _stop(self, word: str, *, sure: bool) -> None:
        view = self.view()
        me = view.me
        begun = view.state in (RaceState.COUNTDOWN, RaceState.RUNNING) and me is not None and me.status not in DONE

        async def stop() -> None:
            match word:
                case "leave" if me is None:
                    await self._connection.unwatch(view.race)
                    self.race = None
                    self._say(_("You watch the race no more."))
                case "leave":
                    await self._connection.leave(view.race)
                    self.race = None
                    self._say(_("You left the race."))
                case "concede":
                    await self._connection.concede(view.race)
                case _:
                    await self._connection.forfeit(view.race)

        if sure or not begun:
            await stop()
            return
        self._ask(stop_question(word, stop))

    async def _daily(self, rest: tuple[str, ...]) -> None:
        games = [word.lower() for word in rest if not says_yes(word)]
        variant = games[0] if games else DEFAULT_GAME

        async def begin() -> None:
            if (begun := await self._competing.daily(variant)) is not None:
                self._enter(begun)
                self.show_board(begun)

        # In a terminal nobody begins by mistake what can be begun once; a pipe says what it means.
        sure = not self._interactive or len(games) < len(rest)
        day = None if sure else await self._competing.daily_to_begin(variant)
        if day is None:
            await begin()
        else:
            self._ask(daily_question(day, begin))

    def _ask(self, question: Question) -> None:
        self._say(*question.asked)
        self.question = question

    def _legal(self) -> None:
        game = self.view().game
        if game is None:
            self._say(_("There is no board before the start."))
            return
        moves = game.board.legal_moves()
        self._say(*[f"{move}: {move_words(game.board, move)}." for move in moves] or [_("No move is possible.")])

    async def _hint(self) -> None:
        view = self.view()
        if (why := why_no_hint(view)) is not None:
            raise Unclear(why)
        if view.game is None or not view.playing:
            raise Unclear(_("There are hints only while you play."))
        move = await find_hint(self._thinker, view.game)
        self._say(tell_hint(view.game.board, move))

    def _rules(self, named: str | None) -> None:
        variant = find_variant(named.lower()) if named else self.view().variant
        if variant is None:
            raise UnknownVariant(self.view().settings.variant, ())
        for title, text in rules_paragraphs(variant, spoken()):
            self._say(f"{title}: {text}")

    def tell_race(self, view: RaceView) -> None:
        """Tells what is raced, by whom, and how others come in."""
        self._say(*tell_race(view))
        if (invited := invitation(view, self._connection.url)) is not None:
            self._say(" ".join(invited))

    async def _wait(self) -> None:
        if self.race is None and self._competing.waiting is not None:
            self.race = (await self._connection.race_where(goes_on)).race
        view = self.view()
        if view.state in (RaceState.OPEN, RaceState.COUNTDOWN):
            await self._connection.view_where(view.race, has_begun if view.me else _is_past_its_start)
        elif not view.ended:
            await self._connection.view_where(view.race, lambda view: view.ended)


def _named(entrants: Sequence[Entrant], name: str) -> Entrant:
    """The one of a name. Raises Unclear where there is none."""
    entrant = next((one for one in entrants if one.player.name.lower() == name.lower()), None)
    if entrant is None:
        raise Unclear(_("Nobody called {name} is in the race.").format(name=name))
    return entrant


class _AskForRace(Protocol):
    """A request that names a race by its id, or by its code."""

    async def __call__(self, race: str | None = None, *, code: str | None = None) -> RaceView: ...


async def _by_id_or_code(ask: _AskForRace, word: str) -> RaceView:
    """The race that a word names. Raises CellraceError."""
    try:
        return await ask(word)
    except Refused as refused:
        if refused.code != ErrorCode.NO_SUCH_RACE or not _CODE.fullmatch(word):
            raise
    return await ask(code=word)


def has_begun(view: RaceView) -> bool:
    """Whether a race runs or has ended, or oneself is out of it."""
    return _is_past_its_start(view) or view.me is None


def _is_past_its_start(view: RaceView) -> bool:
    return view.state not in (RaceState.OPEN, RaceState.COUNTDOWN)
