"""What other nodes tell this one: pub/sub is a wake-up, the log is the truth (NODES, 13–15)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeAlias

import msgpack
import structlog
from msgspec import Struct
from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.exceptions import PubSubError

from cellrace_server.core.facts import Stamped
from cellrace_server.core.presence import Presence
from cellrace_server.store import keys
from cellrace_server.store.errors import FAILURES, StoreUnavailable
from cellrace_server.store.library import Link
from cellrace_server.store.records import Entry, parse_presence, stamped_records

ECHO = 3.0
"""Seconds between two messages of a node to itself."""
DEAF = 7.0
"""After how many seconds without such an echo the subscription is taken for dead: two are missing."""
AGAIN = 0.2
"""Seconds until a store that was away is asked again: not all the time."""

log = structlog.get_logger()


class FactTold(Struct, frozen=True):
    """Another node has written a fact."""

    race: str
    stamped: Stamped


class MovesTold(Struct, frozen=True):
    """Another node has written entries, the last of them at `seq`."""

    race: str
    player: str
    seq: int
    entries: tuple[Entry, ...]


class PresenceTold(Struct, frozen=True):
    """An entrant's connection has changed at another node."""

    race: str
    player: str
    presence: Presence


class SupersededTold(Struct, frozen=True):
    """A player has connected elsewhere; the connection `sid` plays no more."""

    player: str
    sid: str


class BannedTold(Struct, frozen=True):
    """A player has been banned, or deleted."""

    player: str


class MatchedTold(Struct, frozen=True):
    """A player who waits by the connection `sid` has a rival, and this race."""

    player: str
    race: str
    sid: str


Telling: TypeAlias = FactTold | MovesTold | PresenceTold | SupersededTold | BannedTold | MatchedTold


class _Subscription(PubSub):
    """One subscription over one connection, which ends with it."""

    async def on_connect(self, _connection: object) -> None:
        """Be told of a new connection: not to be used, where something was subscribed by the one before it."""
        # redis-py would subscribe again in here, and connect again wherever that fails: deeper each time, and at once,
        # where somebody takes connections for a store that is away, and closes them.
        if self.subscribed:
            raise PubSubError("its connection was lost")


class Hearing:
    """The one subscription of a node; rebuilt when it falls silent, and what may have been missed is then read."""

    def __init__(self, redis: Redis, node: str, hear: Callable[[Telling], None], catch_up: Callable[[], None]) -> None:
        self._redis = redis
        self._link = Link(redis)
        self._channel = keys.channel(node)
        self._hear = hear
        self._catch_up = catch_up
        self._heard_at = float("-inf")
        self._subscribed = True
        self.losses = 0
        """How often the subscription was lost."""

    @property
    def silence(self) -> float:
        """How many seconds ago this node last heard itself."""
        return time.monotonic() - self._heard_at

    @property
    def ready(self) -> bool:
        """Whether a message published through the store has come back within the last seconds."""
        return self.silence < DEAF

    async def run(self) -> None:
        """Subscribe, hear and subscribe again, until cancelled."""
        while True:
            try:
                await self._listen()
            except FAILURES as error:
                # Once for each loss, however many attempts it takes until there is a subscription again.
                (log.warning if self._subscribed else log.debug)(
                    "the subscription is lost and built anew", reason=str(error) or type(error).__name__
                )
                self.losses += self._subscribed
                self._subscribed = False
            except Exception:  # The edge: a mistake of ours does not make this node deaf for good.
                log.exception("what is heard could not be taken in: the subscription is built anew")
            await asyncio.sleep(AGAIN)

    async def echo(self) -> None:
        """Publish to this node every few seconds, until cancelled."""
        while True:
            try:
                await self._link.command("PUBLISH", self._channel, b"")
            except StoreUnavailable as error:
                log.debug("no echo", reason=str(error))
            await asyncio.sleep(ECHO if self.ready else AGAIN)

    async def _listen(self) -> None:
        pubsub = _Subscription(self._redis.connection_pool)
        try:
            await pubsub.subscribe(self._channel)
            while True:
                async with asyncio.timeout(DEAF):  # Not wait_for, which on Python 3.11 may miss a cancellation.
                    message = await pubsub.get_message(timeout=None)
                if message is None:
                    continue
                match message["type"]:
                    case "subscribe":
                        self._subscribed = True
                        # Whatever was published while nobody listened is in the log: read it now.
                        self._catch_up()
                    case "message":
                        self._heard_at = time.monotonic()
                        if message["data"]:
                            self._take_in(message["data"])
                    case _:
                        pass
        finally:
            await pubsub.aclose()  # type: ignore[no-untyped-call]  # redis-py leaves it untyped

    def _take_in(self, data: bytes) -> None:
        try:
            for telling in parse_tellings(data):
                self._hear(telling)
        except Exception:  # The edge: what is told wrongly once does not make this node deaf to all the rest.
            log.exception("a telling could not be taken in")


def parse_tellings(data: bytes) -> list[Telling]:
    """What is told in one message; what this version does not know is passed over."""
    return [telling for parts in msgpack.unpackb(data, raw=True) if (telling := _telling(parts)) is not None]


def _telling(parts: list[bytes]) -> Telling | None:
    subject = parts[0].decode()
    match parts[1]:
        case b"fact":
            return FactTold(subject, stamped_records(int(parts[2]) - 1, [parts[3]])[0])
        case b"moves":
            at = int(parts[7])
            moves = parts[8]
            entries = tuple(Entry(at, bytes(move).decode()) for move in moves)
            return MovesTold(subject, parts[2].decode(), int(parts[3]), entries)
        case b"presence":
            return PresenceTold(subject, parts[2].decode(), parse_presence(parts[3]))
        case b"matched":
            return MatchedTold(subject, parts[2].decode(), parts[3].decode())
        case b"banned":
            return BannedTold(subject)
        case b"superseded":
            return SupersededTold(subject, parts[2].decode())
        case _:
            # Nodes of a newer version may tell of what this one does not know; they tell of all the rest as well.
            log.debug("a telling of no known kind", kind=parts[1])
            return None
