"""One WebSocket connection: messages out, messages in. The only module of the client that knows websockets."""

from __future__ import annotations

import errno
import json
import os
import re
import socket
import ssl
from typing import NamedTuple

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidMessage,
    InvalidStatus,
    InvalidURI,
    NegotiationError,
)
from websockets.typing import Subprotocol

from cellrace.codec import CODECS, JSON_SUBPROTOCOL, MSGPACK_SUBPROTOCOL
from cellrace.errors import BadMessage
from cellrace.frames import read_json, read_msgpack
from cellrace.messages import LAST_INTEGER, ClientMessage, ServerMessage
from cellrace_client.connection.address import is_of_this_machine
from cellrace_client.errors import Closed, Obstacle, Unreachable
from cellrace_client.language import _

SUBPROTOCOLS: dict[str, str] = {"msgpack": MSGPACK_SUBPROTOCOL, "json": JSON_SUBPROTOCOL}
"""The subprotocols by their short names, the one preferred first."""
OPEN_TIMEOUT = 10.0
"""Seconds for the handshake, also of a server that lets those who come at once in by turns."""
PING_INTERVAL = 10.0
PING_TIMEOUT = 15.0
"""Seconds between WebSocket pings, and until one without a pong shows that the line is dead."""
CLOSE_TIMEOUT = 2.0
"""Seconds for the server's half of a goodbye: nobody who quits waits longer."""
MAX_FRAME = 16 * 2**20
"""Bytes. A race of 250 with all their logs stays far below; what is larger is no message for us."""

_LONGEST_BODY = 2000
_LONGEST_TEXT = 200
"""Characters that are read of a refusal's body, and told of one that is anything."""
_NUMBERS = re.compile(r"\[Errno (\d+)\]")
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST")
"""What OpenSSL takes an answer for that is HTTP: its versions differ."""


class Closing(NamedTuple):
    """How a connection ended: the server's close code and reason, or None for a connection that was cut."""

    code: int | None
    reason: str

    @property
    def sentence(self) -> str:
        """The same in a sentence."""
        return "The connection is cut." if self.code is None else str(Closed.by_server(self.code, self.reason))


class Unread(NamedTuple):
    """A frame that is no message we know; `re` is the request that it answers, where that can be read."""

    re: int | None
    why: BadMessage


class Wire:
    """An open connection."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._codec = CODECS[str(socket.subprotocol)]

    @property
    def subprotocol(self) -> str:
        """The subprotocol that the server chose."""
        return self._codec.subprotocol

    def frame(self, request: ClientMessage) -> bytes:
        """The frame of a request."""
        return self._codec.encode_request(request)

    async def send(self, request: ClientMessage) -> None:
        """Sends a request; a connection that is gone says so where it is read."""
        try:
            await self._socket.send(self.frame(request), text=self._codec.text)
        except ConnectionClosed:
            return

    async def receive(self) -> ServerMessage | Unread | Closing:
        """The next message, or how the connection ended."""
        try:
            frame = await self._socket.recv()
        except ConnectionClosed as closed:
            return Closing(closed.rcvd.code, closed.rcvd.reason) if closed.rcvd else Closing(None, "")
        try:
            return self._codec.decode_server(frame)
        except BadMessage as why:
            return Unread(_readable_re(frame), why)

    async def close(self) -> None:
        """Says goodbye."""
        await self._socket.close()

    def abort(self) -> None:
        """Cuts the connection at once: the server does not answer."""
        self._socket.transport.abort()


async def open_wire(url: str, subprotocol: str | None = None, tls: ssl.SSLContext | None = None) -> Wire:
    """Opens a connection that speaks one of our subprotocols, with `tls` for wss:// addresses. Raises Unreachable."""
    offered = [SUBPROTOCOLS[subprotocol]] if subprotocol else list(SUBPROTOCOLS.values())
    try:
        socket = await connect(
            url,
            ssl=(tls or True) if url.startswith("wss:") else None,
            subprotocols=[Subprotocol(name) for name in offered],
            compression=None,
            max_size=MAX_FRAME,
            open_timeout=OPEN_TIMEOUT,
            ping_interval=PING_INTERVAL,
            ping_timeout=PING_TIMEOUT,
            close_timeout=CLOSE_TIMEOUT,
            # A proxy of the environment is for the world outside, never for this machine.
            proxy=None if is_of_this_machine(url) else True,
        )
    except InvalidStatus as refused:
        raise unwelcome(url, refused.response.status_code, bytes(refused.response.body or b"")) from refused
    # It is a ValueError too, so it comes first.
    except ssl.SSLCertVerificationError as wrong:
        raise untrusted(url, wrong) from wrong
    except (InvalidURI, ValueError) as wrong:
        raise Unreachable(url, "that is no WebSocket address", final=True) from wrong
    except TimeoutError as late:
        raise Unreachable(url, "it does not answer") from late
    except NegotiationError as other:
        raise of_another_version(url) from other
    except (OSError, InvalidHandshake, EOFError) as failed:
        raise Unreachable(url, why_unreachable(failed)) from failed
    if socket.subprotocol not in CODECS:
        await socket.close()
        raise of_another_version(url)
    return Wire(socket)


def unwelcome(url: str, status: int, body: bytes = b"") -> Unreachable:
    """That the server there takes no connection, by the HTTP status with which it says so."""
    match status:
        case 400 | 426:
            # What a server of ours answers to who offers no subprotocol that it knows (protocol, section 1).
            return of_another_version(url)
        case 429:
            return Unreachable(url, "too many connections come from your address", obstacle=Obstacle.BUSY)
        case 503:
            return Unreachable(url, "it is full or too busy", obstacle=Obstacle.BUSY)
        case _:
            text = _told(body)
            why = _("it answered HTTP {status}").format(status=status) + (f" ({text})" if text else "")
            return Unreachable(url, why, final=400 <= status < 500 and status != 408)


def _told(body: bytes) -> str:
    """What is said to a person in the body of a refusal: of our servers' JSON the message."""
    text = body[:_LONGEST_BODY].decode("utf-8", "replace").strip()
    try:
        return str(json.loads(text)["message"])
    except (ValueError, LookupError, TypeError, RecursionError):
        return text[:_LONGEST_TEXT]


def of_another_version(url: str) -> Unreachable:
    """That the server there speaks no version of the protocol that this program speaks."""
    return Unreachable(url, "it speaks another version of cellrace, or none", final=True, obstacle=Obstacle.VERSION)


def untrusted(url: str, wrong: ssl.SSLCertVerificationError) -> Unreachable:
    """That the certificate there is not one that this machine trusts, and why not."""
    why = _("its certificate cannot be trusted ({why})").format(why=wrong.verify_message.rstrip("."))
    return Unreachable(url, why, final=True, obstacle=Obstacle.UNTRUSTED)


def why_unreachable(failed: object) -> str:
    """Why no connection came about, as a part of a sentence."""
    if isinstance(failed, TimeoutError):
        return _("it does not answer")
    if isinstance(failed, InvalidMessage):
        # A server with a certificate hangs up on who comes without TLS.
        return _("it says nothing that is HTTP; if it has a certificate, its address begins with wss://")
    if isinstance(failed, ssl.SSLError) and failed.reason in _NO_TLS:
        return _("it speaks no TLS; if it has no certificate, its address begins with ws://")
    told = str(failed)
    if isinstance(failed, OSError) and not isinstance(failed, ssl.SSLError | socket.gaierror):
        # Of a name with several addresses all that were tried are told in one, which has no number of its own.
        number = errno.ECONNRESET if isinstance(failed, ConnectionResetError) else failed.errno
        numbers = {number} if number else set(map(int, _NUMBERS.findall(told)))
        if numbers == {errno.ECONNREFUSED}:
            return _("nothing listens there")
        if len(numbers) == 1:
            told = os.strerror(numbers.pop())
    elif isinstance(failed, socket.gaierror):
        told = failed.strerror or told
    return told.rstrip(".") or type(failed).__name__


def _readable_re(frame: bytes | str) -> int | None:
    try:
        tree = read_json(frame) if isinstance(frame, str) else read_msgpack(frame)
    except BadMessage:
        return None
    re = tree.get("re") if isinstance(tree, dict) else None
    return re if isinstance(re, int) and 0 <= re <= LAST_INTEGER else None
