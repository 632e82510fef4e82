"""What a finished race leaves behind, in short: sixty long ones in the store, a hundred short ones on a node."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soaks import growth
from tests.soaks.figures import Figure

pytestmark = pytest.mark.timeout(600)


def _of(figures: list[Figure], unit: str) -> float:
    (value,) = [figure.value for figure in figures if figure.unit == unit]
    return value


async def test_a_race_on_record_takes_little_space(tmp_path: Path) -> None:
    each = _of(await growth.pack(tmp_path, 60, lambda _: None), "KiB")
    # So few carry what the store needs for itself; the long form holds them to 2.5.
    assert each < 6


async def test_a_node_forgets_races_that_have_ended(tmp_path: Path) -> None:
    grown, _ = await growth.grow(tmp_path, 100, lambda _: None)
    # Of what a node learns in its first races little is of any one of them: the long form tells them apart.
    assert grown.value < 12
