"""Looking at the processes of an embedded store from outside, and servers that can be killed."""

from __future__ import annotations

import asyncio
import fcntl
import os
import subprocess
import sys
from pathlib import Path

from cellrace_server.store.keeper import STORE, open_lock, try_lock

SERVER = """
import asyncio, sys
from pathlib import Path
from cellrace_server.store.embedded import EmbeddedStore

async def main():
    async with await EmbeddedStore.open(Path(sys.argv[1])) as store:
        print(store.url, flush=True)
        await asyncio.to_thread(sys.stdin.read)

asyncio.run(main())
"""


async def start_server(data_dir: Path) -> asyncio.subprocess.Process:
    """Start a process that stays attached to the directory's store until `end_server` closes its stdin."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SERVER, str(data_dir), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert (await process.stdout.readline()).startswith(b"unix://")
    return process


async def end_server(process: asyncio.subprocess.Process) -> int:
    """Let a server close its store and end; return its exit status."""
    assert process.stdin is not None
    process.stdin.close()
    return await process.wait()


def store_pid(data_dir: Path) -> int | None:
    """Tell which process holds the store's lock, or None when none does."""
    lock = open_lock(data_dir / STORE)
    try:
        text = os.pread(lock, 32, 0)
        return int(text) if text and not try_lock(lock, fcntl.LOCK_SH) else None
    finally:
        os.close(lock)


def is_alive(pid: int) -> bool:
    """A zombie is dead, though nobody has looked yet."""
    return _column(pid, "stat", 2)[:1] not in ("", "Z", "X")


def parent_of(pid: int) -> int:
    """Tell which process started it."""
    return int(_column(pid, "ppid", 3))


def _column(pid: int, name: str, place: int) -> str:
    # A bare Linux may have no ps, macOS has no /proc.
    if sys.platform == "linux":
        try:
            line = Path(f"/proc/{pid}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return ""
        return line.rpartition(")")[2].split()[place - 2]
    return subprocess.run(["/bin/ps", "-o", f"{name}=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
