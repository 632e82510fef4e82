"""`python -m tests.soaks NAME…`: each soak in turn, and a table of what it has measured beside what is promised."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import logging
import pkgutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import structlog

from tests import soaks
from tests.soaks.figures import Figure, table


@dataclass(frozen=True, slots=True)
class Soak:
    """One module that measures."""

    name: str
    module: ModuleType

    @property
    def told(self) -> str:
        """Its line in the list."""
        first = (self.module.__doc__ or "").partition("\n")[0]
        return f"{self.name:<12} {first} [{self.module.SIZE:,} {self.module.COUNTS}]"


def soaks_there_are() -> dict[str, Soak]:
    """All soaks, by name: the modules that have a `run`."""
    names = [found.name for found in pkgutil.iter_modules(soaks.__path__)]
    modules = {
        name: importlib.import_module(f"tests.soaks.{name}") for name in names if not name.startswith(("_", "test_"))
    }
    return {name: Soak(name, module) for name, module in modules.items() if hasattr(module, "run")}


async def measure(soak: Soak, size: int) -> list[Figure]:
    """Run one soak in a folder of its own."""
    began = time.monotonic()

    def tell(text: str) -> None:
        print(f"{soak.name}, {time.monotonic() - began:.0f} s: {text}", flush=True)

    # Short: the path of a unix socket has a hundred bytes.
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        found: list[Figure] = await soak.module.run(Path(folder), size, tell)
    return found


def main() -> int:
    """Measure what was asked for; fail when a figure is missed."""
    there = soaks_there_are()
    parser = argparse.ArgumentParser(
        prog="python -m tests.soaks",
        description=(__doc__ or "").partition("\n")[0],
        epilog="\n".join(["soaks, and the sizes of their long forms:", *(f"  {soak.told}" for soak in there.values())]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="which; `all` for every one")
    parser.add_argument("--size", type=int, help="how much of it, instead of the long form")
    asked = parser.parse_args()
    if not asked.names:
        parser.print_help()
        return 0
    names = list(there) if asked.names == ["all"] else asked.names
    if unknown := [name for name in names if name not in there]:
        parser.error(f"no such soak: {', '.join(unknown)}; there are {', '.join(there)}")
    # Nodes that a soak runs in its own process have nothing to say that is no mistake.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    figures: list[Figure] = []
    for name in names:
        figures += asyncio.run(measure(there[name], asked.size or there[name].module.SIZE))
    print(table(figures))
    return 1 if any(figure.missed for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
