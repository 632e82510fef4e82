"""The nodes of a run: real ones, each a process of the loop at an address that it keeps, killed and started again."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import traceback
from collections.abc import MutableMapping
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from cellrace_server.app import Node, running
from cellrace_server.config import Bounds, Config
from cellrace_server.store.errors import StoreError
from tests.sim.loop import Process, SimLoop
from tests.sim.store.server import URL

GENEROUS = Bounds(burst=1_000_000, per_second=1_000_000)
LASTING = frozenset(
    """committer beat sweep compare matching preparing marking fence hearing echo filler Filler._watch
    race-clock-sampler node PubSub.get_message""".split()  # noqa: SIM905 - two lines instead of ten.
)
"""The tasks of a node at rest."""


class SimNode:
    """A node at one address; what the racers of the chaos run know as a process."""

    def __init__(self, loop: SimLoop, number: int, key: Path) -> None:
        self.name = f"n{number}"
        self.process = Process(self.name)
        self.died_at = float("-inf")
        self.node: Node | None = None
        """The node, once it listens."""
        self._loop = loop
        self._config = Config(host=self.name, port=1, redis=URL, node=self.name, signing_key=key, bounds=GENEROUS)
        self._stop: asyncio.Event | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"{self.name}:1"

    @property
    def lives(self) -> bool:
        """Whether it runs, and is not stopped."""
        return self.node is not None and self.process.alive and not self.process.stopped

    def start(self) -> None:
        """Start it, under the clock that its machine had before."""
        ahead = self.process.ahead
        self.process = Process(self.name)
        self.process.ahead = ahead
        self.node = None
        self._loop.soon(self.process, self._spawn)

    def _spawn(self) -> None:
        self._stop = asyncio.Event()
        self._loop.create_task(self._run(self._stop), name="node")

    async def _run(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            try:
                async with running(self._config) as node:
                    self.node = node
                    await stop.wait()
            except StoreError:
                await asyncio.sleep(0.3)  # What starts a node again when the store was not there yet.
        self.node = None

    def kill(self) -> None:
        """`kill -9`."""
        self.died_at = self._loop.now
        self.node = None
        self._loop.kill(self.process)

    def end(self) -> None:
        """SIGTERM: it takes leave of everybody."""
        if self._stop is not None:
            self.died_at = self._loop.now
            self._loop.soon(self.process, self._stop.set)


@cache
def key_file() -> Path:
    """The key that signs replays, the same in each run."""
    path = Path(mkdtemp(prefix="cellrace-sim-")) / "key"
    private = Ed25519PrivateKey.from_private_bytes(bytes(32))
    pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
        file.write(pem)
    return path


class Logs(logging.Handler):
    """What the nodes and their libraries log, from warnings on."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []
        self.mistakes: list[str] = []
        """What is logged as nobody's fault but ours."""

    def emit(self, record: logging.LogRecord) -> None:
        """Take a line of a library."""
        self._take(record.levelno >= logging.ERROR, self.format(record))

    def __call__(self, logger: Any, method: str, event: MutableMapping[str, Any]) -> str:
        """Take a line of ours, as the last of structlog's processors."""
        fault = event.get("exc_info")
        fault = fault if isinstance(fault, BaseException) else sys.exc_info()[1] if fault else None
        text = f"{event}{''.join(traceback.format_exception(fault)) if fault else ''}"
        self._take(method in ("error", "exception", "critical"), text)
        raise structlog.DropEvent

    def _take(self, mistake: bool, line: str) -> None:
        self.lines.append(line)
        if mistake:
            self.mistakes.append(line)
