"""The other face of the port: plain HTTP, and the refusal of handshakes that are not ours (protocol, section 7)."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property
from http import HTTPStatus
from urllib.parse import urlsplit

import structlog
from msgspec import Struct
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from cellrace.codec import CODECS, choose_codec
from cellrace.errors import ERROR_SENTENCES, ErrorCode
from cellrace.schema import asyncapi
from cellrace_server.config import Bounds
from cellrace_server.counts import Counts
from cellrace_server.filler import PoolDetail
from cellrace_server.net.api import Api
from cellrace_server.net.callers import Callers
from cellrace_server.net.connection import Connection
from cellrace_server.net.quota import Quota
from cellrace_server.net.responses import (
    JSON_TYPE,
    METHODS,
    bytes_response,
    error_response,
    json_response,
    method_not_allowed,
)

SOCKET_PATH = "/ws"

Readiness = Callable[[], str | None]
"""Why the node is not ready, or None when it is."""
Detail = Callable[[], PoolDetail]
"""How the pools of proved deals stand."""
MetricsPage = Callable[[str], tuple[bytes, str]]
"""The metrics in the format that an `Accept` header asks for, and their content type."""

log = structlog.get_logger()


class ReadyDetail(Struct, frozen=True):
    """What deserves a look though the node is ready."""

    pool: PoolDetail


class Ready(Struct, frozen=True, kw_only=True):
    """What `/readyz` says of a node that is ready."""

    status: str = "ready"
    detail: ReadyDetail


class Web:
    """Answers HTTP requests, and lets WebSocket handshakes for `/ws` pass."""

    def __init__(
        self,
        readiness: Readiness,
        detail: Detail,
        metrics: MetricsPage,
        api: Api,
        bounds: Bounds,
        counts: Counts,
        callers: Callers,
    ) -> None:
        self._readiness = readiness
        self._detail = detail
        self._metrics = metrics
        self._api = api
        self._quota = Quota(bounds.http_burst, bounds.http_per_second)
        self._counts = counts
        self.callers = callers

    def process_request(
        self, connection: ServerConnection, request: Request
    ) -> Response | Awaitable[Response | None] | None:
        """The response to a request, or None to go on with the handshake."""
        assert isinstance(connection, Connection)  # All are made by create_connection.
        forwarded = request.headers.get_all("X-Forwarded-For")
        connection.leave_gate()
        connection.address = self.callers.address(connection.peer, forwarded)
        if _split(request.path)[0] == SOCKET_PATH:
            refusal = self._check_handshake(connection, request)
            return None if refusal is None else self._counted(refusal, request)
        return self._respond(connection, request)

    async def _respond(self, connection: Connection, request: Request) -> Response:
        try:
            response = await self._answer(connection.address, request)
        except Exception:  # The edge: a mistake of ours costs one response, not the node.
            log.exception("an HTTP request failed", path=_split(request.path)[0][:100])
            text = ERROR_SENTENCES[ErrorCode.INTERNAL]
            response = error_response(HTTPStatus.INTERNAL_SERVER_ERROR, ErrorCode.INTERNAL, text)
        return self._counted(response, request)

    def _counted(self, response: Response, request: Request) -> Response:
        """A response as it goes out: counted, and to HEAD without its body."""
        self._counts.http[response.status_code] += 1
        if request.method == "HEAD":
            response.body = b""
        return response

    async def _answer(self, address: str, request: Request) -> Response:
        if request.method not in METHODS:
            return method_not_allowed()
        path, query = _split(request.path)
        # Whoever looks after the node asks these two, and must not be kept waiting.
        match path:
            case "/healthz":
                return json_response(HTTPStatus.OK, {"status": "ok"})
            case "/readyz":
                reason = self._readiness()
                if reason is None:
                    return json_response(HTTPStatus.OK, Ready(detail=ReadyDetail(self._detail())))
                return error_response(HTTPStatus.SERVICE_UNAVAILABLE, "not_ready", reason)
            case _:
                pass
        if wait := self._quota.take(address, time.monotonic()):
            text = "Too many requests from this address."
            return error_response(HTTPStatus.TOO_MANY_REQUESTS, ErrorCode.RATE_LIMITED, text, retry_after=wait)
        match path:
            case "/metrics":
                body, content_type = self._metrics(", ".join(request.headers.get_all("Accept")))
                return bytes_response(HTTPStatus.OK, body, content_type)
            case "/asyncapi.json":
                return bytes_response(HTTPStatus.OK, self._asyncapi, JSON_TYPE)
            case _:
                return await self._api.answer(path, query)

    @cached_property
    def _asyncapi(self) -> bytes:
        return asyncapi()

    def _check_handshake(self, connection: Connection, request: Request) -> Response | None:
        if "upgrade" not in request.headers.get("Connection", "").lower():
            text = "This is a WebSocket address: connect to it with a WebSocket client."
            response = error_response(HTTPStatus.UPGRADE_REQUIRED, "upgrade_required", text)
            response.headers["Upgrade"] = "websocket"
            return response
        offered = [
            name.strip() for header in request.headers.get_all("Sec-WebSocket-Protocol") for name in header.split(",")
        ]
        if choose_codec(offered) is None:
            names = " or ".join(CODECS)
            return connection.respond(HTTPStatus.BAD_REQUEST, f"Offer the subprotocol {names}.\n")
        address = connection.address
        if wait := self.callers.knock(address, time.monotonic()):
            text = "Too many connections from this address."
            return error_response(HTTPStatus.TOO_MANY_REQUESTS, ErrorCode.RATE_LIMITED, text, retry_after=wait)
        self.callers.enter(address)
        connection.when_lost(lambda: self.callers.leave(address))
        return None


def _split(target: str) -> tuple[str, str]:
    """The path and the query of a request's target; one that is no URL (`//[`) is a path at which there is nothing."""
    try:
        url = urlsplit(target)
    except ValueError:
        return target, ""
    return url.path, url.query


def select_subprotocol(_connection: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    """The client's first subprotocol that is known here."""
    codec = choose_codec(offered)
    return None if codec is None else Subprotocol(codec.subprotocol)
