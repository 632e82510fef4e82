"""Up to which stamp moves may be shown to those who do not play."""

from __future__ import annotations

import pytest

from cellrace.messages import Spectate
from cellrace_server.core.spectating import DELAY, shown_until

NOW = 1_000_000


@pytest.mark.parametrize(
    ("spectate", "until"), [(Spectate.LIVE, NOW), (Spectate.DELAYED, NOW - DELAY), (Spectate.AFTER, None)]
)
def test_while_a_race_runs_its_setting_decides(spectate: Spectate, until: int | None) -> None:
    assert shown_until(spectate, over=False, now=NOW) == until


@pytest.mark.parametrize("spectate", Spectate)
def test_when_it_is_over_nothing_is_held_back(spectate: Spectate) -> None:
    assert shown_until(spectate, over=True, now=NOW) == NOW
