"""Responses of plain HTTP: JSON with its headers, and errors as a code for programs and a sentence for people."""

from __future__ import annotations

import math
from http import HTTPStatus

import msgspec
from websockets.datastructures import Headers
from websockets.http11 import Response

from cellrace.errors import ErrorCode

JSON_TYPE = "application/json"
METHODS = ("GET", "HEAD")


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


def method_not_allowed() -> Response:
    """The response to a method that is not served."""
    response = error_response(HTTPStatus.METHOD_NOT_ALLOWED, "method_not_allowed", "Only GET and HEAD are served.")
    response.headers["Allow"] = ", ".join(METHODS)
    return response


def unreadable(begun: bytes) -> Response:
    """The response to a request that cannot be read, or has a body, given how it begins."""
    method = begun.partition(b" ")[0].decode("ascii", "replace")
    if method.isalpha() and method.isupper() and method not in METHODS:
        return method_not_allowed()
    return error_response(HTTPStatus.BAD_REQUEST, ErrorCode.BAD_MESSAGE, "That is no HTTP request without a body.")
