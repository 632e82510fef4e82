"""What a key means in play: a letter of the notation, on whatever keyboard layout it was typed. Pure."""

from __future__ import annotations

from cellrace.notation import PILE_LETTERS
from cellrace_client.terminal.keyboard import latin_by_place

UNDO_LETTER = "u"
COUNT_LETTER = "v"
COUNTS = "123456789abcd"
"""How many cards a move may carry, as hexadecimal digits."""


def notation_letter(character: str | None) -> str | None:
    """The letter of the notation that a key stands for; None for a key that stands for none.

    A key counts by its place: on a Cyrillic layout the notation is typed without switching.
    """
    if character is None or len(character) != 1:
        return None
    letter = latin_by_place(character.lower())
    return letter if letter in PILE_LETTERS or letter in (UNDO_LETTER, COUNT_LETTER) else None


def pile_of(letter: str) -> int:
    """The pile of a letter."""
    return PILE_LETTERS.index(letter)
