"""A short season: quick matches and a daily over two nodes of which one is killed, and everything adds up after it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.story.season import Plot, Season

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")


async def test_boards_ratings_attempts_and_replays_add_up_after_a_season(tmp_path: Path) -> None:
    """`python -m tests.story.season` plays a long one."""
    outcome = await Season(tmp_path, Plot(bots=16, matches=16, forged=60, kill_every=4.0)).run()
    assert outcome.wrong == []
    assert outcome.matches >= 16
    assert outcome.attempts == 16
    assert outcome.replays >= 2 * 16
    assert outcome.kills
