"""Clients of the store from a URL, and the look at its settings before it is trusted with a race."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff, NoBackoff
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    ConnectionError,  # noqa: A004 - redis-py's own; the built-in one is never raised by it.
    RedisError,
    ResponseError,
)

from cellrace_server.store.connections import TOLD
from cellrace_server.store.errors import FAILURES, StoreUnavailable, StoreUnfit
from cellrace_server.store.replicas import Replicas
from cellrace_server.store.sentinel import SCHEMES, NoPrimary, SentinelsRefuse, UnknownService, primary_pool

OLDEST_VERSION = (7, 0)
FIRST_ANSWER = 4.5
"""Seconds within which a store must answer at the start of a server."""

# All in seconds.
_CONNECT_TIMEOUT = 2.0
_ANSWER_TIMEOUT = 3.0
_RETRIES = 6  # Most of a second in all, in which an embedded store is up again after a kill.
_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 0.5
_IDLE_BEFORE_PING = 15
_PAUSE_BEFORE_NEXT_LOOK = 0.1
_CONNECTIONS = 64  # The store writes to disk once for all that it is told at the same time.
_SECRETS = frozenset({"password", "sentinel_password", "ssl_password"})
_MOST_REPLICAS = 100  # More is a slip: nothing would ever be answered.


@dataclass(frozen=True, slots=True)
class Connected:
    """A client whose store was looked at, and what its operator should be told."""

    client: Redis
    version: str
    warnings: tuple[str, ...]
    replicas: Replicas


def client_for(url: str, *, connections: int = _CONNECTIONS) -> Redis:
    """Build a client without connecting; whoever listens takes one of its own, so that commands never wait for it.

    `connections` bounds what it opens: a command that finds them all in use waits, then fails as an unreachable store.
    With a URL of Sentinels it follows the primary that they elect.
    """
    backoff = ExponentialWithJitterBackoff(_LONGEST_PAUSE, _FIRST_PAUSE)
    # A store that says nothing is not asked again within: seven times its timeout is longer than anybody waits.
    return _client(url, connections, Retry(backoff, _RETRIES, (ConnectionError,)))


def check_url(url: str) -> str:
    """The URL of a store as it was written. Raises StoreUnfit where it can name none, whatever there is."""
    _wanted_replicas(url)
    client_for(url)
    return url


async def connect(url: str, *, connections: int = _CONNECTIONS) -> Connected:
    """Connect and check that the store can be trusted; raise StoreUnavailable or StoreUnfit within 5 s if not."""
    name = without_secrets(url)
    # Not retried within: a refused password is no better the second time, and a starting store is asked again below.
    probe = _client(url, 1, Retry(NoBackoff(), 0))
    replicas = Replicas(_wanted_replicas(url))
    fault: Exception | None = None
    try:
        async with asyncio.timeout(FIRST_ANSWER) as limit:
            while True:
                try:
                    version, warnings = await _look_at(probe, name)
                    warnings += await _look_at_replicas(probe, replicas, name)
                    return Connected(client_for(url, connections=connections), version, warnings, replicas)
                except FAILURES as error:
                    # What is refused while a connection is set up comes wrapped as a connection that failed.
                    fault = error.__cause__ if isinstance(error.__cause__, RedisError) else error
                if isinstance(fault, (UnknownService, SentinelsRefuse)):
                    raise StoreUnfit(
                        f"The store at {name} cannot be found ({fault}). Correct the name behind the Sentinels, or "
                        "their sentinel_user and sentinel_password, in its URL."
                    ) from fault
                if isinstance(fault, (AuthenticationError, AuthorizationError, ResponseError)):
                    raise StoreUnfit(
                        f"The store at {name} refuses to be used ({fault}). Correct the user, the password or the "
                        "database number in its URL, or give that user more rights."
                    ) from fault
                if limit.expired():
                    raise TimeoutError  # Its one cancellation can be lost on Python 3.11: the look failed instead.
                await asyncio.sleep(_PAUSE_BEFORE_NEXT_LOOK)  # A store that is only just starting refuses at once.
    except TimeoutError:
        raise StoreUnavailable(_unreachable(name, fault)) from fault
    finally:
        await probe.aclose()


def without_secrets(url: str) -> str:
    """Write a store's URL as it may be shown: without its password."""
    if "://" not in url:
        return url if "@" not in url else "***"  # No URL at all, and whatever it is may hold a password.
    if _login_is_torn(url):
        return f"{url.partition('://')[0]}://***"  # Where the password ends only its writer knows.
    try:
        parts = urlsplit(url)
    except ValueError:
        return "the URL of the store"
    place = parts.netloc
    if "@" in place:
        login, host = place.rsplit("@", 1)
        user = login.partition(":")[0]
        place = f"{user}:***@{host}" if ":" in login else f"{user}@{host}"
    query = [(key, "***" if key in _SECRETS else value) for key, value in parse_qsl(parts.query)]
    shown = f"{parts.scheme}://{place}{parts.path}"
    return f"{shown}?{urlencode(query, safe='*')}" if query else shown


def _login_is_torn(url: str) -> bool:
    """Whether user and password have characters that end them in a URL."""
    try:
        scheme, place, path, query, fragment = urlsplit(url)
    except ValueError:
        return "@" in url
    port = place.rpartition("@")[2].partition(":")[2]
    in_query = "@" in query and "@" not in place and bool(port) and not port.isdecimal()
    return scheme != "unix" and ("@" in path + fragment or in_query)


def _client(url: str, connections: int, retry: Retry) -> Redis:
    settings: dict[str, Any] = {
        "max_connections": connections,
        "timeout": _ANSWER_TIMEOUT,
        "socket_connect_timeout": _CONNECT_TIMEOUT,
        "socket_timeout": _ANSWER_TIMEOUT,
        "health_check_interval": _IDLE_BEFORE_PING,
        "retry": retry,
        "protocol": 2,  # Every store and proxy since 7.0 speaks it, and nothing comes unasked between two answers.
        "driver_info": None,  # Two round trips on each new connection, for a name in CLIENT LIST.
        "decode_responses": False,
    }
    if _login_is_torn(url):
        raise _no_store(url, ValueError())
    if not url.startswith("unix:"):
        settings["socket_keepalive"] = True
    try:
        make_pool = primary_pool if url.startswith(SCHEMES) else BlockingConnectionPool.from_url
        pool = make_pool(_without_own_options(url), **settings)
        pool.connection_class = TOLD.get(pool.connection_class, pool.connection_class)
        pool.connection_class(**pool.connection_kwargs)  # Else an option unknown to it is found at the first command.
    except (ValueError, TypeError) as error:
        raise _no_store(url, error) from error
    return Redis.from_pool(pool)


def _no_store(url: str, error: Exception) -> StoreUnfit:
    if _login_is_torn(url):
        # What cannot be read of such a URL is a part of the password, and the error quotes it.
        return StoreUnfit(
            f"{without_secrets(url)!r} names no store: in its user and password write / as %2F, ? as %3F, # as %23 and "
            "@ as %40."
        )
    unknown = re.search(r"unexpected keyword argument '(\w+)'", str(error))
    fault = f"there is no option {unknown[1]}" if unknown else error
    return StoreUnfit(
        f"{without_secrets(url)!r} names no store ({fault}). Write redis://HOST:PORT, rediss://HOST:PORT, "
        "unix:///PATH or redis+sentinel://HOST:PORT,HOST:PORT/SERVICE, with user and password before the host where "
        "the store wants them."
    )


def _wanted_replicas(url: str) -> int | None:
    """The option `wait_replicas`: how many replicas each write waits for; None for one, where there is any."""
    text = dict(parse_qsl(url.partition("?")[2])).get("wait_replicas", "auto")
    if text == "auto":
        return None
    if text.isdecimal() and int(text) <= _MOST_REPLICAS:
        return int(text)
    raise _no_store(url, ValueError(f"wait_replicas is 'auto' or a number, not {text!r}"))


def _without_own_options(url: str) -> str:
    place, _, query = url.partition("?")
    options = [(key, value) for key, value in parse_qsl(query, keep_blank_values=True) if key != "wait_replicas"]
    return f"{place}?{urlencode(options)}" if options else place


def _unreachable(name: str, fault: Exception | None) -> str:
    if isinstance(fault, NoPrimary):
        return f"The store at {name} cannot be found ({fault}). Start what is missing, or correct --redis."
    if isinstance(fault, BusyLoadingError):
        return f"The store at {name} is still reading its data. Try again in a moment."
    reason = fault or f"no answer in {FIRST_ANSWER:g} s"
    return (
        f"The store at {name} cannot be reached ({reason}). Start it, correct --redis, or leave --redis out to use the "
        "embedded store."
    )


async def _look_at(client: Redis, name: str) -> tuple[str, tuple[str, ...]]:
    info: Mapping[str, object] = await client.info()
    version = _check_version(info, name)
    if info.get("cluster_enabled") == 1:
        raise StoreUnfit(f"The store at {name} is part of a cluster. Name a single server.")
    if info.get("role") == "slave":
        raise StoreUnfit(
            f"The store at {name} is a replica and takes no writes. Name its primary, "
            f"{info.get('master_host')}:{info.get('master_port')}."
        )
    try:
        told = await client.config_get("maxmemory-policy", "appendonly", "appendfsync")
        config = {str(setting): str(value) for setting, value in told.items()}
    except ResponseError:
        config = {}  # Managed stores forbid CONFIG; INFO tells all but one setting.
    policy = config.get("maxmemory-policy", info.get("maxmemory_policy"))
    if policy is not None and policy != "noeviction":
        raise StoreUnfit(
            f"The store at {name} throws data away when its memory is full (maxmemory-policy {policy}), and races "
            "would vanish with it. Set maxmemory-policy noeviction."
        )
    return version, tuple(_warnings(config, info, name))


async def _look_at_replicas(client: Redis, replicas: Replicas, name: str) -> tuple[str, ...]:
    await replicas.look(client)
    if replicas.needed:
        # A user who may not ask for it learns so now.
        await client.execute_command("WAIT", 0, 1)  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
    if replicas.attached >= replicas.needed:
        return ()
    fault = f"has {replicas.attached} replicas, and each write waits for {replicas.needed}"
    return (f"The store at {name} {fault}: nothing is answered before they are there.",)


def _check_version(info: Mapping[str, object], name: str) -> str:
    product = "Valkey" if "valkey_version" in info else "Redis"
    version = str(info.get(f"{product.lower()}_version", "of an unknown version"))
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if numbers < OLDEST_VERSION:
        raise StoreUnfit(f"The store at {name} is {product} {version}. Version 7.0 or later is needed.")
    return f"{product} {version}"


def _warnings(config: Mapping[str, str], info: Mapping[str, object], name: str) -> list[str]:
    fsync = config.get("appendfsync")
    if config.get("appendonly") == "no" or info.get("aof_enabled") == 0:
        fault = "keeps no append-only file"
    elif fsync is None:
        fault = "does not tell whether it writes to disk before it answers"
    elif fsync != "always":
        fault = f"answers before it has written to disk (appendfsync {fsync})"
    else:
        return []
    advice = "Set appendonly yes and appendfsync always."
    return [f"The store at {name} {fault}: answered moves can be lost when it dies. {advice}"]
