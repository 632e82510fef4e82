"""When the moves of a race may be seen by those who do not play (protocol, section 4, `spectate`)."""

from __future__ import annotations

from typing import assert_never

from cellrace.messages import Spectate

DELAY = 60_000
"""How much later than it was played a move is shown where spectators are `delayed`, ms."""


def shown_until(spectate: Spectate, over: bool, now: int) -> int | None:
    """Up to which stamp moves may be shown now, ms of the race clock; None for none at all."""
    if over:
        return now
    match spectate:
        case Spectate.LIVE:
            return now
        case Spectate.DELAYED:
            return now - DELAY
        case Spectate.AFTER:
            return None
        case _:
            assert_never(spectate)
