"""Waiting for what another process or task does, without guessing how long that takes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import TypeVar

T = TypeVar("T")

POLL = 0.005


async def eventually(predicate: Callable[[], T | Awaitable[T]], timeout: float = 60.0) -> T:  # noqa: ASYNC109 - it names the claim, which fails as an assertion.
    """Return the predicate's first true answer; fail the test if there is none within `timeout` seconds."""
    loop = asyncio.get_running_loop()
    end = loop.time() + timeout
    while True:
        answer = predicate()
        value = await answer if isawaitable(answer) else answer
        if value:
            return value
        assert loop.time() < end, f"not within {timeout} s: {getattr(predicate, '__qualname__', predicate)}"
        await asyncio.sleep(POLL)
