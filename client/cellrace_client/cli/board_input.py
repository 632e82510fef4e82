"""Boards as people hand them over: what our own commands print, in lines or in JSON, and the text of solvers."""

from __future__ import annotations

from typing import TextIO

import click
import msgspec

from cellrace.board import Board
from cellrace.board_text import named_board, parse_board
from cellrace.cards import SUITS, SYMBOLS
from cellrace.errors import InvalidText, UnknownVariant
from cellrace.notation import CELL_LETTERS, COLUMN_LETTERS
from cellrace.variants import VARIANTS, Variant, find_variant
from cellrace_client.cli.cases import CaseBoard
from cellrace_client.language import _

_LETTERS = str.maketrans(SYMBOLS, SUITS)
_NO_CARD = "--"
_NOTHING_HOME = "-"


class _Told(msgspec.Struct, frozen=True):
    """What `deal --json` prints, or `check --json`, whose board is a part of it."""

    variant: str | None = None
    columns: list[list[str]] | None = None
    cells: list[str | None] | None = None
    homes: dict[str, str | None] | None = None
    reserve: list[str] | None = None
    board: CaseBoard | None = None


def read_text(file: TextIO) -> str:
    """What stands in a file."""
    try:
        return file.read()
    except UnicodeDecodeError as unreadable:
        raise click.UsageError(f"{file.name} is not UTF-8 text: {unreadable}") from unreadable


def read_board(file: TextIO, variant: Variant, *, named: bool) -> Board:
    """The board in a file, of the game that is `named`, or else of the one that the file names."""
    text = read_text(file)
    try:
        if text.lstrip().startswith("{"):
            return _read_json(text, variant, named=named)
        lines = text.translate(_LETTERS).splitlines()
        header = next((i for i, line in enumerate(lines) if _is_header(line)), None)
        if header is None:
            return parse_board(variant, text)
        return _read_lines(lines, header, variant if named else _variant_of(text) or variant)
    except (InvalidText, UnknownVariant) as unreadable:
        raise click.UsageError(f"--board: {unreadable}") from unreadable


def _read_json(text: str, variant: Variant, *, named: bool) -> Board:
    try:
        told = msgspec.json.decode(text, type=_Told)
    except (msgspec.DecodeError, RecursionError) as unreadable:
        raise InvalidText(f"That is no board in JSON: {unreadable}.") from unreadable
    if not named and told.variant is not None:
        variant = find_variant(told.variant)
    board = told.board or told
    if board.columns is None:
        raise InvalidText("That is no board in JSON: it has no columns.")
    return named_board(variant, board.columns, board.cells or (), board.homes or {}, board.reserve or ())


# --- as board_lines draws them


def _is_header(line: str) -> bool:
    words = line.split()
    return len(words) > 1 and words == list(COLUMN_LETTERS[: len(words)])


def _variant_of(text: str) -> Variant | None:
    """The game that a title names, in the language spoken or in English."""
    title = text.lstrip()
    names = {name: variant for variant in VARIANTS.values() for name in (variant.name, _(variant.name))}
    return next((variant for name, variant in names.items() if title.startswith(f"{name},")), None)


def _read_lines(lines: list[str], header: int, variant: Variant) -> Board:
    cells: list[str | None] = []
    homes: dict[str, str | None] = {}
    reserve: list[str] = []
    # The first words are labels, in the language of whoever printed them; a title may stand above.
    above = [line.split()[1:] for line in lines[:header] if line.strip()]
    for words in above:
        keys, values = words[::2], words[1::2]
        if keys == list(CELL_LETTERS[: len(keys)]) and len(keys) == variant.cells:
            cells = [None if word == _NO_CARD else word for word in values]
        elif set(keys) == set(variant.suits):
            homes = {
                suit: None if rank == _NOTHING_HOME else rank + suit for suit, rank in zip(keys, values, strict=False)
            }
        elif words and all(len(word) == 2 and word[1] in SUITS for word in words):
            reserve = words
    places = [i for i, sign in enumerate(lines[header]) if not sign.isspace()]
    columns: list[list[str]] = [[] for _place in places]
    for line in lines[header + 1 :]:
        if not line.strip():
            break
        for column, place in zip(columns, places, strict=True):
            if card := line[place - 1 : place + 1].strip():
                column.append(card)
    return named_board(variant, columns, cells, homes, reserve)
