"""The proof can fail: `python -m tests.chaos.planted [NAME…]` plants each bug in turn and shows what finds it."""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from tests.chaos.house import STRACE
from tests.chaos.plants import NAMED
from tests.chaos.run import Chaos, Plot

LINES = "tests/server/test_nodes_lines"
TESTS = {
    "no-sid-check": "tests/server/test_moves.py -k older_connection_is_fenced",
    "no-catch-up": f"{LINES}_many.py -k subscription_that_was_lost_is_caught_up",
    "no-command-id": f"{LINES}.py -k command_has_its_effect_once",
    "no-terminal-guard": f"{LINES}.py -k terminal_fact_is_refused",
    "stamps-fall": f"{LINES}.py -k stamps_lie_between",
    "takeover-not-fenced": f"{LINES}_takeover.py -k cannot_open_a_race_any_more",
    "no-sweep": f"{LINES}.py -k any_node_begins_a_race",
    "unknown-taken-for-failed": f"{LINES}.py -k an_unknown_outcome_discards_the_board",
    "no-seq-check": "tests/server/store/test_commits.py -k other_moves_are_stale",
}
"""The bugs that a test finds by forcing the very interleaving, and which."""
PLOTS = {
    "answer-before-commit": Plot(node_kills=6, store_kills=12, pauses=0, pause=0.3),
    "no-repeat-check": Plot(node_kills=2, store_kills=2, pauses=0, pause=0.3, moves=3_000),
    "deal-before-start": Plot(node_kills=2, store_kills=2, pauses=0),
    "commitment-to-another-deal": Plot(node_kills=2, store_kills=2, pauses=0, pause=0.3),
    "another-layout-at-each-node": Plot(node_kills=2, store_kills=2, pauses=0, pause=0.3),
    "answers-lost": Plot(node_kills=0, store_kills=0, pauses=0, moves=3_000),
    "facts-lost": Plot(node_kills=0, store_kills=0, pauses=0, moves=500),
    "store-that-keeps-no-file": Plot(node_kills=0, store_kills=2, pauses=0, store={"appendonly": "no"}),
    # What `everysec` has answered while the disk was still at the second before dies with the process: at about every
    # other kill, and so at one of these for certain. Nobody waits for those that are left once something is wrong.
    "store-that-writes-later": Plot(
        node_kills=0, store_kills=40, pauses=0, pause=1.2, store={"appendfsync": "everysec"}, disk=0.5
    ),
}
"""The bugs that the chaos run finds, and by how much of it."""


def find(name: str) -> str:
    """What finds a planted bug: the first thing that is wrong; empty when nothing is."""
    if name in TESTS:
        return _by_test(name)
    plot = PLOTS[name]
    with tempfile.TemporaryDirectory(prefix="cellrace-planted-") as folder:
        bug = "" if plot.store else name
        outcome = asyncio.run(Chaos(Path(folder), replace(plot, bug=bug)).run())
    return outcome.violations[0] if outcome.violations else ""


def _by_test(name: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.chaos.plants", *TESTS[name].split()]
    done = subprocess.run(command, env={**os.environ, NAMED: name}, capture_output=True, text=True, check=False)
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    return failed[0] if done.returncode == 1 and failed else ""


def main() -> int:
    """Plant them, one after the other; fail if one of them is not found."""
    there = [*TESTS, *PLOTS]
    parser = argparse.ArgumentParser(
        prog="python -m tests.chaos.planted", description=__doc__, epilog=f"bugs: {', '.join(there)}"
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="which; all without one")
    names = parser.parse_args().names or there
    if unknown := [name for name in names if name not in there]:
        parser.error(f"no such bug: {', '.join(unknown)}; there are {', '.join(there)}")
    missed = 0
    for name in names:
        if name in PLOTS and PLOTS[name].disk and STRACE is None:
            print(f"not planted {name}: a slow disk takes strace", flush=True)
            continue
        began = time.monotonic()
        found = find(name)
        missed += not found
        print(
            f"{'found' if found else 'NOT FOUND'} {name} ({time.monotonic() - began:.0f} s): {found[:200]}", flush=True
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
