"""`python -m tests.fuzz`: what nobody sends, to the codecs and to a server; 2,000,000 of it are a soak."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from functools import partial
from pathlib import Path

from tests.fuzz.run import OPTIONS, run
from tests.story.servers import servers


async def _soak(count: int, seed: int) -> str:
    with tempfile.TemporaryDirectory(prefix="cellrace-fuzz-") as folder:
        async with servers(Path(folder)) as house:
            return await run(await house.start(*OPTIONS), count, seed, partial(print, flush=True))


def main() -> None:
    """Send, and print what came of it; fails at the first thing that is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=50_000, help="how many inputs")
    parser.add_argument("--seed", type=int, default=0, help="what they are drawn from")
    told = parser.parse_args()
    print(asyncio.run(_soak(told.count, told.seed)))


if __name__ == "__main__":
    main()
