"""Boards as people and other programs write them: named cards, and the text of fc-solve (RULES, section 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cellrace.board import Board
from cellrace.cards import CARD_NAMES, NO_CARD, RANKS, SUITS, card_name, parse_card
from cellrace.deals import Layout
from cellrace.errors import InvalidText
from cellrace.variants import Variant

_EMPTY_CELLS = {"-", "--", "0", "*"}
_EMPTY_HOMES = {"0", "-", ""}


def named_board(
    variant: Variant,
    columns: Sequence[Sequence[str]],
    cells: Sequence[str | None] = (),
    homes: Mapping[str, str | None] | None = None,
    reserve: Sequence[str] = (),
) -> Board:
    """The board of card names; cells, homes and reserve that are not given are empty.

    Raises InvalidText unless the piles exist in the game and hold its pack, each card once.
    """
    if len(columns) != len(variant.columns):
        raise InvalidText(
            f"{variant.name} has {len(variant.columns)} columns, not {len(columns)}; write an empty one as ':'."
        )
    if len(cells) > variant.cells:
        raise InvalidText(f"{variant.name} has {variant.cells} cells, not {len(cells)}.")
    if len(reserve) > variant.reserve:
        raise InvalidText(f"{variant.name} has a reserve of {variant.reserve} cards, not {len(reserve)}.")
    held = [NO_CARD if name is None else parse_card(name) for name in cells]
    held += [NO_CARD] * (variant.cells - len(held))
    board = Board(
        variant,
        tuple(bytes(map(parse_card, column)) for column in columns),
        bytes(held),
        _home_counts(variant, homes or {}),
        bytes(map(parse_card, reserve)),
    )
    _check_pack(board)
    return board


def _home_counts(variant: Variant, homes: Mapping[str, str | None]) -> bytes:
    counts = bytearray(len(SUITS))
    for suit, top in homes.items():
        if suit not in variant.suits or len(suit) != 1:
            raise InvalidText(f"{variant.name} has no home for {suit!r}; it has {', '.join(variant.suits)}.")
        if top is None:
            continue
        card = parse_card(top)
        if SUITS[card & 3] != suit or card not in variant.pack:
            raise InvalidText(f"{top} cannot lie on the home of {suit}.")
        counts[card & 3] = variant.home_index[card] + 1
    return bytes(counts)


def _check_pack(board: Board) -> None:
    home = [card for card in board.variant.pack if board.variant.home_index[card] < board.homes[card & 3]]
    lying = [*home, *b"".join(board.columns), *board.reserve, *(card for card in board.cells if card != NO_CARD)]
    for card in lying:
        if card not in board.variant.pack:
            raise InvalidText(f"{card_name(card)} is not in the pack of {board.variant.name}.")
        if lying.count(card) > 1:
            raise InvalidText(f"{card_name(card)} is there more than once.")
    if missing := sorted(set(board.variant.pack) - set(lying)):
        raise InvalidText(f"Missing from the board: {' '.join(map(card_name, missing))}.")


def home_tops(board: Board) -> dict[str, str | None]:
    """The top card of each home by suit; None where nothing is home."""
    order = board.variant.home_order
    counts = {suit: board.homes[SUITS.index(suit)] for suit in board.variant.suits}
    return {suit: order[count - 1] + suit if count else None for suit, count in counts.items()}


def cell_names(board: Board | Layout) -> list[str | None]:
    """The cards in the cells, None where empty."""
    return [None if card == NO_CARD else CARD_NAMES[card] for card in board.cells]


def board_text(board: Board) -> str:
    """The board as fc-solve writes it, in the one canonical way, with a final newline."""
    lines = []
    if any(board.homes):
        tops = home_tops(board)
        order = [suit for suit in "HCDS" if suit in board.variant.suits]
        lines.append("Foundations: " + " ".join(f"{suit}-{(tops[suit] or '0')[0]}" for suit in order))
    if any(card != NO_CARD for card in board.cells):
        lines.append("Freecells: " + " ".join(name or "-" for name in cell_names(board)))
    if board.reserve:
        lines.append("Reserve: " + " ".join(map(card_name, board.reserve)))
    lines += [": " + " ".join(map(card_name, column)) if column else ":" for column in board.columns]
    return "\n".join(lines) + "\n"


def parse_board(variant: Variant, text: str) -> Board:
    """The board of a text, read leniently: any case, `10` for T, `0` for nothing, blank lines and `#` comments.

    Raises InvalidText.
    """
    homes: dict[str, str | None] = {}
    cells: list[str | None] = []
    reserve: list[str] = []
    columns: list[list[str]] = []
    for raw in text.splitlines():
        line = raw.partition("#")[0].strip()
        label, colon, rest = line.partition(":")
        words = rest.split()
        match label.strip().lower():
            case "" if not colon:
                continue
            case "foundations" | "founds" | "homes":
                homes = _parse_homes(variant, words)
            case "freecells" | "cells" | "fc":
                cells = [None if word in _EMPTY_CELLS else word for word in words]
            case "reserve":
                reserve = words
            case "":
                columns.append(words)
            case _ if not colon:
                columns.append(line.split())
            case _:
                raise InvalidText(f"{line!r} is no line of a board.")
    return named_board(variant, columns, cells, homes, reserve)


def _parse_homes(variant: Variant, words: list[str]) -> dict[str, str | None]:
    homes: dict[str, str | None] = {}
    for word in words:
        suit, dash, rank = word.upper().replace("10", "T").partition("-")
        if not dash or suit not in SUITS or len(suit) != 1 or (rank not in _EMPTY_HOMES and rank not in RANKS):
            raise InvalidText(f"{word!r} is no foundation; write H-0, C-A or D-10.")
        if rank not in _EMPTY_HOMES:
            homes[suit] = rank + suit
        elif suit in variant.suits:  # Solvers write all four foundations, also for a pack of fewer suits.
            homes[suit] = None
    return homes
