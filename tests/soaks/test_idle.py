"""Idle connections cost little, in short: a thousand, pinged as the protocol asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soaks import idle
from tests.soaks.figures import broken_in_short

pytestmark = pytest.mark.timeout(600)

CONNECTIONS = 1_000
"""So many that the few MiB which a new server takes for itself in its first seconds do not count for each of them."""


async def test_an_idle_connection_takes_little_memory_and_is_pinged(tmp_path: Path) -> None:
    # Pinged every four seconds: a connection that is held up for as long is taken for dead.
    figures = await idle.run(tmp_path, CONNECTIONS, lambda _: None, settling=0.5, measured=8.0)
    assert broken_in_short(figures) == []
    (each,) = [figure.value for figure in figures if figure.unit == "KiB"]
    # Of ten thousand in 300 MiB, beside the 60 of the server itself, each may have 24.
    assert each < 24
