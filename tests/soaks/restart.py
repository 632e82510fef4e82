"""Store restarted under play: killed and started again on its data, while racers play on three nodes.

What is measured: for each racer who had a move to be answered when the store was back (it answers PING), how much later
it was answered, by the chaos run's racers, who repeat what they are told to repeat after 20 to 200 ms. Afterwards
everything that was answered is held to what is on record.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.chaos.run import CALM, Chaos, Plot
from tests.soaks.figures import Figure, Tell, quantile

SIZE = 60
COUNTS = "restarts"

MOST_UNTIL_FLOW = 2.0
DEADLINE = 4.0
"""Seconds within which a request is answered whatever the store does; a racer who has no answer then leaves."""
AWAY = (0, 0.3, 1, 4)
"""Seconds that a restart takes, one of these."""
TELLING = 5.0
"""Seconds between two words about how far it is."""


async def run(folder: Path, size: int, tell: Tell, calm: float = CALM) -> list[Figure]:
    """Restart the store so often under play."""
    plot = Plot(node_kills=0, store_kills=size, pauses=0, pause=1.0, away=AWAY, patience=DEADLINE, calm=calm)
    chaos = Chaos(folder, plot)
    async with told(chaos, tell):
        outcome = await chaos.run()
    tell(outcome.figures)
    for violation in outcome.violations[:10]:
        tell(f"WRONG: {violation}"[:1000])
    history = chaos.history
    slowest = max(history.flowing, default=float("inf"))
    return [
        Figure("restarts of the store under play", history.counts["fault: store"], least=size),
        Figure("moves answered", outcome.moves),
        Figure("violations found by the checker", len(outcome.violations), most=0),
        Figure(f"connections that ended, or had no answer for {DEADLINE:g} s", sum(history.closes.values()), most=0),
        Figure("who waited for a move when the store was back", len(history.flowing), least=1),
        Figure("the move answered, after the store: median", quantile(history.flowing, 0.5), "s"),
        Figure(
            "the move answered, after the store: slowest",
            slowest,
            "s",
            most=MOST_UNTIL_FLOW,
        ),
    ]


@asynccontextmanager
async def told(chaos: Chaos, tell: Tell) -> AsyncIterator[None]:
    """Say every few seconds how far a chaos run is."""

    async def go_on_telling() -> None:
        while True:
            await asyncio.sleep(TELLING)
            counts = chaos.history.counts
            faults = sum(count for name, count in counts.items() if name.startswith("fault: "))
            tell(f"{faults} faults, {counts['moves answered']:,} moves answered")

    telling = asyncio.create_task(go_on_telling())
    try:
        yield
    finally:
        telling.cancel()
