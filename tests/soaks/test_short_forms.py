"""What the soaks measure, in short: fewer of each, and shorter waits where a figure is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from cellrace_server import upkeep
from cellrace_server.store import hearing
from tests.soaks import cuts, failover, halfopen, restart, resume, unread
from tests.soaks.figures import Figure, broken_in_short, table

pytestmark = pytest.mark.timeout(600)


def _quiet(_: str) -> None:
    """Nobody waits for it."""


def _kept(figures: list[Figure]) -> None:
    assert not broken_in_short(figures), f"\n{table(figures)}"


@pytest.fixture
def quick_ears(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes of this process notice ten times as soon that they hear nothing, or have missed something."""
    monkeypatch.setattr(hearing, "ECHO", hearing.ECHO / 10)
    monkeypatch.setattr(hearing, "DEAF", hearing.DEAF / 10)
    monkeypatch.setattr(upkeep, "COMPARISON", upkeep.COMPARISON / 10)


async def test_a_game_is_back_soon_after_a_node_has_died(tmp_path: Path) -> None:
    _kept(await resume.run(tmp_path, 20, _quiet))


async def test_moves_flow_soon_after_the_store_is_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restart, "AWAY", (0.3,))
    monkeypatch.setattr(restart, "DEADLINE", 60.0)
    _kept(await restart.run(tmp_path, 3, _quiet, calm=60))


@pytest.mark.usefixtures("quick_ears")
async def test_silent_cuts_cost_no_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuts, "PACE", 0.02)
    monkeypatch.setattr(cuts, "HALF_OPEN_EVERY", 60)
    _kept(await cuts.run(tmp_path, 120, _quiet))


@pytest.mark.usefixtures("quick_ears")
async def test_what_is_half_open_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halfopen, "MOST_FOR_SUBSCRIPTION", halfopen.MOST_FOR_SUBSCRIPTION / 5)
    # Who is held up for as long as this is half open as well.
    _kept(await halfopen.run(tmp_path, 8, _quiet, ping=4.0))


async def test_who_never_reads_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Whether the others are slower cannot be seen in seconds on a machine that has other things to do: one stall in two
    # windows decides it. That moves come to them at all can.
    monkeypatch.setattr(unread, "MOST_RATIO", float("inf"))
    _kept(await unread.run(tmp_path, 1, _quiet, window=2.0))


async def test_a_failover_loses_no_answered_move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failover, "BETWEEN", 1.0)
    monkeypatch.setattr(failover, "DEADLINE", 60.0)
    _kept(await failover.run(tmp_path, 1, _quiet, calm=60))
