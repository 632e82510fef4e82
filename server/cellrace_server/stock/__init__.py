"""Numbers of deals that are proved winnable, from which races are drawn; with the proof's moves.

    load_stock("two-suit").numbers         the numbers, in ascending order
    load_stock("two-suit").proof(4711)     moves that win the deal, every card that goes home among them

One file a game, read when it is asked for, made by `python -m cellrace_server.stock make`; a game without a file is one
whose numbers are published: `freecell`, 1 to 1,000,000 without the eight that cannot be won (RULES, section 5). For a
game with a reserve each proof lays it on columns 1, 2, 3, so that both settings of `placement` can use the deal.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import overload

from cellrace.autoplay import Autoplay
from cellrace.board import dealt_board
from cellrace.deals import UNWINNABLE_FREECELL_DEALS, deal
from cellrace.game import Game
from cellrace.variants import Variant, find_variant
from cellrace_server.stock.packing import PackedStock, read_stock

__all__ = ["PUBLISHED", "NumbersWithout", "Stock", "load_stock", "whole_proof"]


class NumbersWithout(Sequence[int]):
    """The numbers 1 to `last` without a few, as a sequence that stores only those few."""

    def __init__(self, last: int, without: frozenset[int]) -> None:
        self._last = last
        self._without = sorted(without)
        # How many numbers precede each gap: the place of a number tells how many gaps lie before it.
        self._places = [number - 1 - gaps for gaps, number in enumerate(self._without)]

    def __len__(self) -> int:
        return self._last - len(self._without)

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[int]: ...
    def __getitem__(self, place: int | slice) -> int | Sequence[int]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        if place < 0:
            place += len(self)
        if not 0 <= place < len(self):
            raise IndexError(place)
        return place + 1 + bisect_right(self._places, place)

    def without(self, more: Iterable[int]) -> NumbersWithout:
        """The sequence without some more of its numbers."""
        return NumbersWithout(self._last, frozenset(self._without) | {n for n in more if 1 <= n <= self._last})

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and 1 <= number <= self._last and number not in self._without


@dataclass(frozen=True, slots=True)
class Stock:
    """The numbers of one game; `packed` holds the proofs, where it is not published that the numbers can be won."""

    variant: Variant
    numbers: Sequence[int]
    packed: PackedStock | None = None

    def proof(self, number: int) -> tuple[str, ...] | None:
        """Moves that win a deal in a game without autoplay; None where the proof is published elsewhere.

        Raises KeyError for a number that is not in the stock.
        """
        if number not in self:
            raise KeyError(number)
        if self.packed is None:
            return None
        return whole_proof(self.variant, number, self.packed.moves(bisect_left(self.numbers, number)))

    def without(self, had: frozenset[int]) -> Sequence[int]:
        """The numbers that are left when some are taken away."""
        if isinstance(self.numbers, NumbersWithout):
            return self.numbers.without(had)
        return [number for number in self.numbers if number not in had]

    def __contains__(self, number: int) -> bool:
        if isinstance(self.numbers, NumbersWithout):
            return number in self.numbers
        place = bisect_left(self.numbers, number)
        return place < len(self.numbers) and self.numbers[place] == number


PUBLISHED: dict[str, Sequence[int]] = {"freecell": NumbersWithout(1_000_000, UNWINNABLE_FREECELL_DEALS)}
"""The games whose winnable numbers are known without a search of ours."""


def whole_proof(variant: Variant, number: int, sent: Iterable[str]) -> tuple[str, ...]:
    """A proof with what goes home by itself, which is not stored, for the board tells it. Raises IllegalMove."""
    game = Game(dealt_board(variant, deal(variant, number)), Autoplay.SAFE)
    _, steps = game.play_all(sent)
    return tuple(move for step in steps for move in step)


@cache
def load_stock(variant_id: str) -> Stock:
    """The stock of a game. Raises UnknownVariant."""
    variant = find_variant(variant_id)
    published = PUBLISHED.get(variant.id)
    if published is not None:
        return Stock(variant, published)
    packed = read_stock(files(__package__).joinpath(f"{variant.id}.bin").read_bytes())
    return Stock(variant, packed.numbers, packed)
