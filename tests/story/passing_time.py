"""Time that passes when a test says so: the race clock of every node in this process, moved on."""

from __future__ import annotations

import time

import pytest

from cellrace_server.app import Node
from cellrace_server.core.daily import day_of, opens_at
from cellrace_server.store.clock import Estimate
from cellrace_server.upkeep import Upkeep

STEP = 5.0
"""Seconds at a time, so that no node seems dead between two beats."""
HALF_A_DAY = 12 * 3_600_000


class PassingTime:
    """Moves the race clock on; whatever was due meanwhile is done by the usual sweep.

    It goes by itself as well, until it stands: a race begins by a clock that goes, and what must happen before or after
    an instant is measured by one that shows nothing of how long the test itself takes.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._ahead = 0
        self._stands_at: int | None = None
        self._told = Estimate.now_at
        monkeypatch.setattr(Estimate, "now_at", lambda estimate, at: self._now(estimate, at))

    def _now(self, estimate: Estimate, at: int) -> int:
        now = self._told(estimate, at) if self._stands_at is None else self._stands_at
        return now + self._ahead

    def jump_to(self, now: int, wanted: int) -> None:
        """Let it be another time (ms) from now on, before any node is there to notice."""
        self._ahead += (wanted - now) * 1_000

    def jump_to_noon(self) -> None:
        """Let it be noon of this UTC day from now on, so that no day ends while a test looks at one."""
        now = time.time_ns() // 1_000_000
        self.jump_to(now, opens_at(day_of(now)) + HALF_A_DAY)

    def stand_still(self, node: Node) -> None:
        """From now on only what the test lets go by goes by, at this node and at all the others."""
        self._stands_at = node.services.store.clock.now() * 1_000 - self._ahead

    def go_by_itself(self) -> None:
        """From now on it goes by itself again, with what went by meanwhile."""
        self._stands_at = None

    async def pass_until(self, instant: int, *nodes: Node) -> None:
        """Let time go by at these nodes until the race clock, which stands, shows an instant (ms)."""
        await self.pass_by((instant - nodes[0].services.store.clock.now()) / 1_000, *nodes)

    async def pass_by(self, seconds: float, *nodes: Node) -> None:
        """Let so many seconds go by at these nodes."""
        while seconds > 0:
            step = min(STEP, seconds)
            self._ahead += round(step * 1_000_000)
            seconds -= step
            for node in nodes:
                store = node.services.store
                await store.nodes.beat(store.clock.now())
            for node in nodes:
                await Upkeep(node.services.store, node.services.rooms).sweep_once()
                # What was to come when so much time had really passed.
                for referee in node.services.rooms:
                    node.services.rooms.attend(referee)
