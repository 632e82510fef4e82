"""How the solver does: share solved, time, states and memory for each game; `freecell` on its deals 1 to 100."""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import sys
from multiprocessing import get_context
from time import process_time
from typing import NamedTuple

from cellrace.board import dealt_board
from cellrace.deals import LAST_DEAL, deal
from cellrace.solver import Search
from cellrace.variants import VARIANTS, find_variant

FIRST_HUNDRED = "freecell"


class Figures(NamedTuple):
    """What one game's deals took."""

    solved: int
    lost: int
    seconds: list[float]
    states: list[int]
    moves: list[int]
    megabytes: float


def measure(variant_id: str, numbers: list[int]) -> Figures:
    """Solves the deals one after the other; the memory is the most that this process had."""
    variant = find_variant(variant_id)
    solved = lost = 0
    seconds, states, moves = [], [], []
    for number in numbers:
        begin = process_time()
        search = Search(dealt_board(variant, deal(variant, number)))
        while search.advance(100_000):
            pass
        seconds.append(process_time() - begin)
        states.append(search.states)
        lost += search.lost
        if search.solution is not None:
            solved += 1
            moves.append(len(search.solution.moves))
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return Figures(solved, lost, seconds, states, moves, kilobytes / 1024)


def main() -> None:
    """Prints one line for each game."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variants", nargs="*", help="only these games")
    parser.add_argument("--deals", type=int, default=100, help="random deals of each game (default 100)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    print(
        f"{'':16} {'deals':>5} {'solved':>6} {'lost':>5} {'median s':>8} {'max s':>6} "
        f"{'median':>7} {'max states':>10} {'moves':>5} {'most':>4} {'MB':>4}"
    )
    for variant_id in args.variants or VARIANTS:
        source = random.Random(f"{args.seed}:{variant_id}")
        numbers = [source.randint(1, LAST_DEAL) for _ in range(args.deals)]
        if variant_id == FIRST_HUNDRED:
            numbers = list(range(1, 101))
        # A process of its own, so that its peak memory is the game's.
        with get_context("spawn").Pool(1) as pool:
            figures = pool.apply(measure, (variant_id, numbers))
        moves = figures.moves or [0]
        print(
            f"{variant_id:16} {len(numbers):5} {figures.solved:6} {figures.lost:5} "
            f"{statistics.median(figures.seconds):8.3f} {max(figures.seconds):6.2f} "
            f"{statistics.median(figures.states):7.0f} {max(figures.states):10} "
            f"{statistics.median(moves):5.0f} {max(moves):4} {figures.megabytes:4.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
