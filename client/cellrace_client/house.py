"""The bots of a house: which accounts they play with, of those whose tokens are kept in its data directory."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec

from cellrace_client.house_bot import Place

MOST = 100
"""Bots of one house: each is a process, and has another one while it thinks."""


@contextmanager
def accounts(directory: Path, count: int) -> Iterator[list[Path]]:
    """The files of so many tokens that no other server uses, kept from others until the block ends."""
    if count:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    locks: list[BinaryIO] = []
    files: list[Path] = []
    try:
        for number in range(1, 10 * MOST):
            if len(files) == count:
                break
            locks.append((directory / f"{number:03}.lock").open("wb"))
            if _is_ours(locks[-1]):
                files.append(directory / f"{number:03}.token")
        yield files
    finally:
        for lock in locks:
            lock.close()


def _is_ours(lock: BinaryIO) -> bool:
    """Take a lock that nobody has; servers on one data directory share its accounts out in this way."""
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def bot_words(place: Place) -> tuple[str, ...]:
    """The command of a bot of the house."""
    return (sys.executable, "-P", "-m", "cellrace_client.house_bot", msgspec.json.encode(place).decode())
