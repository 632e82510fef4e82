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
    """The server said no: the status of a handshake as a number, or the code of its error."""

    def __init__(self, code: str, retry_after: float) -> None:
        super().__init__(code)
        self.code = code
        self.retry_after = retry_after
        """What the server said to wait, in seconds."""


class LightConnection(asyncio.Protocol):
    """One connection from its handshake to its loss."""

    __slots__ = ("_answers", "_asked", "_buffer", "_forwarded", "_open", "_transport", "heard", "lost", "pings")

    def __init__(self, forwarded: str, lost: Callable[[int | None], None] | None) -> None:
        self.lost = lost
        self.heard: Callable[[Map], None] | None = None
        """Hears what is pushed, if anybody does."""
        self.pings = 0
        self._forwarded = forwarded
        self._buffer = b""
        self._open: asyncio.Future[None] | None = asyncio.get_running_loop().create_future()
        self._asked = 0
        self._answers: dict[int, asyncio.Future[Map]] | None = None
        self._transport: asyncio.Transport | None = None

    @classmethod
    async def open(
        cls, port: int, number: int, forwarded: str = "", lost: Callable[[int | None], None] | None = None
    ) -> LightConnection:
        """A connection, for a client at `forwarded` if a proxy is to be believed; `lost` hears its close code.

        Raises Refused, OSError.
        """
        connection = cls(forwarded, lost)
        here = f"127.0.0.{2 + number % ADDRESSES}"
        await asyncio.get_running_loop().create_connection(lambda: connection, "127.0.0.1", port, local_addr=(here, 0))
        assert connection._open is not None
        try:
            await connection._open
        except BaseException:
            connection.abort()
            raise
        connection._open = None
        return connection

    async def ask(self, kind: str, **fields: Any) -> Map:
        """The answer to a request. Raises Refused, OSError."""
        if self._transport is None or self._transport.is_closing():
            raise ConnectionResetError("the connection is gone")
        self._asked += 1
        if self._answers is None:
            self._answers = {}
        answer = self._answers[self._asked] = asyncio.get_running_loop().create_future()
        self._send(0x82, msgpack.packb({"type": kind, "id": self._asked, **fields}))
        message: Map = await answer
        if message["type"] == "error":
            raise Refused(message["code"], message.get("retry_after", 1000) / 1000)
        return message

    def abort(self) -> None:
        """Go without a word."""
        self.lost = None
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's own is no subclass of it.
        forwarded = f"X-Forwarded-For: {self._forwarded}\r\n" if self._forwarded else ""
        key = base64.b64encode(os.urandom(16)).decode()
        self._transport.write(
            "GET /ws HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            f"{forwarded}Sec-WebSocket-Protocol: cellrace.v1.msgpack\r\n\r\n".encode()
        )

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(None, exc or ConnectionResetError("the server has closed the connection"))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._open is not None and not self._open.done():
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            if not found:
                return
            if not head.startswith(b"HTTP/1.1 101"):
                self._open.set_exception(Refused(head[9:12].decode(), _retry_after(head)))
                return
            self._open.set_result(None)
            self._buffer = rest
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
                self._send(0x88, payload[:2])
                self._end(code, ConnectionResetError(f"the server has closed with {code}"))
            case 2 if self._answers or self.heard is not None:
                message: Map = msgpack.unpackb(payload)
                answer = self._answers.pop(message.get("re", 0), None) if self._answers else None
                if answer is None:
                    if self.heard is not None:
                        self.heard(message)
                elif not answer.done():
                    answer.set_result(message)
            case _:
                pass

    def _end(self, code: int | None, why: Exception) -> None:
        answers, self._answers = self._answers or {}, None
        for waiting in (self._open, *answers.values()):
            if waiting is not None and not waiting.done():
                waiting.set_exception(why)
        if self._transport is not None:
            self._transport.close()
        lost, self.lost = self.lost, None
        if lost is not None:
            lost(code)

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
