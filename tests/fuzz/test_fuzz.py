"""Bad inputs cost the one who sends them an answer, and the server nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.run import OPTIONS, run
from tests.story.servers import servers


@pytest.mark.timeout(900)
async def test_fifty_thousand_bad_inputs(tmp_path: Path) -> None:
    """Frames, WebSockets, HTTP: no traceback, no hang, one answer each, no growth; `python -m tests.fuzz` goes on."""
    async with servers(tmp_path) as house:
        await run(await house.start(*OPTIONS), 50_000, seed=1)
