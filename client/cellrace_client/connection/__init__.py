"""The client library: a typed connection to a server that comes back by itself after a drop.

    async with connect("ws://localhost:8765/ws", name="Ann") as c:
        race = await c.create(SettingsRequest(variant="freecell"))
        await c.ready(race.race)
        async for event in c.events():
            ...

A floor of small parts; only `wire` knows WebSockets, and all above it are tested without them:

    address                      what a person types for a server
    backoff, clock, throttle     when to come back, what time it is, how fast to send
    flight                       requests on their way, and which of them are repeated
    races, inbox                 the races as they are known, the events that wait to be read
    silence                      that the server leaves something unanswered
    dialogue                     puts these together: a message in, events and requests out
    wire, greeting, pulse        the socket, the first words on it, and a question now and then
    renaming                     another name, which takes another connection
    requests, client             each request as a method, and the life over many connections
    ghosts                       finished games that race again, found by the names of who played them
    fetching                     what a server tells over plain HTTP, for those who need no player there

After a drop the client says `hello` with its token, asks for every race that was going on, and repeats what was not
answered: a `move` with the same `seq`, which the server knows for a repeat, and all that may be asked twice. Of a
`race.create` without an answer it first looks whether the race is there. Only `daily.practice` fails with Unanswered.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from cellrace.messages import Hello
from cellrace_client.connection.address import is_of_this_machine, server_url, short_address
from cellrace_client.connection.client import GIVE_UP_AFTER, Connection
from cellrace_client.connection.wire import SUBPROTOCOLS
from cellrace_client.errors import Closed, Unanswered, Unreachable
from cellrace_client.events import Back, Dropped, Event, Happened, Heard, Lost, Matched, Renamed, Silent, Synced

__all__ = [
    "GIVE_UP_AFTER",
    "SUBPROTOCOLS",
    "Back",
    "Closed",
    "Connection",
    "Dropped",
    "Event",
    "Happened",
    "Heard",
    "Lost",
    "Matched",
    "Renamed",
    "Silent",
    "Synced",
    "Unanswered",
    "Unreachable",
    "connect",
    "is_of_this_machine",
    "server_url",
    "short_address",
]


@asynccontextmanager
async def connect(
    server: str | Sequence[str],
    *,
    name: str | None = None,
    token: str | None = None,
    bot: bool = False,
    client: str = "cellrace",
    subprotocol: str | None = None,
    patience: float = 0.0,
    give_up_after: float = GIVE_UP_AFTER,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[Connection]:
    """A connection as a new player, or with a `token` as the one who comes back; closed at the end.

    Of several addresses, which must be nodes of one server, the next is tried where one cannot be reached.
    `subprotocol` is `msgpack` or `json`, absent: the server's choice. A server that is not there yet is tried for
    `patience` seconds, one that is not there any more for `give_up_after`. `tls` checks wss:// servers otherwise
    than the system does. Raises Unreachable, Refused or Closed.
    """
    connection = Connection(
        [server_url(text) for text in ([server] if isinstance(server, str) else server)],
        Hello(name=name, token=token, bot=bot, client=client),
        subprotocol=subprotocol,
        patience=patience,
        give_up_after=give_up_after,
        tls=tls,
    )
    try:
        await connection.open()
        yield connection
    finally:
        await connection.close()
