"""Messages handed over by `process_event` are those that the documented way gives: same ones, same order."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from cellrace_server.net.connection import Connection

LIMIT = 16 * 1024
Message = str | bytes
Sent = Message | Sequence[str] | Sequence[bytes]

texts = st.text(st.characters(codec="utf-8"), max_size=40)
fragments = st.lists(texts, min_size=1, max_size=4) | st.lists(st.binary(max_size=40), min_size=1, max_size=4)
messages: st.SearchStrategy[Sent] = texts | st.binary(max_size=40) | fragments


class Heard:
    """What a server's handler got of one connection."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.arrivals: list[float] = []
        self.ended = asyncio.Event()

    async def documented(self, connection: ServerConnection) -> None:
        """Takes messages by `async for`."""
        try:
            async for message in connection:
                self.messages.append(message)
        except ConnectionClosed:
            pass
        self.ended.set()

    async def ours(self, connection: Connection) -> None:
        """Takes messages by `process_event`."""

        def receive(payload: bytes, text: bool, at: float) -> None:
            self.messages.append(payload.decode() if text else payload)
            self.arrivals.append(at)

        # Whatever comes before the handler's first turn waits for it.
        await asyncio.sleep(0)
        connection.hand_over(receive)
        await connection.wait_closed()
        self.ended.set()


async def heard(sent: Sequence[Sent], *, ours: bool) -> tuple[Heard, int]:
    """What a server hears of these messages, and the code with which the connection ends."""
    got = Heard()
    handler = got.ours if ours else got.documented
    kind = Connection if ours else ServerConnection
    async with serve(
        handler,  # type: ignore[arg-type]  # each is given the connections of its own kind
        "127.0.0.1",
        0,
        create_connection=kind,
        compression=None,
        max_size=LIMIT,
    ) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with connect(f"ws://127.0.0.1:{port}", compression=None) as client:
            code = await say(client, sent)
        async with asyncio.timeout(60):
            await got.ended.wait()
    return got, code


async def say(client: ClientConnection, sent: Sequence[Sent]) -> int:
    """Send messages and close; the code with which the connection ended."""
    try:
        for message in sent:
            await client.send(message)
        await client.close(1000)
    except ConnectionClosed:
        pass
    await client.wait_closed()
    return client.close_code or 0


async def both(sent: Sequence[Sent]) -> tuple[Heard, int]:
    """What is heard of these messages, the same in both ways."""
    documented, code = await heard(sent, ours=False)
    ours, our_code = await heard(sent, ours=True)
    assert ours.messages == documented.messages
    assert our_code == code
    return ours, our_code


@settings(max_examples=25)
@given(st.lists(messages, max_size=8))
def test_any_messages_are_heard_as_the_documented_way_hears_them(sent: list[Sent]) -> None:
    """Text and binary, whole and in fragments, empty ones too."""
    got, _ = asyncio.run(both(sent))
    whole = [message if isinstance(message, (str, bytes)) else type(message[0])().join(message) for message in sent]  # type: ignore[arg-type]  # all fragments are of the first one's type
    assert got.messages == whole


async def test_a_message_may_be_as_large_as_the_limit() -> None:
    got, code = await both([b"x" * LIMIT, "y" * LIMIT, [b"z" * (LIMIT // 2)] * 2])
    assert [len(message) for message in got.messages] == [LIMIT] * 3
    assert code == 1000


@pytest.mark.parametrize(
    "large",
    [b"x" * (LIMIT + 1), "x" * (LIMIT + 1), [b"x" * LIMIT, b"x"], ["é" * (LIMIT // 2), "é"]],
    ids=["binary", "text", "fragments", "counted in bytes"],
)
async def test_a_larger_message_closes_with_1009_and_nothing_of_it_is_heard(large: Sent) -> None:
    got, code = await both(["before", large, "after"])
    assert got.messages == ["before"]
    assert code == 1009


async def test_pings_between_fragments_leave_the_message_whole() -> None:
    async def halves(client: ClientConnection) -> AsyncIterator[str]:
        yield "one "
        await client.ping()
        yield "mess"
        await client.ping()
        yield "age"

    got = Heard()
    async with serve(got.ours, "127.0.0.1", 0, create_connection=Connection) as server:  # type: ignore[arg-type]  # as above
        port = next(iter(server.sockets)).getsockname()[1]
        async with connect(f"ws://127.0.0.1:{port}") as client:
            await client.send(halves(client))
            await (await client.ping())
    assert got.messages == ["one message"]


async def test_invalid_utf8_in_a_text_frame_reaches_the_codec_instead_of_closing() -> None:
    """The protocol answers such a frame with `bad_message`; websockets by itself would close with 1007."""
    payloads: list[tuple[bytes, bool]] = []

    async def handler(connection: Connection) -> None:
        connection.hand_over(lambda payload, text, _: payloads.append((payload, text)))
        await connection.wait_closed()

    async with serve(handler, "127.0.0.1", 0, create_connection=Connection) as server:  # type: ignore[arg-type]  # as above
        port = next(iter(server.sockets)).getsockname()[1]
        async with connect(f"ws://127.0.0.1:{port}") as client:
            await client.send(b"\xff\xfe", text=True)
            await (await client.ping())
            assert payloads == [(b"\xff\xfe", True)]


async def test_an_arrival_is_the_time_of_reading() -> None:
    before = time.monotonic()
    got, _ = await heard(["a", "b", "c"], ours=True)
    after = time.monotonic()
    assert got.arrivals == sorted(got.arrivals)
    assert before <= got.arrivals[0] <= got.arrivals[-1] <= after
