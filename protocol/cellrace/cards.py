"""Cards as small integers: `rank * 4 + suit`, ranks ace to king, suits ♣ ♦ ♥ ♠; all packs share the numbering."""

from __future__ import annotations

from cellrace.errors import InvalidText

RANKS = "A23456789TJQK"
SUITS = "CDHS"
SYMBOLS = "♣♦♥♠"
RED_SUITS = "DH"

CARD_NAMES: tuple[str, ...] = tuple(rank + suit for rank in RANKS for suit in SUITS)
_CARDS: dict[str, int] = {name: card for card, name in enumerate(CARD_NAMES)}

NO_CARD = 52
"""What an empty cell holds."""


def card_name(card: int) -> str:
    """The name of a card, rank then suit: `TD`, `AS`."""
    return CARD_NAMES[card]


def parse_card(text: str) -> int:
    """The card of a name, read leniently: any case, `10` for `T`.

    Raises InvalidText when it names no card.
    """
    name = text.strip().upper().replace("10", "T")
    card = _CARDS.get(name)
    if card is None:
        raise InvalidText(f"{text!r} is no card; a card is a rank {RANKS} and a suit {SUITS}, as TD or AS.")
    return card


def card_symbol(card: int) -> str:
    """The name of a card with its suit as a symbol: `T♦`."""
    return RANKS[card >> 2] + SYMBOLS[card & 3]


def is_red(card: int) -> bool:
    """Whether the card is a diamond or a heart."""
    return SUITS[card & 3] in RED_SUITS
