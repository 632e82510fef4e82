"""A player's connection over the made-up network: websockets without I/O, as much of its client as is used."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from websockets.client import ClientProtocol
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import OPEN
from websockets.typing import Subprotocol
from websockets.uri import parse_uri


class SimSocket(asyncio.Protocol):
    """What `tests.story.players.Player` takes for a connection."""

    def __init__(self, subprotocol: str) -> None:
        self.transport: Any = None
        self.subprotocol = subprotocol
        # Bounded by what a run tells a player, who reads it all.
        self._frames: deque[str | bytes] = deque()
        self._protocol = ClientProtocol(
            parse_uri("ws://node/ws"), subprotocols=[Subprotocol(subprotocol)], max_size=None
        )
        loop = asyncio.get_running_loop()
        self._opened: asyncio.Future[None] = loop.create_future()
        self._news = asyncio.Event()
        self.lost = False
        """Whether nothing will come any more."""

    @property
    def closing(self) -> bool:
        """Whether the connection is about to end."""
        return self._protocol.state is not OPEN

    @property
    def waiting(self) -> int:
        """How many frames have come that nobody has read."""
        return len(self._frames)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self._protocol.send_request(self._protocol.connect())
        self._flush()

    def data_received(self, data: bytes) -> None:
        self._protocol.receive_data(data)
        self._take()

    def eof_received(self) -> bool:
        self._protocol.receive_eof()
        self._take()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._protocol.receive_eof()
        self.lost = True
        self._news.set()
        if not self._opened.done():
            self._opened.set_exception(InvalidHandshake("the connection was lost before it was open"))
            self._opened.exception()

    def _take(self) -> None:
        for event in self._protocol.events_received():
            match event:
                case Response() if not self._opened.done():
                    self._opened.set_result(None)
                case Frame() if event.opcode is Opcode.TEXT:
                    self._frames.append(bytes(event.data).decode())
                case Frame() if event.opcode is Opcode.BINARY:
                    self._frames.append(bytes(event.data))
        self._news.set()
        self._flush()

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self.transport.write(data)
            else:
                self.transport.close()

    async def open(self) -> None:
        """Wait until the handshake is done. Raises InvalidHandshake."""
        await self._opened
        if self._protocol.state is not OPEN:
            raise InvalidHandshake("the handshake was refused")

    async def send(self, data: str | bytes) -> None:
        """Send a message. Raises ConnectionClosed."""
        if self.lost or self._protocol.state is not OPEN:
            raise self._closed()
        if isinstance(data, str):
            self._protocol.send_text(data.encode())
        else:
            self._protocol.send_binary(data)
        self._flush()

    async def recv(self) -> str | bytes:
        """The next message. Raises ConnectionClosed."""
        while not self._frames:
            if self.lost or self._protocol.close_rcvd is not None:
                raise self._closed()
            self._news.clear()
            await self._news.wait()
        return self._frames.popleft()

    def _closed(self) -> ConnectionClosed:
        protocol = self._protocol
        return ConnectionClosed(protocol.close_rcvd, protocol.close_sent, protocol.close_rcvd_then_sent)
