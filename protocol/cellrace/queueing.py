"""How quick matches widen with waiting (protocol, section 4): what servers match by, and clients tell."""

from __future__ import annotations

FIRST_RANGE = 100
"""How far apart two ratings may be at first."""
WIDENING = 20
"""By how much the range grows with each second of waiting."""
ANYBODY = 45_000
"""After how long rating does not matter any more, ms."""
BOT_AFTER = 10_000
"""After how long somebody who accepts bots is offered one, ms."""


def range_after(waited: int) -> float:
    """How far apart two ratings may be, once one of the two has waited so long, ms."""
    return float("inf") if waited >= ANYBODY else FIRST_RANGE + WIDENING * waited / 1000
