"""Many runs, in as many processes as there is to compute with: each run is of one thread, and knows of no other."""

from __future__ import annotations

import gc
import multiprocessing
import os
from collections import Counter
from collections.abc import Iterable, Iterator

from tests.chaos.plants import PLANTS
from tests.sim.run import Outcome, run

RUNS_OF_A_PROCESS = 500
"""After how many runs a process makes room for a new one."""


def runs(seeds: Iterable[int], workers: int | None = None, bug: str = "") -> Iterator[Outcome]:
    """The runs of seeds, in whatever order they end, with a bug planted where one is named."""
    count = workers or min(2, os.cpu_count() or 1)
    # Started afresh: what this process holds, a test's fixtures perhaps, is nobody's business there.
    context = multiprocessing.get_context("spawn")
    with context.Pool(count, _begin, (bug,), maxtasksperchild=RUNS_OF_A_PROCESS) as pool:
        yield from pool.imap_unordered(run, seeds)


def _begin(bug: str) -> None:
    if bug:
        PLANTS[bug]()
    # The collections between runs pass over all that is there before the first.
    gc.collect()
    gc.freeze()


def figures(counts: Counter[str]) -> str:
    """What happened in all runs, in lines for people."""
    faults = {name.removeprefix("fault: "): n for name, n in sorted(counts.items()) if name.startswith("fault: ")}
    rest = {name: n for name, n in sorted(counts.items()) if not name.startswith("fault: ")}
    return f"{sum(faults.values()):,} faults: {faults}\n{rest}"
