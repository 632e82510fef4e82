"""How the screen is liked, changed by keys and kept: the part of the app that is about looks alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from textual.app import App
from textual.filter import LineFilter, NoColor

from cellrace_client.language import _
from cellrace_client.terminal.app.deck import deck_words, next_deck
from cellrace_client.terminal.app.desk import Desk
from cellrace_client.terminal.app.plain_marks import PlainMarks
from cellrace_client.terminal.app.themes import THEMES
from cellrace_client.terminal.app.widgets.board_view import BoardView

T = TypeVar("T")


class TastefulApp(App[T]):
    """An app that wears a deck."""

    desk: Desk
    _kept_colorless: bool

    def say(self, sentence: str, *, refusal: bool = False) -> None:
        """Says a sentence on the screen that is shown."""
        raise NotImplementedError

    def wear_taste(self) -> None:
        """Looks from now on as the desk's taste asks for."""
        self._kept_colorless = self.no_color
        for theme in THEMES:
            self.register_theme(theme)
        self._wear_deck()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Takes every colour out where there are to be none, and every sign that is no letter where there are none."""
        filters = [NoColor()] if self.no_color else super().get_line_filters()
        return [*filters, PlainMarks()] if self.desk.taste.letters else filters

    def _wear_deck(self) -> None:
        deck = self.desk.taste.deck
        self.no_color = self._kept_colorless or not deck.colored
        self.theme = "contrast" if deck.id == "contrast" else "table"

    def action_next_deck(self) -> None:
        """Takes the next deck."""
        if self._kept_colorless:
            self.say(_("NO_COLOR is set: there are no colours."))
            return
        deck = self.desk.taste.deck = next_deck(self.desk.taste.deck)
        self._wear_deck()
        self._draw_anew()
        self.say(_("Deck: {deck}.").format(deck=deck_words(deck)))
        self._keep(deck=deck.id)

    def action_letters(self) -> None:
        """Shows suits as letters, or as signs again."""
        taste = self.desk.taste
        if not taste.suits:
            self.say(_("This terminal has no signs for suits."))
            return
        taste.letters = not taste.letters
        self._draw_anew()
        self._keep(letters=taste.letters)

    def _draw_anew(self) -> None:
        for board in self.screen.query(BoardView):
            board.repaint()
        self.refresh(layout=True)

    def _keep(self, **liked: str | bool) -> None:
        if (trouble := self.desk.taste.keep(**liked)) is not None:
            self.say(trouble, refusal=True)
