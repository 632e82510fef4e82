"""Time that passes when a test says so: the race clock of every node in this process, moved on."""

from __future__ import annotations

import pytest

from cellrace_server.app import Node
from cellrace_server.store.clock import Estimate
from cellrace_server.upkeep import Upkeep

STEP = 5.0
"""Seconds at a time, so that no node seems dead between two beats."""


class PassingTime:
    """Moves the race clock on; whatever was due meanwhile is done by the usual sweep."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._ahead = 0
        told = Estimate.now_at
        monkeypatch.setattr(Estimate, "now_at", lambda estimate, at: told(estimate, at) + self._ahead)

    def jump_to(self, now: int, wanted: int) -> None:
        """Let it be another time (ms) from now on, before any node is there to notice."""
        self._ahead += (wanted - now) * 1_000

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
