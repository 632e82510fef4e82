"""The proof can fail: bugs that are planted are found. All of them: `python -m tests.chaos.planted`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.house import STRACE
from tests.chaos.planted import PLOTS, TESTS, find
from tests.chaos.plants import PLANTS
from tests.chaos.run import Chaos, Plot

pytestmark = pytest.mark.timeout(600)

with_a_slow_disk = pytest.mark.skipif(STRACE is None, reason="a slow disk takes strace")


@pytest.mark.parametrize(
    "name",
    [
        "no-sid-check",
        "no-repeat-check",
        "answers-lost",
        "store-that-keeps-no-file",
        pytest.param("store-that-writes-later", marks=with_a_slow_disk),
    ],
)
def test_a_planted_bug_is_found(name: str) -> None:
    """By the checker over a short run, or by the test that forces its interleaving."""
    assert find(name)


@with_a_slow_disk
async def test_a_slow_disk_alone_loses_nothing(tmp_path: Path) -> None:
    """It is `everysec` that does: a store that writes before it answers is slow, and right."""
    outcome = await Chaos(tmp_path, Plot(node_kills=0, store_kills=2, pauses=0, pause=0.3, disk=0.03, calm=60)).run()
    assert not outcome.violations, "\n".join([outcome.figures, *outcome.violations[:10]])
    assert outcome.moves, outcome.figures


def test_each_bug_has_what_finds_it() -> None:
    """None is planted without being looked for."""
    assert PLANTS.keys() == TESTS.keys() | {name for name, plot in PLOTS.items() if not plot.store}
