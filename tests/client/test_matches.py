"""How long a bot stays in each of several queues."""

from __future__ import annotations

from typing import cast

import pytest

from cellrace.errors import ErrorCode, Refused
from cellrace_client.connection import Connection
from cellrace_client.matches import COMPANY, LOOK, Matches
from cellrace_client.race_view import RaceView
from tests.client.views import a_view


class Queues:
    """Queues in which so many wait, oneself included; None where one waits there already."""

    def __init__(self, **waiting: int | None) -> None:
        self.waiting = waiting
        self.left = 0

    async def queue(self, variant: str, *, bots: bool) -> int:
        """Waits there."""
        count = self.waiting[variant]
        if count is None:
            raise Refused(ErrorCode.ALREADY_QUEUED)
        return count

    async def leave_queue(self) -> None:
        """Waits no more."""
        self.left += 1


class Waits(Matches):
    """Waits that take no time; a rival is found in the last."""

    def __init__(self, queues: Queues, *games: str, turn: float, last: int) -> None:
        super().__init__(cast(Connection, queues), games, bots=False, turn=turn)
        self.waits: list[float] = []
        self._last = last

    async def _matched(self, within: float) -> RaceView | None:
        self.waits.append(within)
        return a_view() if len(self.waits) == self._last else None


async def test_a_turn_is_longer_where_somebody_waits() -> None:
    """Long enough for the server to see both."""
    queues = Queues(freecell=1, relaxed=2)
    matches = Waits(queues, "freecell", "relaxed", turn=0.5, last=3)
    assert await matches.next() == a_view()
    assert matches.waits[::2] == [0.5, COMPANY]
    assert queues.left == 1


@pytest.mark.parametrize("waiting", [1, 2, None])
async def test_a_long_turn_stays_as_it_is(waiting: int | None) -> None:
    """And nobody leaves the only queue there is."""
    queues = Queues(freecell=waiting)
    matches = Waits(queues, "freecell", turn=LOOK, last=2)
    assert await matches.next() == a_view()
    assert matches.waits == [LOOK, LOOK]
    assert queues.left == 0
