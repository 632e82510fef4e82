"""`python -m tests.sim`: runs of many seeds, or of one; their figures, and whatever is wrong."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from tests.chaos.plants import PLANTS
from tests.sim.many import figures, runs
from tests.sim.planted import show
from tests.sim.plot import plot_of
from tests.sim.run import Outcome, run
from tests.sim.seeds import SEEDS

PROGRESS = 10.0
"""Seconds between two lines that say how far it has come."""


def main() -> int:
    """Run, print, and fail when something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.sim", description=__doc__)
    parser.add_argument("--seeds", type=int, default=500, help="how many; 5,000 is a soak")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--workers", type=int, default=None, help="processes; as many as there are cores, two at most")
    parser.add_argument("--seed", type=int, action="append", help="this one alone, with all that is known of it")
    parser.add_argument("--planted", nargs="*", metavar="BUG", help="plant these bugs, or all, and see them found")
    told = parser.parse_args()
    if told.planted is not None:
        if unknown := sorted(set(told.planted) - PLANTS.keys()):
            parser.error(f"There are no bugs {', '.join(unknown)}; there are {', '.join(PLANTS)}.")
        return show(told.planted, told.seeds)
    if told.seed is not None:
        return max(_one(seed) for seed in told.seed)
    return _many([*SEEDS, *range(told.first, told.first + told.seeds)], told.workers)


def _one(seed: int) -> int:
    print(plot_of(seed))
    outcome = run(seed)
    print(f"trace {outcome.trace}, {outcome.seconds:.1f} s\n{figures(outcome.counts)}")
    _complain(outcome)
    return bool(outcome.violations)


def _many(seeds: list[int], workers: int | None) -> int:
    began = told_at = time.monotonic()
    counts: Counter[str] = Counter()
    done, wrong, seconds = 0, list[int](), 0.0
    for outcome in runs(seeds, workers):
        done, seconds, counts = done + 1, seconds + outcome.seconds, counts + outcome.counts
        if outcome.violations:
            wrong.append(outcome.seed)
            _complain(outcome)
        if time.monotonic() > told_at + PROGRESS:
            told_at = time.monotonic()
            print(f"{done} of {len(seeds)} after {told_at - began:.0f} s", file=sys.stderr, flush=True)
    took = time.monotonic() - began
    print(f"{done} runs in {took:.1f} s, {done / took:.1f} a second; {seconds / 3600:.1f} h of made-up time")
    print(figures(counts))
    print(f"{len(wrong)} seeds found something wrong: {sorted(wrong)}" if wrong else "nothing was found to be wrong")
    return bool(wrong)


def _complain(outcome: Outcome) -> None:
    for violation in outcome.violations[:5]:
        print(f"WRONG with seed {outcome.seed}: {violation}"[:1500], flush=True)


if __name__ == "__main__":
    sys.exit(main())
