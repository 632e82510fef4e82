"""Connections to the store whose loss is told in one way, whatever runs the loop.

uvloop has a word of its own, a RuntimeError, for one that was lost since it was last used. Taken as it is, it would be
a mistake of ours, and redis-py would not send again what it sends again after any other loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from redis.asyncio import Connection, SSLConnection, UnixDomainSocketConnection
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as NotConnected

_UVLOOPS_WORD = "the handler is closed"


@contextmanager
def _losses_told() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        if not str(error).endswith(_UVLOOPS_WORD):
            raise
        raise NotConnected("The connection was lost.") from error


class _Told(AbstractConnection):
    __slots__ = ()

    async def send_packed_command(self, *args: Any, **options: Any) -> None:
        """Send what is packed."""
        with _losses_told():
            await super().send_packed_command(*args, **options)

    async def read_response(self, *args: Any, **options: Any) -> Any:
        """Read one answer."""
        with _losses_told():
            return await super().read_response(*args, **options)


class TCPConnection(_Told, Connection):
    """One over TCP."""


class TLSConnection(_Told, SSLConnection):
    """One over TLS."""


class UnixConnection(_Told, UnixDomainSocketConnection):
    """One through a unix socket."""


TOLD: dict[type[AbstractConnection], type[AbstractConnection]] = {
    Connection: TCPConnection,
    SSLConnection: TLSConnection,
    UnixDomainSocketConnection: UnixConnection,
}
"""What stands for each kind of redis-py's own."""
