"""Writes that count only once a replica has them, where the store has replicas (NODES, 17).

A write goes out with `WAIT` behind it on the same connection. While too few replicas have it nothing is answered: the
same connection asks again, since `WAIT` counts for the connection that wrote. When that connection breaks, the call is
repeated whole on another, perhaps to another primary.

Servers since 7 let `WAIT` cover only what its own connection has caused to be replicated. A call that is repeated finds
everything on record and writes nothing; its `WAIT` would be satisfied at once, by replicas that have none of it. So
a message to nobody goes between: it is replicated after all that was written before, by whomever.

Where the store has no replica there is no `WAIT`, and now and then a look whether one has come. When the last one has
gone, its primary goes on alone: after a pause in which a replica would come back, unless it has just become primary,
and behind Sentinels only while most of them still take it for the primary; for one that was cut off from its replicas
may have been deposed without knowing. So one that is alone is left, at the next look, once they name another.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import structlog
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as NotConnected
from redis.exceptions import ResponseError

from cellrace_server.store.errors import StoreUnreplicated
from cellrace_server.store.sentinel import NoPrimary, PrimaryPool

Argument: TypeAlias = str | int | bytes
Answer: TypeAlias = Any
"""What a function answers: nested lists of bytes and integers, in the shape that the table in the Lua file gives."""

PATIENCE = 10.0
"""For how many seconds a write is kept waiting for its replicas."""
SLICE = 0.5
"""Seconds of one `WAIT`, before the store is asked whether there still is a replica."""
LOOK = 2.0
"""Seconds between two looks at whether a store that had no replica has one now."""
GRACE = 3.0
"""Seconds that a primary's last replica has to come back before the primary goes on alone."""
FENCE = "cellrace:fence"

log = structlog.get_logger()


class Replicas:
    """How many replicas must have a write, and what is known of those there are.

    `wanted` None means one of those that are attached, if any is.
    """

    def __init__(self, wanted: int | None = None, *, patience: float | None = None) -> None:
        self._wanted = wanted
        self._patience = PATIENCE if patience is None else patience
        self._attached = 0
        self._history = ""
        self._kept_up_at: object = None
        """The address of the server whose replicas last had what was written."""
        self._looked_at = -math.inf
        self._short_since: float | None = None

    @property
    def needed(self) -> int:
        """How many replicas must have a write before it is answered."""
        return min(1, self._attached) if self._wanted is None else self._wanted

    @property
    def attached(self) -> int:
        """How many replicas followed the primary when it was last asked."""
        return self._attached

    async def look(self, redis: Redis) -> None:
        """Ask how many replicas there are. Raises RedisError, OSError."""
        self._saw(await redis.info("replication"))

    async def send(self, redis: Redis, commands: Sequence[Sequence[Argument]], *, lasting: bool) -> list[Answer]:
        """Send repeatable commands in one go; if `lasting`, answer once enough replicas have what they wrote.

        Raises RedisError, OSError, StoreUnreplicated: whether anything was written is then unknown.
        """
        if lasting and self._looked_at == -math.inf:
            await self.look(redis)
        pool = redis.connection_pool
        # A write that waits keeps its connection: what finds none is answered as by a store that does not answer.
        connection: Any = await pool.get_connection()  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
        try:
            answers: list[Answer] = await connection.retry.call_with_retry(
                lambda: self._exchange(redis, connection, commands, lasting), lambda _error: connection.disconnect()
            )
        except (ResponseError, StoreUnreplicated):
            raise  # All that was asked has been answered.
        except BaseException:
            await connection.disconnect(nowait=True)
            raise
        finally:
            await pool.release(connection)
        return answers

    async def _exchange(
        self, redis: Redis, connection: Any, commands: Sequence[Sequence[Argument]], lasting: bool
    ) -> list[Answer]:
        needed = self.needed if lasting else 0
        look = lasting and not needed and self._wanted is None and time.monotonic() - self._looked_at > LOOK
        wait = _wait(needed, min(SLICE, self._patience))
        after: list[Sequence[Argument]] = [_FENCE, wait] if needed else [_LOOK] if look else []
        if look:
            self._looked_at = time.monotonic()  # Others who write meanwhile need not look too.
            await _heed_election(redis, connection)
        await connection.send_packed_command(connection.pack_commands([*commands, *after]))
        answers = [await _told(redis, connection, words) for words in commands]
        told = [await _told(redis, connection, words) for words in after]
        if look and isinstance(told[0], Mapping):
            self._saw(told[0])  # A replica that has come meanwhile has this write or gets it; the next one waits.
        if (refused := next((answer for answer in answers if isinstance(answer, ResponseError)), None)) is not None:
            raise refused
        if needed:
            await self._settle(redis, connection, told, needed)
        return answers

    async def _settle(self, redis: Redis, connection: Any, told: list[Answer], needed: int) -> None:
        """Wait until enough replicas have what this connection wrote."""
        while True:
            if (refused := next((answer for answer in told if isinstance(answer, ResponseError)), None)) is not None:
                # A server that has become a replica meanwhile refuses: what it took may be undone.
                raise NotConnected(f"the store no longer waits for its replicas ({refused})")
            if told[-1] >= needed:
                self._kept_up_at = _address(connection)
                self._note_enough()
                return
            waited = self._waited()
            if await self._alone(redis, connection, waited):
                return
            if waited >= self._patience:
                raise StoreUnreplicated(
                    f"The store has written, but {needed - told[-1]} of its replicas have not. Look after them."
                )
            wait = _wait(needed, min(self._patience - waited, SLICE))
            await connection.send_packed_command(connection.pack_commands([wait]))
            told = [await _told(redis, connection, wait)]

    def _waited(self) -> float:
        """For how many seconds the replicas have been silent: all writes that wait share one patience."""
        if self._short_since is None:
            self._short_since = time.monotonic()
            log.warning("the store's replicas do not keep up: nothing is answered until they do")
        return time.monotonic() - self._short_since

    def _note_enough(self) -> None:
        if self._short_since is not None:
            self._short_since = None
            log.warning("the store's replicas keep up again")

    async def _alone(self, redis: Redis, connection: Any, waited: float) -> bool:
        """Whether the primary has lost all its replicas and is the primary still."""
        if self._wanted is not None:
            return False
        await connection.send_packed_command(connection.pack_commands([_LOOK]))
        info = await _told(redis, connection, _LOOK)
        if not isinstance(info, Mapping) or info.get("role") != "master" or _online(info):
            return False
        # Seen to have them under this history, or since: it has another name after each start, and nobody asks for it.
        had_some = info.get("master_replid") == self._history or self._kept_up_at == _address(connection)
        lost_here = self._attached > 0 and had_some
        if lost_here and waited < min(GRACE, self._patience):
            return False
        pool = redis.connection_pool
        if isinstance(pool, PrimaryPool):
            try:
                if not await pool.confirm(connection):
                    return False
            except NoPrimary:
                return False
        self._short_since = None
        self._saw(info)
        return True

    def _saw(self, info: Mapping[str, Any]) -> None:
        first = self._looked_at == -math.inf
        before, self._attached = self._attached, _online(info)
        self._history = str(info.get("master_replid"))
        self._looked_at = time.monotonic()
        if self._wanted is not None or first or bool(before) == bool(self._attached):
            return
        if self._attached:
            log.info("the store has a replica: each write waits for it", replicas=self._attached)
        else:
            log.warning("the store has no replica any more: what it has written is answered as it stands")


def _address(connection: Any) -> object:
    return getattr(connection, "path", None) or (connection.host, connection.port)


async def _heed_election(redis: Redis, connection: Any) -> None:
    """Leave a server without replicas when the Sentinels name another. Raises Deposed."""
    pool = redis.connection_pool
    if isinstance(pool, PrimaryPool):
        # Sentinels that cannot be asked, or do not know yet, name no other.
        with contextlib.suppress(NoPrimary):
            await pool.confirm(connection)


_FENCE = ("PUBLISH", FENCE, b"")
_LOOK = ("INFO", "replication")


def _wait(needed: int, seconds: float) -> tuple[str, int, int]:
    return "WAIT", needed, max(1, int(seconds * 1000))  # 0 would wait for ever.


def _online(info: Mapping[str, Any]) -> int:
    # One that still reads the whole of the data does not count: it acknowledges nothing before it is done.
    return sum(isinstance(told, Mapping) and told.get("state") == "online" for told in info.values())


async def _told(redis: Redis, connection: Any, words: Sequence[Argument]) -> Answer:
    """The answer to a command; what the server refuses is an answer too, for others follow it."""
    try:
        return await redis.parse_response(connection, words[0])  # type: ignore[arg-type]  # the name is text
    except ResponseError as refused:
        return refused
