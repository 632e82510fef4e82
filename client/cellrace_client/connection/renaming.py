"""Another name for a player who is connected: only the first word of a connection says it, so it takes a new one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from cellrace.errors import CellraceError, Refused
from cellrace.messages import Welcome
from cellrace_client.connection.wire import Wire


class Successor(NamedTuple):
    """The connection on which the server has heard the name; it has taken over from the one before."""

    wire: Wire
    welcome: Welcome


class Renaming:
    """A wish for another name, until it is granted or refused.

    A refusal costs nothing, as the connection that there is goes on. Otherwise the server closes that one, by a code
    that says that somebody has taken over: `outcome` must then be waited for before it is believed.
    """

    def __init__(self) -> None:
        self._one_at_a_time = asyncio.Lock()
        self._name = ""
        self._answer: asyncio.Future[None] | None = None
        self._asked = asyncio.Event()
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._successor: Successor | None = None
        self._in_doubt = False

    async def wish(self, name: str) -> None:
        """Waits for the server's word; with no connection, until there is one. Raises CellraceError."""
        async with self._one_at_a_time:
            self._name, self._answer = name, asyncio.get_running_loop().create_future()
            self._asked.set()
            await self._answer

    async def fulfil(self, say_hello: Callable[[str], Awaitable[Successor]], present: Wire) -> None:
        """Waits for a wish and says it on another connection; once heard there, the present one is cut."""
        while True:
            await self._asked.wait()
            self._asked.clear()
            if self._answer is None or self._answer.done():
                continue
            self._quiet.clear()
            try:
                self._successor = await say_hello(self._name)
            except CellraceError as failed:
                self._in_doubt = not isinstance(failed, Refused)
                self.settle(failed)
            finally:
                self._quiet.set()
            if self._successor is not None:
                present.abort()
                return

    async def outcome(self) -> bool:
        """Waits while a name is asked for; whether the present connection was, or may have been, ended by that."""
        await self._quiet.wait()
        in_doubt, self._in_doubt = self._in_doubt, False
        return in_doubt or self._successor is not None

    def take(self) -> Successor | None:
        """The connection to go on with, if there is another one."""
        successor, self._successor = self._successor, None
        return successor

    def settle(self, failed: Exception | None = None) -> None:
        """The wish is granted, or has failed."""
        if self._answer is None or self._answer.done():
            return
        if failed is None:
            self._answer.set_result(None)
        else:
            self._answer.set_exception(failed)

    def end(self, closed: Exception) -> None:
        """There will be no connection any more."""
        if (successor := self.take()) is not None:
            successor.wire.abort()
        self.settle(closed)
