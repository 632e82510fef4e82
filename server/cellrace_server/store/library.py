"""The function library: loaded at the start, called by name, and its failures in the tree of the store's errors."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any, TypeAlias

from redis.asyncio import Redis
from redis.exceptions import RedisError

from cellrace_server.counts import Counts
from cellrace_server.store.errors import StoreUnavailable

Argument: TypeAlias = str | int | bytes
Answer: TypeAlias = Any
"""What a function answers: nested lists of bytes and integers, in the shape that the table in the Lua file gives."""


class Link:
    """The way to the store: sends commands, calls functions, and remembers when that last failed."""

    def __init__(self, redis: Redis, counts: Counts | None = None) -> None:
        self.redis = redis
        self._counts = counts or Counts()
        self._failed_at = -math.inf

    @property
    def seconds_since_error(self) -> float:
        """How long ago the store last failed to answer; infinite if it never did."""
        return time.monotonic() - self._failed_at

    @asynccontextmanager
    async def answering(self) -> AsyncIterator[None]:
        """Turns any failure of the store into StoreUnavailable: whether a write took place is then unknown."""
        try:
            yield
        except (RedisError, OSError) as error:
            self._failed_at = time.monotonic()
            self._counts.store_errors += 1
            raise StoreUnavailable(f"The store does not answer ({error}).") from error

    async def command(self, *words: Argument) -> Answer:
        """Send one command. Raises StoreUnavailable."""
        async with self.answering():
            return await self.redis.execute_command(*words)  # type: ignore[no-untyped-call]  # redis-py leaves it untyped

    async def commands(self, commands: Iterable[Sequence[Argument]]) -> list[Answer]:
        """Send repeatable commands in one go; a lost reply repeats them all. Raises StoreUnavailable."""
        pipeline = self.redis.pipeline(transaction=False)
        for words in commands:
            pipeline.execute_command(*words)
        async with self.answering():
            answers: list[Answer] = await pipeline.execute()
            return answers

    async def call(self, function: str, keys: Sequence[str], *arguments: Argument) -> Answer:
        """Call one function. Raises StoreUnavailable."""
        return await self.command("FCALL", function, len(keys), *keys, *arguments)

    async def batch(self, commands: Sequence[Sequence[Argument]]) -> list[Answer]:
        """Send many commands that only read, in one round trip. Raises StoreUnavailable."""
        async with self.answering():
            pipeline = self.redis.pipeline(transaction=False)
            for words in commands:
                pipeline.execute_command(*words)
            return await pipeline.execute()

    async def load_library(self) -> None:
        """Load the functions into the store, over those of the same version."""
        text = (files(__package__) / "functions" / "cellrace.lua").read_text(encoding="utf-8")
        async with self.answering():
            await self.redis.function_load(text, replace=True)
