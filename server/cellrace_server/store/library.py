"""The function library: loaded at the start, called by name, and its failures in the tree of the store's errors."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files

from redis.asyncio import Redis
from redis.exceptions import ReadOnlyError, ResponseError

from cellrace_server.counts import Counts
from cellrace_server.store.errors import FAILURES, StoreUnavailable, StoreUnreplicated
from cellrace_server.store.replicas import Answer, Argument, Replicas

__all__ = ["Answer", "Argument", "Link", "versioned"]

VERSION = "1"
"""The version of the functions; raised with each change that a node of the version before could not live with."""

READ = frozenset(
    """EXISTS FCALL_RO GET HEXISTS HGET HGETALL HKEYS HLEN HMGET HRANDFIELD HSCAN INFO LINDEX LLEN LRANGE PING PUBLISH
    PUBSUB SCAN SCARD SISMEMBER SMEMBERS SMISMEMBER STRLEN TIME TTL ZCARD ZCOUNT ZRANGE ZRANGEBYSCORE ZREVRANGE
    ZREVRANGEBYSCORE ZSCORE""".split()  # noqa: SIM905 - three lines instead of thirty.
)
"""Commands that leave nothing to lose; any other waits for the replicas."""
READING_FUNCTIONS = frozenset({"board_rows", "queue_read", "race_head"})
"""Functions that are registered with the flag `no-writes`."""
FLEETING_FUNCTIONS = frozenset({"board_prune", "due_claim", "due_settle", "race_unhost"})
"""Functions whose write may be lost with its server: the next sweep, or the next reader, does the same again."""


def versioned(function: str) -> str:
    """The name under which a function of this version is called."""
    return f"{function}_{VERSION}"


class Link:
    """The way to the store: sends commands, calls functions, and remembers when that last failed.

    Each write waits for the store's replicas, where it has any; `race_load` too, for a node answers from it.
    """

    def __init__(self, redis: Redis, counts: Counts | None = None, replicas: Replicas | None = None) -> None:
        self.redis = redis
        self._counts = counts or Counts()
        self._replicas = replicas or Replicas()
        self._failed_at = -math.inf
        self.refusal = ""
        """Why the last write failed; empty when it took place. A node writes every other second: its beat."""

    @property
    def seconds_since_error(self) -> float:
        """How long ago the store last failed to answer; infinite if it never did."""
        return time.monotonic() - self._failed_at

    @property
    def replicas(self) -> Replicas:
        """What is known of the store's replicas."""
        return self._replicas

    @asynccontextmanager
    async def answering(self) -> AsyncIterator[None]:
        """Turns any failure of the store into StoreUnavailable: whether a write took place is then unknown."""
        try:
            yield
        except (*FAILURES, StoreUnreplicated) as error:
            self._failed_at = time.monotonic()
            self._counts.store_errors += 1
            if isinstance(error, StoreUnreplicated):
                raise
            if isinstance(error, ReadOnlyError):
                # The name leads to another server by now; connections that are kept would stay with this one.
                await self.redis.connection_pool.disconnect(inuse_connections=False)
            raise StoreUnavailable(f"The store does not answer ({error}).") from error

    async def command(self, *words: Argument, lasting: bool = True) -> Answer:
        """Send one command; what is not `lasting` may be lost with its server, and waits for no replica.

        Raises StoreUnavailable.
        """
        return (await self._send([words], lasting))[0]

    async def commands(self, commands: Iterable[Sequence[Argument]], *, lasting: bool = True) -> list[Answer]:
        """Send commands in one go, each repeatable by itself; a lost reply repeats them all.

        Raises StoreUnavailable.
        """
        sent = list(commands)
        return await self._send(sent, lasting) if sent else []

    async def call(self, function: str, keys: Sequence[str], *arguments: Argument) -> Answer:
        """Call one function. Raises StoreUnavailable."""
        return await self.command("FCALL", versioned(function), len(keys), *keys, *arguments)

    async def load_libraries(self) -> None:
        """Load the functions into the store, over those of the same version and beside those of others (NODES, 18)."""
        for source in sorted((files(__package__) / "functions").iterdir(), key=lambda source: source.name):
            if source.name.endswith(".lua"):
                text = source.read_text(encoding="utf-8").replace("@VERSION@", VERSION)
                await self.command("FUNCTION LOAD", "REPLACE", text)

    async def _send(self, commands: Sequence[Sequence[Argument]], lasting: bool) -> list[Answer]:
        writes = any(words[0] not in READ for words in commands)
        try:
            answers = await self._send_on(commands, lasting)
        except StoreUnavailable as error:
            if writes:
                self.refusal = str(error)
            raise
        if writes:
            self.refusal = ""
        return answers

    async def _send_on(self, commands: Sequence[Sequence[Argument]], lasting: bool) -> list[Answer]:
        lasting = lasting and any(map(_lasts, commands))
        async with self.answering():
            try:
                answers = await self._replicas.send(self.redis, commands, lasting=lasting)
                _heed_cancellation()
                return answers
            except ResponseError as error:
                if not str(error).startswith("Function not found"):
                    raise
        # A failover to a server that had not read them yet, or somebody has emptied the store.
        await self.load_libraries()
        async with self.answering():
            return await self._replicas.send(self.redis, commands, lasting=lasting)


def _lasts(words: Sequence[Argument]) -> bool:
    if words[0] == "FCALL":
        function = str(words[1]).removesuffix(f"_{VERSION}")
        return function not in READING_FUNCTIONS and function not in FLEETING_FUNCTIONS
    return words[0] not in READ


def _heed_cancellation() -> None:
    """End a task here that was told to while redis-py waited: its `wait_for` loses that on Python 3.11."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
