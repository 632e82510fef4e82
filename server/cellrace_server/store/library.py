"""The function library: loaded at the start, called by name, and its failures in the tree of the store's errors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any, TypeAlias

from redis.asyncio import Redis
from redis.exceptions import RedisError

from cellrace_server.store.errors import StoreUnavailable

Argument: TypeAlias = str | int | bytes
Answer: TypeAlias = Any
"""What a function answers: nested lists of bytes and integers, in the shape that the table in the Lua file gives."""


@asynccontextmanager
async def answering() -> AsyncIterator[None]:
    """Turns any failure of the store into StoreUnavailable: whether a write took place is then unknown."""
    try:
        yield
    except (RedisError, OSError) as error:
        raise StoreUnavailable(f"The store does not answer ({error}).") from error


async def load_library(redis: Redis) -> None:
    """Load the functions into the store, over those of the same version."""
    text = (files(__package__) / "functions" / "cellrace.lua").read_text(encoding="utf-8")
    async with answering():
        await redis.function_load(text, replace=True)


async def command(redis: Redis, *words: Argument) -> Answer:
    """Send one command. Raises StoreUnavailable."""
    async with answering():
        return await redis.execute_command(*words)  # type: ignore[no-untyped-call]  # redis-py leaves it untyped


async def call(redis: Redis, function: str, keys: Sequence[str], *arguments: Argument) -> Answer:
    """Call one function. Raises StoreUnavailable."""
    return await command(redis, "FCALL", function, len(keys), *keys, *arguments)
