"""The process that keeps an embedded store alive, started by file name, with the standard library alone.

    python keeper.py DIRECTORY SOCKET COMMAND…

It belongs to a data directory, to no server: whoever started it may be killed. Three locks in that directory, all
let go by the kernel when their holder dies, say everything that the processes must know of each other:

    attached.lock   shared by each attached server; whoever gets it alone knows that there is none
    keeper.lock     held by the keeper, which inherits it from the server that starts it
    store.lock      held by the store process itself: while it lives, no second one opens the same files; holds its pid
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import FrameType

ATTACHED = "attached.lock"
KEEPER = "keeper.lock"
STORE = "store.lock"
LOG = "store.log"
SHUTDOWN = b"SHUTDOWN NOSAVE\r\n"

QUICK_DEATH = 1.0
"""A store that dies within so many seconds of its start makes the next pause twice as long."""
QUICK_DEATHS_AT_MOST = 5
FIRST_PAUSE = 0.02
LONGEST_STOP = 3.0
"""Seconds that a store has to end when it is told to."""

PR_SET_PDEATHSIG = 1
"""What `prctl` calls the signal that a process gets when its parent dies."""


def open_lock(path: Path) -> int:
    """Open a lock file, private to its owner, and leave it unlocked."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def try_lock(fd: int, kind: int) -> bool:
    """Take a lock if nobody is in the way."""
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class Keeper:
    """Runs the store again each time it dies, until no server is attached."""

    def __init__(self, directory: Path, socket_path: str, command: list[str]) -> None:
        self._directory = directory
        self._socket_path = socket_path
        self._command = command
        self._attached = open_lock(directory / ATTACHED)
        self._ending = threading.Event()
        self._store: subprocess.Popen[bytes] | None = None

    def run(self) -> int:
        """Keep the store; the exit status is 1 when it would not stay alive."""
        threading.Thread(target=self._end_with_the_last_server, daemon=True).start()
        quick_deaths = 0
        while True:
            started = time.monotonic()
            try:
                end = f"the store ended with status {self._run_store()}"
            except OSError as error:
                end = f"the store cannot be started: {error}"  # No process or file to be had just now.
            if self._ending.is_set() or self._nobody_attached():
                return 0
            quick_deaths = quick_deaths + 1 if time.monotonic() - started < QUICK_DEATH else 0
            self._say(end)
            if quick_deaths >= QUICK_DEATHS_AT_MOST:
                self._say("it does not stay alive; giving up")
                return 1
            if quick_deaths and self._ending.wait(FIRST_PAUSE * 2**quick_deaths):
                return 0

    def _run_store(self) -> int | None:
        # Blocks while an earlier store lives whose keeper was killed: it is kept by being waited for.
        lock = open_lock(self._directory / STORE)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self._ending.is_set() or self._nobody_attached():
                return None
            os.truncate(lock, 0)
            self._store = subprocess.Popen(  # noqa: S603 - the command is the one that our own server gave.
                self._command,
                cwd=self._directory,
                pass_fds=(lock,),
                preexec_fn=_die_with_the_keeper if sys.platform == "linux" else None,
            )
            with contextlib.suppress(OSError):  # On a full disk the store is kept all the same.
                os.pwrite(lock, b"%d\n" % self._store.pid, 0)
        finally:
            os.close(lock)
        if self._ending.is_set():
            self._store.terminate()
        status = self._store.wait()
        self._store = None
        return status

    def _end_with_the_last_server(self) -> None:
        fcntl.flock(self._attached, fcntl.LOCK_EX)
        self._ending.set()
        if (store := self._store) is not None:
            store.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                store.wait(LONGEST_STOP)
            store.kill()
        else:
            self._shut_adopted_down()

    def _shut_adopted_down(self) -> None:
        # Not by its pid, which may be another's by now, or in another container.
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as adopted:
            adopted.settimeout(LONGEST_STOP)
            adopted.connect(self._socket_path)
            adopted.sendall(SHUTDOWN)
            adopted.recv(1)

    def _nobody_attached(self) -> bool:
        # The last server holds the lock alone while it shuts the store down.
        probe = open_lock(self._directory / ATTACHED)
        try:
            return not try_lock(probe, fcntl.LOCK_SH)
        finally:
            os.close(probe)

    def _say(self, sentence: str) -> None:
        with contextlib.suppress(OSError):  # The log may be on the full disk of which there is something to say.
            print(f"{os.getpid()}:K {time.strftime('%d %b %Y %H:%M:%S')} * keeper: {sentence}", flush=True)


def _die_with_the_keeper() -> None:
    # Without this a store outlives a kill -9 of its keeper and all its servers at once, until the next start adopts it.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _ignore(_signal: int, _frame: FrameType | None) -> None:
    """A stop sent to all processes at once is for the servers, which still need the store for their last words."""


def main(arguments: list[str]) -> int:
    """Become a process of its own, so that no server has to wait for it, then keep the store."""
    if os.fork():
        return 0
    os.setsid()
    for stop in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(stop, _ignore)
    directory, socket_path, *command = arguments
    return Keeper(Path(directory), socket_path, command).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
