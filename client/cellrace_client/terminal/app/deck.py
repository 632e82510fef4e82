"""Decks: how cards look. Colours are for those who see them; what matters is told by a mark as well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from rich.style import Style

from cellrace.cards import RANKS, SUITS, SYMBOLS
from cellrace_client.language import _


class Light(Enum):
    """What is to be seen of a card or an empty place: whether it lies there, is picked up, or may be dropped on."""

    PLAIN = "plain"
    PICKED = "picked"
    TARGET = "target"
    HINT = "hint"


@dataclass(frozen=True)
class Deck:
    """The colours of one deck: the ink of each suit ♣ ♦ ♥ ♠, the paper in each light, the table beneath.

    `papers` has a second tone for every other card, so that cards that overlap can be told apart. A deck without
    colours leaves all of them out, and shows a light by reverse, bold and underline alone.
    """

    id: str
    inks: tuple[str, ...] = ()
    papers: tuple[str, str] = ("", "")
    lights: Mapping[Light, str] = field(default_factory=dict)
    table: str = ""
    place: str = ""
    red_papers: tuple[str, str] | None = None

    @property
    def colored(self) -> bool:
        """Whether there are colours at all."""
        return bool(self.inks)

    def card(self, card: int, light: Light, *, odd: bool = False) -> Style:
        """The style of a card's face."""
        if not self.colored:
            return _UNCOLORED[light]
        suit = card & 3
        papers = self.red_papers if self.red_papers and SUITS[suit] in "DH" else self.papers
        paper = papers[odd]
        ink = self.inks[suit]
        if light is not Light.PLAIN:
            paper = self.lights[light]
            # Ink that is meant for dark paper cannot be read on a light one.
            ink = "#000000" if self.red_papers else ink
        return Style(color=ink, bgcolor=paper, bold=True)

    def empty(self, light: Light) -> Style:
        """The style of an empty place."""
        if not self.colored:
            return _UNCOLORED[light] if light is not Light.PLAIN else Style(dim=True)
        if light is Light.PLAIN:
            return Style(color=self.place, bgcolor=self.table)
        return Style(color=self.lights[light], bgcolor=self.table, bold=True)

    @property
    def felt(self) -> Style:
        """The style of the table between the cards."""
        return Style(bgcolor=self.table) if self.colored else Style()

    @property
    def label(self) -> Style:
        """The style of what is written on the table."""
        return Style(color=self.place, bgcolor=self.table) if self.colored else Style(dim=True)


_UNCOLORED: dict[Light, Style] = {
    Light.PLAIN: Style(),
    Light.PICKED: Style(reverse=True, bold=True),
    Light.TARGET: Style(underline=True, bold=True),
    Light.HINT: Style(reverse=True),
}
_LIGHTS = {Light.PICKED: "#ffd966", Light.TARGET: "#c2f0bc", Light.HINT: "#c4e6ff"}
_PAPERS = ("#f7f4ea", "#e6e1d2")

DECKS: dict[str, Deck] = {
    deck.id: deck
    for deck in (
        # Red and black stay a warm and a cold pair, as most games build in alternating colours.
        Deck("four", ("#0b6b3a", "#9a4200", "#b00020", "#10131a"), _PAPERS, _LIGHTS, "#173226", "#86a894"),
        Deck("two", ("#10131a", "#b00020", "#b00020", "#10131a"), _PAPERS, _LIGHTS, "#173226", "#86a894"),
        Deck(
            "contrast",
            ("#000000", "#ffffff", "#ffffff", "#000000"),
            ("#ffffff", "#dddddd"),
            {Light.PICKED: "#ffff00", Light.TARGET: "#00ff66", Light.HINT: "#66ddff"},
            "#000000",
            "#ffffff",
            ("#a30000", "#850000"),
        ),
        Deck("none"),
    )
}
"""Every deck by its id, the first of them the one that is played with unless another is chosen."""


def deck_words(deck: Deck) -> str:
    """What a deck is called."""
    return {
        "four": _("four colours"),
        "two": _("two colours"),
        "contrast": _("high contrast"),
        "none": _("no colours"),
    }[deck.id]


def face_text(card: int, *, letters: bool) -> str:
    """The two characters of a card: `T♦`, or `TD` where the terminal has no suits."""
    return RANKS[card >> 2] + suit_text(card & 3, letters=letters)


def suit_text(suit: int, *, letters: bool) -> str:
    """A suit: `♦`, or `D` where the terminal has no suits."""
    return (SUITS if letters else SYMBOLS)[suit]


def next_deck(deck: Deck) -> Deck:
    """The deck after this one, round and round."""
    ids = list(DECKS)
    return DECKS[ids[(ids.index(deck.id) + 1) % len(ids)]]
