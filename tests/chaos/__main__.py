"""`python -m tests.chaos`: a run of any length, its figures, and whatever is wrong."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from functools import partial
from pathlib import Path

from tests.chaos.run import Chaos, Plot


def main() -> int:
    """Run, print, and fail when something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="what faults and players are drawn from")
    parser.add_argument("--node-kills", type=int, default=20)
    parser.add_argument("--store-kills", type=int, default=20)
    parser.add_argument("--pauses", type=int, default=6, help="of nodes and of the store, in all")
    parser.add_argument("--partitions", type=int, default=6, help="a node cut off from the store")
    parser.add_argument("--pause", type=float, default=0.6, help="seconds between two faults, about")
    parser.add_argument("--moves", type=int, default=0, help="go on until so many moves are answered")
    parser.add_argument("--groups", type=int, default=5)
    parser.add_argument("--players", type=int, default=3, help="racers in each group")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cellrace-chaos-") as folder:
        outcome = asyncio.run(Chaos(Path(folder), Plot(**vars(told)), tell=partial(print, flush=True)).run())
    print(outcome.figures)
    for violation in outcome.violations[:20]:
        print(f"WRONG: {violation}"[:2000])
    print(f"{len(outcome.violations)} violations")
    return 1 if outcome.violations else 0


if __name__ == "__main__":
    sys.exit(main())
