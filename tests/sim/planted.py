"""The proof can fail: bugs of the chaos run, planted into the nodes of the simulation, and the seeds that find them."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from tests.sim.many import runs
from tests.sim.run import Outcome

FOUND = {
    "answer-before-commit": 40,
    "no-catch-up": 200,
    "no-repeat-check": 40,
    "deal-before-start": 40,
    "unknown-taken-for-failed": 100,
    "commitment-to-another-deal": 40,
    "another-layout-at-each-node": 40,
    "answers-lost": 40,
    "facts-lost": 40,
    "no-sweep": 100,
}
"""The bugs that runs find, and within how many seeds. The others wait for a rarer hour; a test forces it for each."""


def find(bug: str, seeds: int) -> Outcome | None:
    """The first run that finds a planted bug."""
    for outcome in runs(range(seeds), bug=bug):
        if outcome.violations:
            return outcome
    return None


def show(bugs: Sequence[str], seeds: int) -> int:
    """Plant them, one after the other, and say what finds each; fail if one of them is not found."""
    missed = 0
    for bug in bugs or FOUND:
        began, among = time.monotonic(), FOUND.get(bug, seeds)
        print(f"looking for {bug} with {among} seeds …", file=sys.stderr, flush=True)
        outcome = find(bug, among)
        missed += outcome is None
        said = f"by seed {outcome.seed}: {outcome.violations[0][:200]}" if outcome is not None else ""
        verdict = "NOT FOUND" if outcome is None else "found"
        print(f"{verdict} {bug} ({time.monotonic() - began:.0f} s) {said}", flush=True)
    return 1 if missed else 0
