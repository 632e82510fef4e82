"""Lines typed or piped in, as they come: read in a thread, as neither a file nor every terminal can be awaited."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator

_CHUNK = 4096
"""Bytes of one read."""
LONGEST_TYPED = 10_000
"""A line that is longer is cut: nobody types it, and memory is bounded."""
_AHEAD = 8
"""So many lines are read ahead; then the thread waits, and with it whoever writes into the pipe."""


def terminal_width(descriptor: int = 1) -> int | None:
    """How many characters a line of the terminal has now; None where it is none."""
    try:
        return os.get_terminal_size(descriptor).columns or None
    except OSError:
        return None


class TypedLines:
    """The lines of a file descriptor, for one reader; None at its end."""

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._room = threading.Semaphore(_AHEAD)
        # A daemon on the bare descriptor: a thread that waits for a line which never comes does not keep the program.
        threading.Thread(target=self._read, name="typed lines", daemon=True).start()

    async def next(self) -> str | None:
        """The next line without its end, None when there are no more."""
        line = await self._lines.get()
        if line is not None:
            self._room.release()
        else:
            self._lines.put_nowait(None)
        return line

    def _read(self) -> None:
        for line in split_lines(self._chunks()):
            self._room.acquire()
            if not self._hand_over(line):
                return
        self._hand_over(None)

    def _hand_over(self, line: str | None) -> bool:
        try:
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
        except RuntimeError:
            # The program has ended.
            return False
        return True

    def _chunks(self) -> Iterator[bytes]:
        try:
            while chunk := os.read(self._descriptor, _CHUNK):
                yield chunk
        except OSError:
            # A terminal that was closed.
            return


def split_lines(chunks: Iterator[bytes]) -> Iterator[str]:
    """Lines from bytes as they come; the last one needs no end."""
    left = b""
    for chunk in chunks:
        *lines, left = (left + chunk).split(b"\n")
        left = left[:LONGEST_TYPED]
        yield from (_text(line) for line in lines)
    if left:
        yield _text(left)


def _text(line: bytes) -> str:
    return line[:LONGEST_TYPED].decode("utf-8", "replace").rstrip("\r")
