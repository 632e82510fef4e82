"""The game: one's own board, and everybody's bars beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.timer import Timer
from textual.widget import Widget

from cellrace.messages import EntrantStatus, MovedPush, ProgressPush, RaceState
from cellrace_client.events import Event, Happened
from cellrace_client.language import _
from cellrace_client.race_view import RaceView, changed
from cellrace_client.terminal.app.board_layout import narrowest
from cellrace_client.terminal.app.clock import clock_text, next_second
from cellrace_client.terminal.app.desk import Desk
from cellrace_client.terminal.app.held import carried_by
from cellrace_client.terminal.app.own_game import Stop
from cellrace_client.terminal.app.screens.board import BoardScreen
from cellrace_client.terminal.app.screens.dialogs import Choice, Menu, stop_question
from cellrace_client.terminal.app.widgets.board_view import BoardView
from cellrace_client.terminal.app.widgets.entrants_view import EntrantsView
from cellrace_client.terminal.app.widgets.lines import Key, MessageLine
from cellrace_client.terminal.counts import moves_counted
from cellrace_client.terminal.hints import find_hint, tell_hint, why_no_hint
from cellrace_client.terminal.speech import length_text
from cellrace_client.terminal.titles import race_title

BARS_EVERY = 0.1
"""Seconds between two drawings of the bars while rivals move: quick enough for the eye, and never a flood."""


class PlayScreen(BoardScreen):
    """One's own game."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2", "hint", show=False),
        Binding("escape", "let_go", show=False),
    ]
    DEFAULT_CSS = """
    PlayScreen #table { height: 1fr; }
    PlayScreen #entrants { height: 1fr; padding: 1 1 0 1; background: $surface; }
    """

    def __init__(self, desk: Desk, race: str) -> None:
        super().__init__(desk, race)
        self._ticking: Timer | None = None
        self._bars_due: Timer | None = None

    def middle(self) -> Iterable[Widget]:
        """The board, and the bars."""
        entrants = EntrantsView(self.desk.taste, id="entrants")
        if (view := self.view) is not None:
            # Before the first frame, in which the bars would take the board's room.
            _fit(entrants, view, self.app.size.width)
        with Horizontal(id="table"):
            yield BoardView(self.desk.taste, id="board")
            yield entrants

    def on_mount(self) -> None:
        """Says how moves are made, to somebody who has made none."""
        view = self.view
        if view is not None and view.playing and not view.log and not self.stopped:
            # Nothing can be said before the screen is there.
            self.call_after_refresh(
                self.answer, _("Type where from and where to (3a, 26, 7h), or use arrows or mouse. F1: more.")
            )

    # --- what is shown

    def head(self) -> tuple[str, str]:
        """The game and its deal; the clock, moves and cards home."""
        view, game = self.view, self.own.ahead.game
        if view is None:
            return "", ""
        left = race_title(view)
        if view.settings.ranked:
            left += f", {_('ranked')}"
        moves = moves_counted(game.moves)
        home = _("{home}/{pack} home").format(home=game.board.cards_home, pack=game.board.variant.pack_size)
        return left, f"{self._clock(view)}   {moves}   {home}"

    def _clock(self, view: RaceView) -> str:
        me = view.me
        if me is not None and me.status is EntrantStatus.WON and me.time is not None:
            return length_text(me.time)
        start = view.start_at or 0
        return f"{clock_text(self.desk.now() - start)} / {clock_text(view.settings.time_limit * 1000)}"

    def keys(self) -> list[Key]:
        """What can be done now."""
        view = self.view
        keys = [Key("F1", "rules", _("rules"))]
        if self.stopped:
            return [*keys, Key("Esc", "let_go", _("menu"))]
        if view is not None and view.playing:
            keys.append(Key("u", "undo", _("undo")))
            if why_no_hint(view) is None:
                keys.append(Key("F2", "hint", _("hint")))
            steps = _("at once") if self.desk.taste.steps else _("step by step")
            keys += [Key("F3", "app.next_deck", _("deck")), Key("F4", "steps", steps)]
        else:
            keys.append(Key("w", "watch", _("watch")))
        return [*keys, Key("Esc", "let_go", _("menu"))]

    def look_at_middle(self) -> None:
        """The board and the bars as they are now."""
        view = self.view
        if view is None:
            return
        _fit(self.query_one(EntrantsView), view, self.size.width)
        if not self.board_view.stepping:
            self.show_board()
        self._draw_bars()
        self._tick()
        if self.stopped and self.desk.trouble is not None:
            self.tell_stopped()
        elif view.state is RaceState.RUNNING and not view.playing and not self.query_one(MessageLine).said:
            self.say(_("Your game has ended; the race goes on for the others."))

    def _tick(self) -> None:
        """Draws the clock at each whole second of the race, while it goes."""
        view = self.view
        if self._ticking is not None:
            self._ticking.stop()
            self._ticking = None
        if view is not None and view.playing and view.start_at is not None:
            self._ticking = self.set_timer(next_second(self.desk.now() - view.start_at), self._on_second)

    def _on_second(self) -> None:
        self.look_at_head()
        self._tick()

    def hear(self, event: Event) -> None:
        """Rivals' progress is drawn now and then, everything else at once."""
        if not isinstance(event, Happened) or not isinstance(event.push, ProgressPush | MovedPush):
            super().hear(event)
        elif self.is_about(event) and self._bars_due is None and self.is_here:
            self._bars_due = self.set_timer(BARS_EVERY, self._draw_bars)

    def look_after_move(self) -> None:
        """The clock's line and one's own bar follow each move."""
        super().look_after_move()
        self._draw_bars()

    def _draw_bars(self) -> None:
        self._bars_due = None
        view, game = self.view, self.own.ahead.game
        if view is not None and self.is_here:
            # One's own bar is as far as one's own board.
            entrants = changed(view.entrants, view.player, home=game.board.cards_home, moves=game.moves)
            self.query_one(EntrantsView).show(replace(view, entrants=entrants) if view.playing else view)

    # --- what is done

    async def _on_key(self, event: events.Key) -> None:
        if event.character == "w" and not self.playing and not self.stopped:
            event.stop()
            self.action_watch()

    def action_hint(self) -> None:
        """Asks the solver."""
        view = self.view
        if view is None or not self.may_play():
            return
        why = why_no_hint(view)
        if why is not None:
            self.answer(why, refusal=True)
            return
        self.answer(_("Thinking …"))
        self.run_worker(self._find_hint(), group="hint", exclusive=True)

    async def _find_hint(self) -> None:
        game = self.own.ahead.game
        move = await find_hint(self.desk.thinker, game)
        if self.board == game.board:
            self.hint = None if move is None else carried_by(game.board, move)
            self.show_board()
            self.answer(tell_hint(game.board, move, self.desk.taste.card_words))

    def action_watch(self) -> None:
        """Looks at the others' boards, once one's own game has ended."""
        self.desk.guide.watch_race(self.race)

    def action_let_go(self) -> None:
        """Lets go of what is held, or opens the menu."""
        if self.hand.let_go() or self.hint is not None:
            self.hint = None
            self.show_board()
            return
        self.app.push_screen(Menu(_("Game"), self._choices()), self._chosen)

    def _choices(self) -> list[Choice]:
        view = self.view
        choices = [Choice("on", _("Play on"))]
        if self.stopped:
            choices = [Choice("on", _("Stay here"))]
        elif view is not None and view.playing:
            choices += [
                Choice("concede", _("Concede: be ranked by your cards home")),
                Choice("forfeit", _("Forfeit: give the race up")),
            ]
        elif view is not None and view.state is RaceState.RUNNING:
            choices = [Choice("on", _("Stay here")), Choice("watch", _("Watch the others"))]
        return [*choices, Choice("lobby", _("To the lobby; the race goes on")), Choice("leave", _("Quit"))]

    def _chosen(self, choice: str | None) -> None:
        match choice:
            case "concede" | "forfeit":
                self.app.push_screen(stop_question(choice), lambda sure: self._stop(choice) if sure else None)
            case "watch":
                self.action_watch()
            case "lobby":
                self.desk.guide.show_lobby()
            case "leave":
                self.desk.guide.leave()
            case _:
                pass

    def _stop(self, how: Stop) -> None:
        if not self.stopped:
            self.hand.let_go()
            self.ask(self.own.stop(how))
            self.look()


def _fit(entrants: EntrantsView, view: RaceView, width: int) -> None:
    """The bars have what the board does not need."""
    left = width - (narrowest(view.variant) if view.variant else width)
    entrants.styles.width = max(0, min(max(20, min(36, width * 3 // 10)), left))
    entrants.display = left >= 14
