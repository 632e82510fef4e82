"""Runs one benchmark by name."""

from __future__ import annotations

import runpy
import sys

NAMES = ("rules", "screen", "solver")

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        sys.exit(f"usage: python -m bench {{{','.join(NAMES)}}} …")
    del sys.argv[0]
    runpy.run_module(f"bench.{sys.argv[0]}", run_name="__main__", alter_sys=True)
