"""Three nodes and their store are killed, paused and cut off under play, and nothing that was answered is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.run import Chaos, Plot


@pytest.mark.timeout(900)
async def test_kills_pauses_and_partitions_lose_nothing(tmp_path: Path) -> None:
    """The short form of `python -m tests.chaos`: 20 nodes and 20 stores are killed under solved games."""
    outcome = await Chaos(tmp_path, Plot(seed=1, pause=0.4, partitions=6, moves=1_000, calm=60)).run()
    assert not outcome.violations, "\n".join([outcome.figures, *outcome.violations[:10]])
    assert outcome.moves >= 1_000, outcome.figures
