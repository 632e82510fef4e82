"""The other face of the port: plain HTTP, and the refusal of handshakes that are not ours (protocol, section 7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from http import HTTPStatus
from urllib.parse import urlsplit

import msgspec
from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from cellrace.codec import CODECS, choose_codec
from cellrace.schema import asyncapi

SOCKET_PATH = "/ws"

Readiness = Callable[[], str | None]
"""Why the node is not ready, or None when it is."""


class Web:
    """Answers HTTP requests, and lets WebSocket handshakes for `/ws` pass."""

    def __init__(self, readiness: Readiness) -> None:
        self._readiness = readiness

    def process_request(self, connection: ServerConnection, request: Request) -> Response | None:
        """The response to a request, or None to go on with the handshake."""
        path = urlsplit(request.path).path
        if path == SOCKET_PATH:
            return self._check_handshake(connection, request)
        match path:
            case "/healthz":
                return json_response(HTTPStatus.OK, {"status": "ok"})
            case "/readyz":
                reason = self._readiness()
                if reason is None:
                    return json_response(HTTPStatus.OK, {"status": "ready"})
                return error_response(HTTPStatus.SERVICE_UNAVAILABLE, "not_ready", reason)
            case "/asyncapi.json":
                return bytes_response(HTTPStatus.OK, asyncapi(), "application/json")
            case _:
                return error_response(HTTPStatus.NOT_FOUND, "not_found", f"There is nothing at {path[:100]}.")

    def _check_handshake(self, connection: ServerConnection, request: Request) -> Response | None:
        if "upgrade" not in request.headers.get("Connection", "").lower():
            text = "This is a WebSocket address: connect to it with a WebSocket client."
            return error_response(HTTPStatus.UPGRADE_REQUIRED, "upgrade_required", text)
        offered = [
            name.strip() for header in request.headers.get_all("Sec-WebSocket-Protocol") for name in header.split(",")
        ]
        if choose_codec(offered) is None:
            names = " or ".join(CODECS)
            return connection.respond(HTTPStatus.BAD_REQUEST, f"Offer the subprotocol {names}.\n")
        return None


def select_subprotocol(_connection: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    """The client's first subprotocol that is known here."""
    codec = choose_codec(offered)
    return None if codec is None else Subprotocol(codec.subprotocol)


def json_response(status: HTTPStatus, body: object) -> Response:
    """A response with a JSON body."""
    return bytes_response(status, msgspec.json.encode(body), "application/json")


def error_response(status: HTTPStatus, code: str, message: str) -> Response:
    """An error: a code for programs, a sentence for people."""
    return json_response(status, {"code": code, "message": message})


def bytes_response(status: HTTPStatus, body: bytes, content_type: str) -> Response:
    """A response with a body of its own."""
    headers = Headers(
        {
            "Content-Type": content_type,
            "Content-Length": str(len(body)),
            "Connection": "close",
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        }
    )
    return Response(status.value, status.phrase, headers, body)
