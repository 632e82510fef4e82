"""Plain HTTP by hand, so that a test sees every byte of a response."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Fetched:
    """A response: its status, its headers in lower case, its body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        assert self.headers["content-type"] == "application/json"
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The code of an error, which has a code and a sentence and nothing else."""
        error = self.json
        assert error.keys() == {"code", "message"}
        assert error["message"].endswith(".")
        return str(error["code"])


async def fetch(
    port: int, path: str, method: str = "GET", headers: tuple[str, ...] = (), source: str = "127.0.0.1"
) -> Fetched:
    """Send one request to a node here, from an address of this machine, and read until it closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
    try:
        writer.write("\r\n".join((f"{method} {path} HTTP/1.1", "Host: here", *headers, "", "")).encode())
        async with asyncio.timeout(60):
            response = await reader.read()
    finally:
        writer.close()
    head, _, body = response.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    named = dict(line.split(": ", 1) for line in lines)
    return Fetched(int(status.split(" ")[1]), {name.lower(): value for name, value in named.items()}, body)
