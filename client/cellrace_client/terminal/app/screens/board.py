"""One's own board under one's hands: keys and mouse make moves, which show at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from cellrace.board import Board
from cellrace.errors import IllegalMove
from cellrace.notation import UNDO
from cellrace_client.language import _
from cellrace_client.terminal.app.board_painter import Marks
from cellrace_client.terminal.app.desk import Desk
from cellrace_client.terminal.app.hand import Asked, Hand, Play, Refuse, Way
from cellrace_client.terminal.app.held import Held, targets
from cellrace_client.terminal.app.keys import notation_letter
from cellrace_client.terminal.app.own_game import OwnGame
from cellrace_client.terminal.app.screens.base import RaceScreen
from cellrace_client.terminal.app.steps import boards_between
from cellrace_client.terminal.app.widgets.board_view import BoardView
from cellrace_client.terminal.move_words import why_not


class BoardScreen(RaceScreen):
    """A screen with one's own board, `#board`, on it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f4", "steps", show=False),
        Binding("left", "go('left')", show=False),
        Binding("right", "go('right')", show=False),
        Binding("up", "go('up')", show=False),
        Binding("down", "go('down')", show=False),
        Binding("space,enter", "choose", show=False),
        Binding("plus,shift+up", "hold_more(1)", show=False),
        Binding("minus,shift+down", "hold_more(-1)", show=False),
    ]

    def __init__(self, desk: Desk, race: str) -> None:
        super().__init__(desk, race)
        self.hand = Hand()
        self.hint: tuple[Held, int] | None = None
        self._answered = False
        view = self.view
        assert view is not None, "this screen is made for a race that is known, be it lost afterwards"
        self.own = self.desk.own_game(view, self._start)

    def _start(self, game: OwnGame) -> None:
        # The app's and not this screen's: what was typed is sent from any.
        self.app.run_worker(game.run(), name="moves")

    @property
    def board(self) -> Board:
        """The board as it is shown."""
        return self.own.ahead.game.board

    @property
    def playing(self) -> bool:
        """Whether one can move."""
        view = self.view
        return view is not None and view.playing and not self.stopped and not self.own.ahead.game.won

    @property
    def stopped(self) -> bool:
        """Whether the player has stopped, and the server has not said yet that it knows."""
        view = self.view
        return view is not None and view.playing and self.own.stopping is not None

    @property
    def board_view(self) -> BoardView:
        """The board on the screen."""
        return self.query_one("#board", BoardView)

    def show_board(self, through: Sequence[Board] = ()) -> None:
        """Shows the board with what is marked on it."""
        board, held = self.board, self.hand.held
        lit = targets(board, held) if held else frozenset()
        self.board_view.show(board, Marks(held, lit, self.hint, self.hand.cursor), through)

    def moves_waiting(self) -> int:
        """How many moves are not on record yet."""
        return self.own.ahead.waiting

    def may_play(self) -> bool:
        """Whether one can move; whoever has stopped is told why not."""
        if self.stopped:
            self.tell_stopped()
        return self.playing

    def tell_stopped(self) -> None:
        """Says that the player has stopped, and what the server is still to be told."""
        match self.own.stopping, self.desk.trouble is not None:
            case "concede", True:
                self.answer(_("You have conceded; the server is told when the connection is back."))
            case "concede", False:
                self.answer(_("You have conceded; the server has not answered yet."))
            case "forfeit", True:
                self.answer(_("You have forfeited; the server is told when the connection is back."))
            case "forfeit", False:
                self.answer(_("You have forfeited; the server has not answered yet."))
            case _:
                pass

    def say(self, sentence: str, *, refusal: bool = False) -> None:
        """Says a sentence; the board may be another one, since moves were taken back."""
        self._answered = False
        super().say(sentence, refusal=refusal)
        if self.is_here and not self.board_view.stepping:
            self.show_board()

    def answer(self, sentence: str, *, refusal: bool = False) -> None:
        """Says a sentence about what was just done, until the next move."""
        self._answered = True
        super().say(sentence, refusal=refusal)

    # --- what hands do

    async def _on_key(self, event: events.Key) -> None:
        letter = notation_letter(event.character)
        if letter is not None and self.may_play():
            event.stop()
            self._do(self.hand.type(letter, self.board), may_grow=True)

    def _do(self, asked: Asked, *, may_grow: bool = False) -> None:
        match asked:
            case Play(move, instead):
                self._play(move, instead=instead, may_grow=may_grow and self.hand.may_grow)
            case Refuse(sentence):
                self.show_board()
                self.answer(sentence, refusal=True)
            case None:
                self.show_board()

    def _play(self, move: str, *, instead: bool, may_grow: bool) -> None:
        before = self.board
        try:
            step = self.own.play(move, instead=instead, may_grow=may_grow)
        except IllegalMove as illegal:
            self.show_board()
            why = why_not(before, illegal, self.desk.taste.card_words)
            told = _("{move} is not possible. {reason}").format(move=illegal.move or move, reason=why)
            self.answer(told, refusal=True)
            return
        self.hint = None
        steps = self.desk.taste.steps and not instead
        self.show_board(boards_between(before, step) if steps else ())
        if move == UNDO:
            self.answer(_("Taken back."))
        elif self._answered:
            # What was said of the last move is over; what was said of others stays.
            self._answered = False
            super().say("")
        self.look_after_move()

    def look_after_move(self) -> None:
        """Shows what a move changes beside the board."""
        self.look_at_head()

    def action_undo(self) -> None:
        """Takes the last move back."""
        if self.may_play():
            self._do(self.hand.type(UNDO, self.board))

    def action_go(self, way: str) -> None:
        """Moves the cursor."""
        self.hand.go(Way(way), self.board)
        self.show_board()

    def action_choose(self) -> None:
        """Picks up or drops at the cursor."""
        if self.may_play():
            self._do(self.hand.choose(self.board))

    def action_hold_more(self, more: int) -> None:
        """Holds more cards of a run, or fewer."""
        self.hand.hold_more(more, self.board)
        self.show_board()

    def _on_board_view_pressed(self, event: BoardView.Pressed) -> None:
        if self.may_play():
            self._do(self.hand.press(event.hit, self.board))

    def _on_board_view_released(self, event: BoardView.Released) -> None:
        if self.may_play():
            self._do(self.hand.release(event.hit, self.board))

    def _on_board_view_double_clicked(self, event: BoardView.DoubleClicked) -> None:
        if self.may_play():
            self.hand.held = Held(event.hit.pile)
            self._do(self.hand.go_home(self.board))

    def action_steps(self) -> None:
        """Shows moves step by step, or at once."""
        taste = self.desk.taste
        taste.steps = not taste.steps
        self.say(_("Moves are shown step by step.") if taste.steps else _("Moves are shown at once."))
        if (trouble := taste.keep(steps=taste.steps)) is not None:
            self.say(trouble, refusal=True)
        self.look()
