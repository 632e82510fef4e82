"""Connections as light as can be, so that one process can hold ten thousand beside the server that it measures.

WebSocket and MessagePack by hand: a hello, an answer to each ping, and nothing else that anybody asks for.
"""

from __future__ import annotations

import asyncio
import base64
import os
import struct
from collections.abc import Callable
from typing import Any, cast

import msgpack

Map = dict[str, Any]

ADDRESSES = 8
"""From so many addresses of this machine: one has some 28,000 ports, and shares them with all that ran just now."""
REFUSED_HEAD = 400
"""How much of a refused handshake is kept."""


class Refused(Exception):
    """The server would not have this connection: the status of the handshake, or the code of its error."""

    def __init__(self, why: str, retry_after: float) -> None:
        super().__init__(why)
        self.retry_after = retry_after
        """What the server said to wait, in seconds."""


class LightConnection(asyncio.Protocol):
    """One connection from its handshake to its loss."""

    __slots__ = ("_buffer", "_hello", "_open", "_transport", "_welcome", "lost", "pings")

    def __init__(self, hello: Map, lost: Callable[[int | None], None] | None = None) -> None:
        loop = asyncio.get_running_loop()
        self.lost = lost
        self.pings = 0
        self._hello = hello
        self._buffer = b""
        self._open = False
        self._transport: asyncio.Transport | None = None
        self._welcome: asyncio.Future[Map] | None = loop.create_future()

    @classmethod
    async def open(
        cls, port: int, number: int, hello: Map, lost: Callable[[int | None], None] | None = None
    ) -> tuple[LightConnection, Map]:
        """The connection and its welcome. `lost` hears the close code. Raises Refused, OSError."""
        connection = cls(hello, lost)
        here = f"127.0.0.{2 + number % ADDRESSES}"
        await asyncio.get_running_loop().create_connection(lambda: connection, "127.0.0.1", port, local_addr=(here, 0))
        assert connection._welcome is not None
        try:
            welcome = await connection._welcome
        except BaseException:
            connection.abort()
            raise
        connection._welcome = None
        return connection, welcome

    def abort(self) -> None:
        """Go without a word."""
        self.lost = None
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's own is no subclass of it.
        key = base64.b64encode(os.urandom(16)).decode()
        self._transport.write(
            "GET /ws HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Protocol: cellrace.v1.msgpack\r\n\r\n".encode()
        )

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(exc or ConnectionResetError("the server has closed the connection"))
        lost, self.lost = self.lost, None
        if lost is not None:
            lost(None)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._open:
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            if not found:
                return
            if not head.startswith(b"HTTP/1.1 101"):
                self._fail(Refused(head[9:12].decode(), _retry_after(head)))
                return
            self._open, self._buffer = True, rest
            self._send(0x82, msgpack.packb({"type": "hello", "id": 1, **self._hello}))
        while (frame := self._next_frame()) is not None:
            self._take(*frame)

    def _next_frame(self) -> tuple[int, bytes] | None:
        buffer = self._buffer
        if len(buffer) < 2:
            return None
        size, start = buffer[1] & 127, 2
        if size == 126:
            if len(buffer) < 4:
                return None
            size, start = int.from_bytes(buffer[2:4], "big"), 4
        if len(buffer) < start + size:
            return None
        self._buffer = buffer[start + size :]
        return buffer[0] & 15, buffer[start : start + size]

    def _take(self, opcode: int, payload: bytes) -> None:
        match opcode:
            case 9:
                self.pings += 1
                self._send(0x8A, payload)
            case 8:
                code = int.from_bytes(payload[:2], "big") if payload else None
                lost, self.lost = self.lost, None
                if lost is not None:
                    lost(code)
                self._fail(ConnectionResetError(f"closed with {code}"))
                self._send(0x88, payload[:2])
                assert self._transport is not None
                self._transport.close()
            case 2 if self._welcome is not None and not self._welcome.done():
                message: Map = msgpack.unpackb(payload)
                if message.get("re") != 1:
                    return
                if message["type"] == "error":
                    self._fail(Refused(message["code"], message.get("retry_after", 1000) / 1000))
                else:
                    self._welcome.set_result(message)
            case _:
                pass

    def _fail(self, why: Exception) -> None:
        if self._welcome is not None and not self._welcome.done():
            self._welcome.set_exception(why)

    def _send(self, first: int, payload: bytes) -> None:
        assert self._transport is not None
        size = len(payload)
        head = bytes((first, 0x80 | size)) if size < 126 else bytes((first, 0xFE)) + struct.pack(">H", size)
        self._transport.write(head + b"\0\0\0\0" + payload)


def _retry_after(head: bytes) -> float:
    for line in head[:REFUSED_HEAD].split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"retry-after":
            return float(value)
    return 1.0
