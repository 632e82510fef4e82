"""The first words on a connection: `hello`, until there is a `welcome` or a reason to give up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from cellrace.errors import ErrorCode
from cellrace.messages import PROTOCOL_VERSION, Error, Hello, Welcome
from cellrace_client.connection.backoff import comes_back
from cellrace_client.connection.clock import RaceClock
from cellrace_client.connection.flight import refusal
from cellrace_client.connection.wire import Closing, Unread, Wire, of_another_version
from cellrace_client.errors import Closed, Unreachable
from cellrace_client.language import _

HELLO_TIMEOUT = 15.0
"""Seconds until a server that took the connection must have said `welcome`; it sends away without `hello` after 10."""
LONGEST_WAIT = 8_000
"""Milliseconds, within which the server still listens: who is to wait longer is told so at once."""
_WAIT = (ErrorCode.RATE_LIMITED, ErrorCode.RETRY_LATER)


async def greet(
    url: str, wire: Wire, hello: Hello, clock: RaceClock, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> Welcome:
    """The server's `welcome`. Raises Refused where the server wants no such player, Closed or Unreachable."""
    try:
        async with asyncio.timeout(HELLO_TIMEOUT):
            return await _greet(url, wire, hello, clock, sleep)
    except TimeoutError as late:
        raise Unreachable(url, "it does not answer") from late


async def _greet(
    url: str, wire: Wire, hello: Hello, clock: RaceClock, sleep: Callable[[float], Awaitable[None]]
) -> Welcome:
    while True:
        sent = clock.local()
        await wire.send(hello)
        answer = await _answer(url, wire)
        if isinstance(answer, Welcome):
            if answer.version != PROTOCOL_VERSION:
                raise of_another_version(url)
            clock.sample(sent, clock.local(), answer.now)
            return answer
        if answer.code not in _WAIT:
            raise refusal(answer)
        wait = answer.retry_after or 1000
        if wait > LONGEST_WAIT and answer.code == ErrorCode.RATE_LIMITED:
            raise refusal(answer)
        await sleep(wait / 1000.0)


async def _answer(url: str, wire: Wire) -> Welcome | Error:
    while True:
        message = await wire.receive()
        match message:
            case Welcome() | Error():
                return message
            case Unread():
                raise Unreachable(url, _("its answer cannot be read ({why})").format(why=message.why), final=True)
            case Closing():
                if comes_back(message.code):
                    raise Unreachable(url, "it closed the connection")
                raise Closed.by_server(message.code, message.reason)
            case _:
                # Nothing else can come before `welcome`.
                continue
