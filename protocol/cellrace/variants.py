"""The games as rows of data; everything else about a game is derived from its row (RULES, section 1)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from cellrace.cards import CARD_NAMES, RANKS, SUITS, is_red
from cellrace.errors import UnknownVariant


class Build(StrEnum):
    """What may lie on what in a column: one rank lower, and …"""

    COLOR = "color"
    SUIT = "suit"
    RANK = "rank"


class Run(StrEnum):
    """How many cards of a run one move may carry."""

    LIMITED = "limited"
    UNLIMITED = "unlimited"
    SINGLE = "single"


class Empty(StrEnum):
    """What may go to an empty column."""

    ANY = "any"
    KING = "king"


@dataclass(frozen=True, eq=False)
class Variant:
    """One game, as data.

    `ranks` run from low to high as columns see them, `home_order` as a suit goes home; `columns` is how many cards
    each column starts with; `cells_dealt` of the `cells` start with a card; `reserve` cards are left over.
    """

    id: str
    name: str
    columns: tuple[int, ...]
    cells: int
    suits: str = SUITS
    ranks: str = RANKS
    home_order: str = RANKS
    cells_dealt: int = 0
    build: Build = Build.COLOR
    run: Run = Run.LIMITED
    empty: Empty = Empty.ANY
    reserve: int = 0

    def __reduce__(self) -> tuple[object, tuple[str]]:
        # A row stays one object also in a worker process, so that rows compare by identity.
        return find_variant, (self.id,)

    @cached_property
    def pack(self) -> bytes:
        """The cards in home order, within a rank ♣ ♦ ♥ ♠: the order from which deals are drawn."""
        return bytes(RANKS.index(rank) * 4 + SUITS.index(suit) for rank in self.home_order for suit in self.suits)

    @property
    def pack_size(self) -> int:
        """How many cards the game is played with."""
        return len(self.pack)

    @cached_property
    def rank_index(self) -> bytes:
        """For each card its place in `ranks`; cards outside the pack have 64."""
        return bytes(self.ranks.index(name[0]) if name[0] in self.ranks else 64 for name in CARD_NAMES)

    @cached_property
    def home_index(self) -> bytes:
        """For each card how many of its suit go home before it; cards outside the pack have 64."""
        pack = set(self.pack)
        return bytes(self.home_order.index(name[0]) if card in pack else 64 for card, name in enumerate(CARD_NAMES))

    @cached_property
    def fits(self) -> frozenset[int]:
        """All `upper * 64 + lower` such that card `upper` may lie on card `lower` in a column."""
        return frozenset(
            upper * 64 + lower
            for upper in self.pack
            for lower in self.pack
            if self.rank_index[upper] + 1 == self.rank_index[lower] and self._suits_fit(upper, lower)
        )

    @cached_property
    def waits_for(self) -> tuple[tuple[int, ...], ...]:
        """For each card the suits that must be home as far as its own before it is safe at home (RULES, section 3)."""
        waits: list[tuple[int, ...]] = [()] * len(CARD_NAMES)
        if self.build is Build.COLOR:
            for card in self.pack:
                if self.home_index[card] > 1:  # What could lie on a second card goes home at once.
                    others = (other & 3 for other in self.pack if is_red(other) != is_red(card))
                    waits[card] = tuple(sorted(set(others)))
        return tuple(waits)

    def _suits_fit(self, upper: int, lower: int) -> bool:
        match self.build:
            case Build.COLOR:
                return is_red(upper) != is_red(lower)
            case Build.SUIT:
                return upper & 3 == lower & 3
            case Build.RANK:
                return True


_SIX_RANKS = "A6789TJQK"
_SIX_RANKS_ACE_HIGH = "6789TJQKA"
_FREECELL_COLUMNS = (7, 7, 7, 7, 6, 6, 6, 6)

VARIANTS: dict[str, Variant] = {
    variant.id: variant
    for variant in (
        Variant("freecell", "FreeCell", _FREECELL_COLUMNS, cells=4),
        Variant("marseille", "Marseille", (7,) * 7, cells=3, run=Run.UNLIMITED, reserve=3),
        Variant(
            "six-by-six",
            "Six by Six",
            (6,) * 6,
            cells=3,
            ranks=_SIX_RANKS,
            home_order=_SIX_RANKS,
            build=Build.SUIT,
            run=Run.SINGLE,
        ),
        Variant(
            "six-by-six-down",
            "Six by Six Down",
            (6,) * 6,
            cells=3,
            ranks=_SIX_RANKS_ACE_HIGH,
            home_order=_SIX_RANKS_ACE_HIGH[::-1],
            build=Build.SUIT,
            run=Run.SINGLE,
        ),
        Variant("two-suit", "Two Suit", (5, 5, 4, 4, 4, 4), cells=2, suits="HS"),
        Variant("one-suit", "One Suit", (5, 4, 4), cells=2, suits="S", build=Build.RANK),
        Variant("bakers-game", "Baker's Game", _FREECELL_COLUMNS, cells=4, build=Build.SUIT),
        Variant("relaxed", "Relaxed FreeCell", _FREECELL_COLUMNS, cells=4, run=Run.UNLIMITED),
        Variant("eight-off", "Eight Off", (6,) * 8, cells=8, cells_dealt=4, build=Build.SUIT, empty=Empty.KING),
        Variant("seahaven", "Seahaven Towers", (5,) * 10, cells=4, cells_dealt=2, build=Build.SUIT, empty=Empty.KING),
        Variant("forecell", "ForeCell", (6,) * 8, cells=4, cells_dealt=4, empty=Empty.KING),
    )
}

MAIN_VARIANTS: tuple[str, ...] = ("freecell", "marseille", "six-by-six", "six-by-six-down", "two-suit", "one-suit")
"""The games that the project exists for."""


def find_variant(variant_id: str) -> Variant:
    """The game of an id. Raises UnknownVariant."""
    variant = VARIANTS.get(variant_id)
    if variant is None:
        raise UnknownVariant(variant_id, tuple(VARIANTS))
    return variant
