"""Making a stock: numbers drawn over the whole range of deals, each proved by a search and by playing the proof."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing import get_context

from cellrace.autoplay import Autoplay
from cellrace.board import dealt_board
from cellrace.deals import LAST_DEAL, deal
from cellrace.game import Game
from cellrace.solver import solve
from cellrace.variants import Variant, find_variant

MAX_STATES = 100_000
"""Winnable is what is wanted: a deal that needs a longer search is left out, and the next number is tried."""


def prove(variant: Variant, number: int, max_states: int = MAX_STATES) -> tuple[str, ...] | None:
    """The moves that a player sends to win a deal; None when the search finds none in time."""
    board = dealt_board(variant, deal(variant, number))
    solution = solve(board, max_states, placement=tuple(range(variant.reserve)))
    if solution is None:
        return None
    for autoplay, moves in ((Autoplay.NONE, solution.moves), (Autoplay.SAFE, solution.safe_moves)):
        game, _ = Game(board, autoplay).play_all(moves)
        if not game.won:
            raise AssertionError(f"The proof of deal {number} of {variant.id} does not win.")
    return solution.safe_moves


def drawn_numbers(variant: Variant, seed: int) -> Iterator[int]:
    """Different deal numbers in an order that the game and the seed decide."""
    source = random.Random(f"{seed}:{variant.id}")  # noqa: S311 — a stock must come out the same again
    drawn: set[int] = set()
    while True:
        number = source.randint(1, LAST_DEAL)
        if number not in drawn:
            drawn.add(number)
            yield number


def make_proofs(
    variant: Variant, count: int, seed: int, processes: int, report: Callable[[int, int], None]
) -> dict[int, tuple[str, ...]]:
    """So many proved deals: the first of those drawn, however many processes share the work.

    `report` is called after each deal with how many are proved and how many were tried.
    """
    proofs: dict[int, tuple[str, ...]] = {}
    tried = 0
    numbers = drawn_numbers(variant, seed)
    # Not forked: whoever asks may have threads, whose locks a fork would take along.
    with get_context("spawn").Pool(processes) as pool:
        while len(proofs) < count:
            batch = [next(numbers) for _ in range(8 * processes)]
            for number, moves in zip(batch, pool.imap(partial(_prove_by_id, variant.id), batch), strict=True):
                tried += 1
                if moves is not None and len(proofs) < count:
                    proofs[number] = moves
                report(len(proofs), tried)
    return proofs


def _prove_by_id(variant_id: str, number: int) -> tuple[str, ...] | None:
    return prove(find_variant(variant_id), number)
