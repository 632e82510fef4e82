"""The directory of an embedded store: made private, and looked after while the store runs.

A store goes on in files that are deleted or moved under it, and says nothing: what it answers then is nowhere once it
ends.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from pathlib import Path

from cellrace_server.store import keeper
from cellrace_server.store.errors import StoreUnfit

DATA = "appendonlydir"
"""What holds the data, as the store names it."""
NEEDED = 256 * 1024
"""Bytes; a disk that has less left is called full when the store does not answer."""

_OURS = frozenset({keeper.ATTACHED, DATA, "bots", "signing.key"})
"""What a data directory is known by, one that was copied too."""
_MADE_WITH_A_DISK = frozenset({"lost+found"})


def make_private(directory: Path) -> Path:
    """The directory, for nobody but its owner from now on. Raises StoreUnfit, OSError."""
    directory = directory.absolute()
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    mode = stat.S_IMODE(directory.stat().st_mode)
    if mode & stat.S_ISVTX:
        # Like /tmp: made private, it would be there for nobody else any more.
        raise StoreUnfit(
            f"The data directory {directory} is one that users share. "
            f"Name one of your own with --data-dir, as {directory}/cellrace."
        )
    if mode != 0o700:
        found = {entry.name for entry in directory.iterdir()}
        if found - _MADE_WITH_A_DISK and not found & _OURS:
            # Like / or /etc: others need what is in it.
            raise StoreUnfit(
                f"The data directory {directory} holds other things, and would be made private with them. "
                f"Name one of its own with --data-dir, as {directory / 'cellrace'}."
            )
        directory.chmod(0o700)
    return directory


def is_there(directory: Path, attached: int) -> bool:
    """Whether a directory is still the one in which a server has attached itself by an open lock."""
    try:
        same = os.path.samestat((directory / keeper.ATTACHED).stat(), os.fstat(attached))
        return same and (directory / DATA).is_dir()
    except OSError:
        return False


def harm(directory: Path, attached: int) -> str:
    """What was done to a directory under its running store, a sentence; empty when nothing."""
    if not is_there(directory, attached):
        return (
            f"The data directory {directory} was deleted, moved or replaced while the store runs: what is written now "
            "is lost when that ends. Put it back, or stop the servers and start them anew."
        )
    if not os.access(directory / DATA, os.W_OK | os.X_OK):
        return f"The data directory {directory} can be written to no more. Give the server's user the right to."
    return ""


def shortage(directory: Path) -> str:
    """What the disk of a directory lacks, a sentence; empty when nothing."""
    with contextlib.suppress(OSError):
        if shutil.disk_usage(directory).free < NEEDED:
            return f"The disk of {directory} is full."
    return ""
