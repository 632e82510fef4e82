"""The proof can fail: bugs that are planted are found. All of them: `python -m tests.chaos.planted`."""

from __future__ import annotations

import pytest

from tests.chaos.planted import PLOTS, TESTS, find
from tests.chaos.plants import PLANTS


@pytest.mark.parametrize("name", ["no-sid-check", "no-repeat-check", "answers-lost", "store-that-keeps-no-file"])
def test_a_planted_bug_is_found(name: str) -> None:
    """By the checker over a short run, or by the test that forces its interleaving."""
    assert find(name)


def test_each_bug_has_what_finds_it() -> None:
    """None is planted without being looked for."""
    assert PLANTS.keys() == TESTS.keys() | {name for name, plot in PLOTS.items() if not plot.store}
