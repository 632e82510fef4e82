"""A store of one's own, for whoever has no Redis: a Valkey process that belongs to a data directory.

Servers on the same directory share it. Each attaches by holding `attached.lock`; the first finds no keeper and starts
one (`keeper`, which runs the store again when it dies); each of the others does so when the keeper is killed; the last
one to leave ends both. When all are killed instead, the keeper notices and ends itself and the store.

There is no TCP port: clients come through a unix socket that only the directory's owner can reach.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Self
from urllib.parse import quote

import structlog

from cellrace_server.store import directory, keeper
from cellrace_server.store.binary import find_binary
from cellrace_server.store.errors import StoreUnavailable, StoreUnfit
from cellrace_server.store.keeper import open_lock, try_lock

SOCKET = "store.sock"
SOCKET_ELSEWHERE = "store.socket-directory"
LONGEST_SOCKET_PATH = 103  # sun_path has 104 bytes on macOS, 108 on Linux, and ends with a zero.

# What makes an answered write outlive a kill of any process, and says no rather than forget.
DURABLE = {
    "appendonly": "yes",
    "appendfsync": "always",
    "aof-load-truncated": "yes",
    "save": "",
    "maxmemory-policy": "noeviction",
}

SHUT_DOWN = 1.2
"""Seconds that the last server waits for the store's end; the keeper waits longer."""

# Seconds: between two looks at the keeper, after failures at most; between two questions to whom is waited for; for an
# answer of the store.
_WATCH = 0.25
_LONGEST_WATCH = 2.0
_POLL = 0.01
_LONGEST_ANSWER = 1.0
_KEEPERS_AT_MOST = 2  # The first may have been killed; two in a row say that the store cannot live.


log = structlog.get_logger()


class EmbeddedStore:
    """The store of a data directory, kept alive as long as this is open: `async with await EmbeddedStore.open(d)`."""

    def __init__(self, data_dir: Path, binary: Path) -> None:
        self.data_dir = data_dir
        self._binary = binary
        self._attached = open_lock(data_dir / keeper.ATTACHED)
        self._socket = data_dir / SOCKET
        self.harm = ""
        """What was done to its directory while it runs, a sentence; empty when nothing."""
        self._keepers_started = 0
        self._watch: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, data_dir: Path, *, patience: float = 10.0) -> Self:
        """Attach to the directory's store, starting it when there is none.

        `patience` is how many seconds it may take to answer; reading its data back may take longer.
        """
        binary = await asyncio.to_thread(find_binary)
        try:
            store = cls(directory.make_private(data_dir), binary)
        except OSError as error:
            raise StoreUnfit(
                f"The data directory {data_dir} cannot be used ({error.strerror}). Name another with --data-dir."
            ) from error
        try:
            async with asyncio.timeout(patience) as limit:
                await store._attach(limit, patience)
        except TimeoutError as error:
            await store.close()
            raise StoreUnavailable(store._complaint("does not answer")) from error
        except (OSError, subprocess.SubprocessError) as error:
            await store.close()
            raise StoreUnavailable(store._complaint(f"cannot be started ({error})")) from error
        except BaseException:
            await store.close()
            raise
        store._watch = asyncio.create_task(store._replace_killed_keepers(), name="embedded-store-watch")
        return store

    @property
    def url(self) -> str:
        """Where clients find it."""
        return f"unix://{quote(str(self._socket))}"

    @property
    def shortage(self) -> str:
        """What its disk lacks, a sentence; empty when nothing."""
        return directory.shortage(self.data_dir)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Leave, and end the store if nobody else is attached."""
        if self._watch is not None:
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watch
            self._watch = None
        if self._attached < 0:
            return
        try:
            async with asyncio.timeout(SHUT_DOWN):
                if await self._is_last():
                    await self._end_store()
        except OSError:
            # A timeout, or the directory is no more: the keeper, which gets the lock next, ends a store that is left.
            pass
        finally:
            os.close(self._attached)
            self._attached = -1

    async def _attach(self, limit: asyncio.Timeout, patience: float) -> None:
        attached = False
        while True:
            # Refused while whoever left last is still ending the store.
            attached = attached or try_lock(self._attached, fcntl.LOCK_SH)
            if attached:
                await self._need_keeper()
                self._socket = _socket_path(self.data_dir)
                answer = await _ask(self._socket, b"PING\r\n")
                if answer == b"+PONG\r\n":
                    return
                if answer.startswith(b"-LOADING"):
                    limit.reschedule(asyncio.get_running_loop().time() + patience)
            await asyncio.sleep(_POLL)

    async def _need_keeper(self) -> bool:
        lock = open_lock(self.data_dir / keeper.KEEPER)
        if not try_lock(lock, fcntl.LOCK_EX):
            os.close(lock)
            return False
        if self._watch is None and self._keepers_started >= _KEEPERS_AT_MOST:
            os.close(lock)
            raise StoreUnavailable(self._complaint("does not stay alive"))
        self._keepers_started += 1
        await asyncio.to_thread(self._start_keeper, lock)
        return True

    def _start_keeper(self, lock: int) -> None:
        try:
            self._socket = _socket_path(self.data_dir, make=True)
            settings = {
                **DURABLE,
                "port": "0",
                "unixsocket": str(self._socket),
                "unixsocketperm": "700",
                "dir": str(self.data_dir),
                "logfile": keeper.LOG,
            }
            command = [str(self._binary), *(part for name, value in settings.items() for part in (f"--{name}", value))]
            with (self.data_dir / keeper.LOG).open("ab") as log:
                # Not as a module: the keeper outlives this server, so it carries nothing but the standard library.
                subprocess.run(  # noqa: S603 - our own interpreter and file.
                    [sys.executable, "-I", "-S", keeper.__file__, str(self.data_dir), str(self._socket), *command],
                    cwd=self.data_dir,
                    pass_fds=(lock,),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    check=True,
                    start_new_session=True,  # Ctrl-C is for the server, and no fault of the store.
                )
        finally:
            os.close(lock)

    async def _replace_killed_keepers(self) -> None:
        pause = _WATCH
        while True:
            await asyncio.sleep(pause)
            self._look_after_directory()
            try:
                # In a place that is another one by now it would be another store, beside the one that runs.
                started = directory.is_there(self.data_dir, self._attached) and await self._need_keeper()
            except (OSError, subprocess.SubprocessError):
                started = True  # No process or file to be had just now; clients see an unavailable store meanwhile.
            pause = min(pause * 2, _LONGEST_WATCH) if started else _WATCH

    def _look_after_directory(self) -> None:
        before, self.harm = self.harm, directory.harm(self.data_dir, self._attached)
        if self.harm and self.harm != before:
            log.error(self.harm)
        elif before and not self.harm:
            log.warning("the data directory is as it was")

    async def _is_last(self) -> bool:
        refusals = 0
        while not try_lock(self._attached, fcntl.LOCK_EX):
            # Shared with others: they keep it. Once is no proof, for the keeper shares it while it looks who is there.
            if try_lock(self._attached, fcntl.LOCK_SH):
                refusals += 1
                if refusals > 1:
                    return False
            await asyncio.sleep(_POLL)
        return True

    async def _end_store(self) -> None:
        # Holding the lock alone keeps newcomers waiting until the old store is gone, and the keeper from a new one.
        while not (_is_free(self.data_dir / keeper.KEEPER) and _is_free(self.data_dir / keeper.STORE)):
            await _ask(self._socket, keeper.SHUTDOWN)
            await asyncio.sleep(_POLL)
        if self._socket.parent != self.data_dir:
            (self.data_dir / SOCKET_ELSEWHERE).unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                self._socket.parent.rmdir()

    def _complaint(self, what: str) -> str:
        log = self.data_dir / keeper.LOG
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        said = next((line for line in reversed(lines) if line and "keeper:" not in line), "nothing")
        return f"The embedded store {what}. It last said: {said!r}; the rest is in {log}."


async def _ask(socket: Path, command: bytes) -> bytes:
    try:
        async with asyncio.timeout(_LONGEST_ANSWER):
            reader, writer = await asyncio.open_unix_connection(socket)
            try:
                writer.write(command)
                return await reader.readline()
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return b""


def _socket_path(data_dir: Path, *, make: bool = False) -> Path:
    path = data_dir / SOCKET
    if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
        return path
    record = data_dir / SOCKET_ELSEWHERE
    elsewhere = Path(record.read_text()) if record.exists() else None
    # Whoever starts the keeper holds its lock, so only one process makes the directory.
    if make and not (elsewhere and _is_private(elsewhere)):
        elsewhere = Path(tempfile.mkdtemp(prefix="cellrace-"))
        draft = record.with_suffix(".new")
        draft.write_text(str(elsewhere))
        draft.replace(record)
    return (elsewhere or data_dir) / SOCKET


def _is_private(place: Path) -> bool:
    # Cleaned away: the same place again, for the attached servers know it by that.
    with contextlib.suppress(OSError):
        place.mkdir(mode=0o700)
    try:
        found = place.lstat()
    except OSError:
        return False
    # Another user may have put something else in its place since it was recorded.
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) == 0o700


def _is_free(path: Path) -> bool:
    lock = open_lock(path)
    try:
        return try_lock(lock, fcntl.LOCK_EX)
    finally:
        os.close(lock)
