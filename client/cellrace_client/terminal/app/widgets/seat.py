"""One entrant among several who are watched: who it is and how it stands, and the board."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from cellrace.game import Game
from cellrace.messages import Entrant
from cellrace_client.language import _
from cellrace_client.race_view import DONE, RaceView
from cellrace_client.terminal.app.bars import bar
from cellrace_client.terminal.app.desk import Taste
from cellrace_client.terminal.app.fitting import fitted, fitted_name
from cellrace_client.terminal.app.widgets.board_view import BoardView
from cellrace_client.terminal.standings_lines import entrant_marks, status_text

_STATE = 16
"""Cells for how an entrant stands, beside the bar."""


class Seat(Vertical):
    """A board with its player's name and bar above it."""

    DEFAULT_CSS = """
    Seat { width: 1fr; height: 1fr; border-right: vkey $surface; }
    Seat > Static { height: 2; width: 1fr; padding: 0 1; background: $surface; }
    """

    def __init__(self, taste: Taste, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._taste = taste
        self._shown: tuple[Entrant, RaceView, int, Game | None] | None = None

    def compose(self) -> ComposeResult:
        """The name and the bar, then the board."""
        yield Static(Content(""), markup=False)
        yield BoardView(self._taste)

    def show(self, entrant: Entrant, view: RaceView, place: int, game: Game | None) -> None:
        """Shows how an entrant stands, and the board as far as it is told."""
        self._shown = (entrant, view, place, game)
        self._draw()

    def on_resize(self) -> None:
        """Shows the same in the room that there is now."""
        self._draw()

    def _draw(self) -> None:
        width = self.size.width - 3
        if self._shown is None or width < 10:
            return
        entrant, view, place, game = self._shown
        self.query_one(BoardView).show(game.board if game else None)
        pack = view.variant.pack_size if view.variant else 52
        right = f"{entrant.home}/{pack}"
        marks = entrant_marks(entrant, view.player)
        name = fitted_name(f"{place}. {entrant.player.name}", marks, width - len(right) - 1)
        state = status_text(entrant.status) if entrant.online or entrant.status in DONE else _("offline")
        drawn = bar(entrant.home, pack, max(4, width - _STATE - 1), letters=self._taste.letters)
        told = Content(f"{name} {right}\n{drawn} {fitted(state, _STATE)}").stylize("bold", 0, len(name))
        self.query_one(Static).update(told, layout=False)
