"""Processes that belong to a server are kept alive, also through times in which none can be started."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from cellrace_server import keeping
from cellrace_server.keeping import Keeper, Program, kept
from tests.waiting import eventually

Exec = Callable[..., Coroutine[Any, Any, asyncio.subprocess.Process]]

MORTAL = """
import sys
starts = open(sys.argv[1], "a+")
starts.write("x")
starts.flush()
starts.seek(0)
if len(starts.read()) == 1:
    sys.exit(3)
print("there", flush=True)
sys.stdin.read()
"""
"""A program that notes each of its starts and dies at once after the first; later ones end with their input."""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses that nobody waits for."""
    monkeypatch.setattr(keeping, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(keeping, "LONGEST_PAUSE", 0.02)


@pytest.fixture
def failures(monkeypatch: pytest.MonkeyPatch) -> list[OSError]:
    """What the attempts after the first one to start a process fail with."""
    start: Exec = asyncio.create_subprocess_exec
    ahead = [OSError(24, "Too many open files"), OSError(12, "Cannot allocate memory")]
    began: list[int] = []

    async def start_or_fail(*words: str, **options: Any) -> asyncio.subprocess.Process:
        began.append(1)
        if len(began) > 1 and ahead:
            raise ahead.pop()
        return await start(*words, **options)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start_or_fail)
    return ahead


@pytest.mark.parametrize("speaks", [False, True], ids=["a bot", "a worker"])
async def test_one_that_dies_when_none_can_be_started_is_there_again_once_it_can(
    tmp_path: Path, failures: list[OSError], speaks: bool
) -> None:
    """Whether its first line is waited for, as a worker's is, or not."""
    starts = tmp_path / "starts"
    keeper = Keeper(Program([sys.executable, "-c", MORTAL, str(starts)], {}, "it"))
    if speaks:
        assert await keeper.start() == ""
    async with kept([keeper]):
        await eventually(lambda: starts.exists() and starts.read_text() == "xx")
        assert not failures
