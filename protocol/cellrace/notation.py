"""Moves in the field's standard notation: source pile, target pile, and `v` with a count (protocol, section 3)."""

from __future__ import annotations

from typing import NamedTuple

from cellrace.errors import IllegalMove, InvalidText, Reason

COLUMN_LETTERS = "1234567890"
CELL_LETTERS = "abcdefgk"
HOME_LETTER = "h"
RESERVE_LETTER = "r"
UNDO = "u"

# Piles by their numbers; columns are 0 to 9.
FIRST_CELL = 10
HOME = 18
RESERVE = 19


class Move(NamedTuple):
    """A parsed move: piles as numbers, and how many cards were asked for.

    Columns are 0–9, cells 10–17, then HOME and RESERVE; `cards` is 0 where the move did not say.
    """

    source: int
    target: int
    cards: int


def _spellings() -> dict[str, Move]:
    columns = dict(zip(COLUMN_LETTERS, range(len(COLUMN_LETTERS)), strict=True))
    cells = dict(zip(CELL_LETTERS, range(FIRST_CELL, FIRST_CELL + len(CELL_LETTERS)), strict=True))
    moves = {
        source + target: Move(piles[source], targets[target], 0)
        for piles, targets in (
            (columns | cells, columns | cells | {HOME_LETTER: HOME}),
            ({RESERVE_LETTER: RESERVE}, columns),
        )
        for source in piles
        for target in targets
    }
    for source in columns:
        for target in columns:
            for count in range(1, 14):
                moves[f"{source}{target}v{count:x}"] = Move(columns[source], columns[target], count)
    return moves


MOVES: dict[str, Move] = _spellings()
"""Every exact spelling of a move, except `u`."""

PILE_LETTERS: str = COLUMN_LETTERS + CELL_LETTERS + HOME_LETTER + RESERVE_LETTER
"""The letter of each pile by its number."""


def parse_move(text: str) -> Move:
    """The move of its exact spelling. Raises IllegalMove with `bad_notation`."""
    move = MOVES.get(text)
    if move is None:
        raise IllegalMove(Reason.BAD_NOTATION, text)
    return move


def move_text(source: int, target: int, count: int = 0) -> str:
    """The spelling of a move between pile numbers; a `count` above 0 is written after `v`."""
    suffix = f"v{count:x}" if count else ""
    return f"{PILE_LETTERS[source]}{PILE_LETTERS[target]}{suffix}"


def parse_moves(text: str) -> list[str]:
    """The moves of a listing: words, or words run together, in any case; `#` begins a comment.

    Each is a spelling to be judged later. Raises InvalidText where a word cannot be cut into moves.
    """
    moves: list[str] = []
    for line in text.splitlines():
        for word in line.partition("#")[0].lower().split():
            moves.extend(_cut(word))
    return moves


def _cut(word: str) -> list[str]:
    moves: list[str] = []
    rest = word
    while rest:
        for length in (4, 2, 1):
            head = rest[:length]
            if head in MOVES or head == UNDO:
                moves.append(head)
                rest = rest[length:]
                break
        else:
            raise InvalidText(f"{word!r} is no move; write a source and a target, as 26, 3a, b5, 7h or 26v3.")
    return moves


def moves_text(moves: list[str] | tuple[str, ...]) -> str:
    """Moves as the field prints them: ten to a line."""
    return "\n".join(" ".join(moves[i : i + 10]) for i in range(0, len(moves), 10))
