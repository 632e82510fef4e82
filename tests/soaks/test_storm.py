"""After a node's death everybody comes back, in short: a hundred players."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soaks import storm
from tests.soaks.figures import broken_in_short

pytestmark = pytest.mark.timeout(600)


async def test_everybody_is_back_after_a_nodes_death_and_nobody_is_refused_for_good(tmp_path: Path) -> None:
    figures = await storm.run(tmp_path, 100, lambda _: None)
    assert broken_in_short(figures) == []
