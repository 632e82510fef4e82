"""Responses of plain HTTP: JSON with its headers, and errors as a code for programs and a sentence for people."""

from __future__ import annotations

import math
from http import HTTPStatus

import msgspec
from websockets.datastructures import Headers
from websockets.http11 import Response

JSON_TYPE = "application/json"


def json_response(status: HTTPStatus, body: object) -> Response:
    """A response with a JSON body."""
    return bytes_response(status, msgspec.json.encode(body), JSON_TYPE)


def error_response(status: HTTPStatus, code: str, message: str, retry_after: float | None = None) -> Response:
    """An error; `retry_after` in seconds."""
    response = json_response(status, {"code": code, "message": message})
    if retry_after is not None:
        response.headers["Retry-After"] = str(max(1, math.ceil(retry_after)))
    return response


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
