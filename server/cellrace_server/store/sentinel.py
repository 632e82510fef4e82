"""The primary of a store that Sentinels watch, whichever server that is at the moment (NODES, 16).

redis-py's Sentinel client, and what that leaves open:

- All Sentinels are asked at once and the latest election that any of them knows counts: one that was cut off cannot
  lead back to a deposed primary, and one that is dead costs a moment instead of its retries.
- A connection that is built anew asks who the primary is, also in the middle of a command that is repeated, and makes
  the server itself say that it is one.
- The pool bounds its connections as the other pools here do, and lends none that leads to an earlier primary.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, TypeAlias, cast
from urllib.parse import parse_qsl, urlencode, urlsplit

from redis.asyncio import BlockingConnectionPool, Redis, SSLConnection
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import MasterNotFoundError, Sentinel, SentinelConnectionPool
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, ReadOnlyError, ResponseError
from redis.exceptions import ConnectionError as NotConnected

from cellrace_server.store.connections import TCPConnection

SCHEMES = ("redis+sentinel://", "rediss+sentinel://")
DEFAULT_PORT = 26379
"""The port of a Sentinel for which the URL names none."""
SENTINEL_TIMEOUT = 1.0
"""Seconds that a Sentinel has to take a connection, and again to answer."""
LAST_WORD = 0.05
"""Seconds that the others have once most Sentinels have answered."""

Address: TypeAlias = tuple[str, int]
Masters: TypeAlias = dict[str, dict[str, Any]]
"""What one Sentinel tells: the state of each primary that it watches, by the name of the service."""


class NoPrimary(MasterNotFoundError):
    """The Sentinels name no server that can be written to just now."""


class UnknownService(NoPrimary):
    """The Sentinels do not watch the service that was named."""


class SentinelsRefuse(NoPrimary):
    """The Sentinels do not answer this client: they want another password."""


class Deposed(NotConnected):
    """Another server has been elected primary."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A service as its URL names it, and what connections to its servers and to its Sentinels are made with."""

    service: str
    sentinels: tuple[Address, ...]
    store: dict[str, Any]
    sentinel: dict[str, Any]


def parse_sentinel_url(url: str) -> Watched:
    """Read `redis+sentinel://[USER:PASSWORD@]HOST[:PORT],…/SERVICE[?OPTION=…]`. Raises ValueError.

    The login is the store's; that of the Sentinels, where they want one, are the options `sentinel_user` and
    `sentinel_password`.
    """
    scheme, _, rest = url.partition("://")
    place, _, tail = rest.partition("/")
    service, _, query = tail.partition("?")
    login, at, hosts = place.rpartition("@")
    if not service:
        raise ValueError("no service is named after the Sentinels")
    options = dict(parse_qsl(query, keep_blank_values=True))
    own = {"username": options.pop("sentinel_user", None), "password": options.pop("sentinel_password", None)}
    tls = scheme == "rediss+sentinel"
    known = parse_url(f"redis://{login}{at}store/?{urlencode(options)}")
    store = {name: value for name, value in known.items() if name != "host"}
    sentinel: dict[str, Any] = {name: value for name, value in own.items() if value is not None}
    if tls:
        sentinel |= {"ssl": True, **{name: value for name, value in store.items() if name.startswith("ssl_")}}
    store["connection_class"] = PrimaryTLSConnection if tls else PrimaryConnection
    return Watched(service, tuple(_address(host) for host in hosts.split(",")), store, sentinel)


def _address(text: str) -> Address:
    parts = urlsplit(f"//{text}")
    if not parts.hostname:
        raise ValueError("a Sentinel has no host")
    return parts.hostname, parts.port or DEFAULT_PORT


class Sentinels(Sentinel):
    """The Sentinels of one service, which elect its primary."""

    def __init__(self, watched: Watched) -> None:
        super().__init__(
            watched.sentinels,
            sentinel_kwargs={
                "socket_connect_timeout": SENTINEL_TIMEOUT,
                "socket_timeout": SENTINEL_TIMEOUT,
                "retry": Retry(NoBackoff(), 0),  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
                "protocol": 2,
                "driver_info": None,
                **watched.sentinel,
            },
        )
        self._named = ", ".join(f"{host}:{port}" for host, port in watched.sentinels)

    async def discover_master(self, service_name: str) -> Address:
        """Where the primary is by the latest election. Raises NoPrimary."""
        answers, faults = await self._ask()
        states = [masters[service_name] for masters in answers if service_name in masters]
        if not states:
            raise self._silence(service_name, answers, faults)
        latest = max(state["config-epoch"] for state in states)
        for state in states:
            if state["config-epoch"] == latest and self.check_master_state(state, service_name):
                return _place(state)
        raise NoPrimary(f"the Sentinels take the primary of {service_name!r} for dead and have elected no other yet")

    async def confirm(self, service_name: str, address: Address) -> bool:
        """Whether most of the Sentinels still take a server for the primary. Raises NoPrimary, Deposed."""
        found = await self.discover_master(service_name)
        if found != address:
            raise Deposed(f"the Sentinels have elected {found[0]}:{found[1]} in place of {address[0]}:{address[1]}")
        answers, _ = await self._ask()
        agreed = sum(_place(masters[service_name]) == address for masters in answers if service_name in masters)
        return agreed > len(self.sentinels) // 2

    async def _ask(self) -> tuple[list[Masters], list[Exception]]:
        asked = [asyncio.ensure_future(_masters(sentinel)) for sentinel in self.sentinels]
        pending = set(asked)
        try:
            while pending:
                told = sum(one.done() and one.exception() is None for one in asked)
                patience = LAST_WORD if told > len(asked) // 2 else None  # Each attempt has its own end.
                done, pending = await asyncio.wait(pending, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
                if not done:
                    break
            ended = [one for one in asked if one.done()]
            faults = [fault for one in ended if isinstance(fault := one.exception(), Exception)]
            return [one.result() for one in ended if one.exception() is None], faults
        finally:
            for one in pending:
                one.cancel()

    def _silence(self, service: str, answers: list[Masters], faults: list[Exception]) -> NoPrimary:
        if answers:
            known = ", ".join(sorted({repr(name) for masters in answers for name in masters})) or "nothing"
            return UnknownService(f"the Sentinels at {self._named} watch no service {service!r}, but {known}")
        refusal = next((fault for fault in faults if isinstance(fault, (AuthenticationError, ResponseError))), None)
        if refusal is not None:
            return SentinelsRefuse(f"the Sentinels at {self._named} refuse to tell where it is: {refusal}")
        return NoPrimary(f"none of the Sentinels at {self._named} answers: {faults[0]}")


async def _masters(sentinel: Redis) -> Masters:
    try:
        return cast(Masters, await sentinel.sentinel_masters())
    except NotConnected as error:
        # What is refused while a connection is set up comes wrapped as a connection that failed.
        raise error.__cause__ if isinstance(error.__cause__, (AuthenticationError, ResponseError)) else error from None


def _place(state: dict[str, Any]) -> Address:
    return state["ip"], state["port"]


class PrimaryConnection(TCPConnection):
    """A connection to whichever server is the primary when it is built."""

    def __init__(self, *, connection_pool: PrimaryPool, **settings: Any) -> None:
        self._pool = connection_pool
        super().__init__(**settings)

    async def connect_check_health(self, check_health: bool = True, retry_socket_connect: bool = False) -> None:  # noqa: ARG002 - redis-py passes it.
        """Connect, once: who retries asks the Sentinels again."""
        if self.is_connected:
            return
        self.host, self.port = await self._pool.get_master_address()  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
        await super().connect_check_health(check_health, retry_socket_connect=False)

    async def on_connect_check_health(self, check_health: bool = True) -> None:
        """Log in, then make sure of the server's role: the Sentinels may not have heard of an election yet."""
        await super().on_connect_check_health(check_health)
        await self.send_command("ROLE", check_health=False)
        try:
            role = await self.read_response()
        except ResponseError:
            return  # The user may not ask; a write will tell.
        if role[0] not in (b"master", b"primary"):
            raise NotConnected(f"{self.host}:{self.port} is a replica")

    async def read_response(self, *args: Any, **options: Any) -> Any:
        """Read one answer; leave a server that has become a replica."""
        try:
            return await super().read_response(*args, **options)
        except ReadOnlyError as error:
            await self.disconnect()
            raise NotConnected(f"{self.host}:{self.port} has become a replica") from error


class PrimaryTLSConnection(PrimaryConnection, SSLConnection):
    """The same over TLS."""


class PrimaryPool(SentinelConnectionPool, BlockingConnectionPool):
    """Connections to the primary of a service."""

    sentinel_manager: Sentinels
    service_name: str

    async def ensure_connection(self, connection: Any) -> None:
        """Make a connection ready; one that was lent while another primary was elected is built anew."""
        if connection.is_connected and (connection.host, connection.port) != self.master_address:
            await connection.disconnect()
        await super().ensure_connection(connection)

    async def confirm(self, connection: Any) -> bool:
        """Whether most Sentinels take the server of a connection for the primary still. Raises NoPrimary, Deposed."""
        return await self.sentinel_manager.confirm(self.service_name, (connection.host, connection.port))

    async def aclose(self) -> None:
        """Close all connections, those to the Sentinels too."""
        await super().aclose()
        await self.sentinel_manager.aclose()


def primary_pool(url: str, **settings: Any) -> PrimaryPool:
    """The pool of a service's URL, without connecting. Raises ValueError, TypeError."""
    watched = parse_sentinel_url(url)
    return PrimaryPool(watched.service, Sentinels(watched), **{**watched.store, **settings})  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
