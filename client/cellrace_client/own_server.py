"""A server of one's own, for as long as it is wanted: a child process, and its data in a directory of its own."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from cellrace.errors import CellraceError
from cellrace_client.language import _

_START_TIMEOUT = 30.0
_END_TIMEOUT = 8.0
"""Seconds to come up, on a slow machine too, and to end; a server needs 5 of these at most."""
_ADDRESS = re.compile(r"wss?://\S+?/ws")


class NoServer(CellraceError):
    """The server of one's own did not come up."""


@asynccontextmanager
async def own_server(*options: str) -> AsyncIterator[str]:
    """The address of a server that ends with the block, its store and its data with it. Raises NoServer."""
    with TemporaryDirectory(prefix="cellrace-", ignore_cleanup_errors=True) as directory:
        complaints = Path(directory) / "server.log"
        with complaints.open("wb") as log:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                # Proofs for later races would be thrown away with the data.
                *("-m", __name__, "serve", "--port", "0", "--pool", "0"),
                *("--data-dir", str(Path(directory) / "data"), *options),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                # Ctrl-C is for us: the server is told by its standard input, in its own time.
                start_new_session=True,
            )
        try:
            yield await _address(process, complaints)
        finally:
            await _end(process)


async def _address(process: asyncio.subprocess.Process, complaints: Path) -> str:
    assert process.stdout is not None, "the process was started with a pipe"
    line = b""
    with suppress(TimeoutError):
        async with asyncio.timeout(_START_TIMEOUT):
            line = await process.stdout.readline()
    found = _ADDRESS.search(line.decode("utf-8", "replace"))
    if found is None:
        last = _last_line(complaints)
        raise NoServer(
            _("The server did not start: {complaint}").format(complaint=last)
            if last
            else _("The server did not start.")
        )
    return found[0]


def _last_line(path: Path) -> str:
    return "".join(path.read_text("utf-8", "replace").strip().splitlines()[-1:])


async def _end(process: asyncio.subprocess.Process) -> None:
    try:
        if process.stdin is not None:
            process.stdin.close()
        with suppress(ProcessLookupError):
            process.terminate()
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_TIMEOUT):
                await process.wait()
    finally:
        if process.returncode is None:
            # Its store is in its session too.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)


def _end_with_the_starter() -> None:
    """Ends this process when the one that started it is gone: its end of the pipe is closed even by SIGKILL."""
    with suppress(OSError):
        while os.read(0, 1):
            pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    from cellrace_client.cli import main

    threading.Thread(target=_end_with_the_starter, daemon=True).start()
    main(prog_name="cellrace")
