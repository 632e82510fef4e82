"""The loss of a connection to the store is told in one way, on asyncio's own loop and on uvloop's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as NotConnected

from cellrace_server.store.connect import client_for
from cellrace_server.store.connections import TOLD, TCPConnection, TLSConnection, UnixConnection
from cellrace_server.store.sentinel import PrimaryConnection, PrimaryTLSConnection

uvloop = pytest.importorskip("uvloop")
LOOPS = [asyncio.new_event_loop, uvloop.new_event_loop]


def writer_of(connection: Any) -> Any:
    return connection._writer  # noqa: SLF001 - nothing public loses a connection so that nobody notices


async def lost_connection(client: Redis) -> Any:
    """A connection that was used and is lost since, which nobody has noticed."""
    await client.ping()
    pool: Any = client.connection_pool
    connection = await pool.get_connection()
    writer_of(connection).transport.abort()
    await asyncio.sleep(0)  # The transport closes in the next turn of the loop.
    await asyncio.sleep(0)
    return connection


@pytest.mark.parametrize("loop", LOOPS, ids=["asyncio", "uvloop"])
async def test_what_is_sent_on_one_that_was_lost_is_told_as_a_loss(
    store_url: str, loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    async def send() -> None:
        client = client_for(store_url)
        connection = await lost_connection(client)
        try:
            with pytest.raises(NotConnected):
                await connection.send_command("PING")
        finally:
            await client.connection_pool.release(connection)
            await client.aclose()

    def run() -> None:
        with asyncio.Runner(loop_factory=loop) as runner:
            runner.run(send())

    await asyncio.to_thread(run)  # A loop of its own, beside the one of the tests.


async def test_a_mistake_of_ours_is_told_as_it_is(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    client = client_for(store_url)
    await client.ping()
    connection = await client.connection_pool.get_connection()

    def mistaken(*_: object) -> None:
        raise RuntimeError("dictionary changed size during iteration")

    monkeypatch.setattr(writer_of(connection), "writelines", mistaken)
    with pytest.raises(RuntimeError, match="dictionary"):
        await connection.send_command("PING")
    await client.connection_pool.release(connection)
    await client.aclose()


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("redis://localhost", TCPConnection),
        ("rediss://localhost", TLSConnection),
        ("unix:///store.sock", UnixConnection),
        ("redis+sentinel://localhost/races", PrimaryConnection),
        ("rediss+sentinel://localhost/races", PrimaryTLSConnection),
    ],
)
async def test_every_client_has_such_connections(url: str, kind: type) -> None:
    made = client_for(url).connection_pool.connection_class
    assert made is kind
    assert made.send_packed_command is TCPConnection.send_packed_command
    assert not set(TOLD) & {made}
