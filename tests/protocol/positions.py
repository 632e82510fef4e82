"""Positions to try the rules on: those of random play, and those built to be full of runs and free room."""

from __future__ import annotations

import random
from typing import NamedTuple

from hypothesis import strategies as st

from cellrace.board import Board, dealt_board
from cellrace.cards import NO_CARD
from cellrace.deals import LAST_DEAL, deal
from cellrace.notation import COLUMN_LETTERS
from cellrace.variants import VARIANTS, Empty, Run, Variant

variants = st.sampled_from(list(VARIANTS.values()))
limited_variants = st.sampled_from([variant for variant in VARIANTS.values() if variant.run is Run.LIMITED])
deal_numbers = st.integers(1, LAST_DEAL)


@st.composite
def played_positions(draw: st.DrawFn, game: st.SearchStrategy[Variant] = variants, longest: int = 60) -> Board:
    """The board of a random deal after some random legal moves, cards going home gladly."""
    variant = draw(game)
    board = dealt_board(variant, deal(variant, draw(deal_numbers)))
    choices = random.Random(draw(st.integers(0, 2**32)))
    for _ in range(draw(st.integers(0, longest))):
        moves = board.legal_moves()
        if not moves:
            break
        homeward = [move for move in moves if move[1] == "h"]
        board = board.play(choices.choice(homeward if homeward and choices.random() < 0.7 else moves))
    return board


@st.composite
def built_positions(draw: st.DrawFn, game: st.SearchStrategy[Variant] = variants) -> Board:
    """A board made of ordered runs, some cards home, some cells full, some columns empty."""
    return built_position(draw(game), random.Random(draw(st.integers(0, 2**32))))


def built_position(variant: Variant, choices: random.Random) -> Board:
    """The same from a source of choices."""
    homes = bytearray(4)
    most = choices.randrange(len(variant.home_order) + 1)
    for suit in {card & 3 for card in variant.pack}:
        homes[suit] = max(0, most - choices.randrange(4))
    left = [card for card in variant.pack if variant.home_index[card] >= homes[card & 3]]
    choices.shuffle(left)
    cells = bytearray((NO_CARD,) * variant.cells)
    for cell in choices.sample(range(variant.cells), choices.randrange(variant.cells + 1)):
        if left and choices.random() < 0.8:
            cells[cell] = left.pop()
    filled = choices.sample(range(len(variant.columns)), choices.randint(1, len(variant.columns)))
    columns = [b""] * len(variant.columns)
    while left:
        run = [left.pop()]
        length = choices.choice((1, 2, 4, 8, 13))
        while len(run) < length:
            followers = [card for card in left if card * 64 + run[-1] in variant.fits]
            if not followers:
                break
            run.append(choices.choice(followers))
            left.remove(run[-1])
        columns[choices.choice(filled)] += bytes(run)
    return Board(variant, tuple(columns), bytes(cells), bytes(homes), b"")


class Supermove(NamedTuple):
    """A position with a run of `size` cards whose head may go to the target, capacity aside."""

    board: Board
    move: str
    size: int


def longest_run(variant: Variant, on_empty: bool) -> int:
    """How many cards a run can have that is to be moved."""
    return len(variant.ranks) if on_empty else len(variant.ranks) - 1


def supermove(
    variant: Variant, count: int, free_cells: int, empty_columns: int, on_empty: bool, choices: random.Random
) -> Supermove | None:
    """A position with so much room besides the target; None where the cards do not fill what must not be empty."""
    run = _run(variant, count if on_empty else count + 1, on_empty, choices)
    left = [card for card in variant.pack if card not in run]
    choices.shuffle(left)
    full_cells = variant.cells - free_cells
    places = list(range(len(variant.columns)))
    choices.shuffle(places)
    source, target, *others = places
    filled = others[empty_columns:]
    if len(others) < empty_columns or len(left) < full_cells + len(filled):
        return None
    cells = [left.pop() for _ in range(full_cells)] + [NO_CARD] * free_cells
    choices.shuffle(cells)
    columns = [b""] * len(places)
    for c in filled:
        columns[c] = bytes((left.pop(),))
    under = [source, *filled] if on_empty else [source, target, *filled]
    for card in left:
        columns[choices.choice(under)] += bytes((card,))
    if not on_empty:
        columns[target] += bytes(run[:1])
        run = run[1:]
    columns[source] += bytes(run)
    board = Board(variant, tuple(columns), bytes(cells), bytes(4), b"")
    suffix = f"v{count:x}" if on_empty and count > 1 else ""
    return Supermove(board, f"{COLUMN_LETTERS[source]}{COLUMN_LETTERS[target]}{suffix}", count)


def _run(variant: Variant, length: int, on_empty: bool, choices: random.Random) -> list[int]:
    from_king = on_empty and variant.empty is Empty.KING
    head_ranks = variant.ranks[-1:] if from_king else variant.ranks[length - 1 :]
    heads = [card for card in variant.pack if variant.ranks[variant.rank_index[card]] in head_ranks]
    run = [choices.choice(heads)]
    while len(run) < length:
        run.append(choices.choice([card for card in variant.pack if card * 64 + run[-1] in variant.fits]))
    return run
