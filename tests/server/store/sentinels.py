"""Stores with replicas and Sentinels: real processes on loopback that a test may kill, stop and let go on."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from redis import Redis
from redis.exceptions import RedisError

from cellrace_server.store.binary import find_binary
from tests.ports import free_port

SERVICE = "races"

_numbers = itertools.count(1)


def wait_until(predicate: Callable[[], bool], timeout: float = 60.0) -> None:
    """Block until something is true, which servers that cannot be reached are not asked in vain."""
    end = time.monotonic() + timeout
    while True:
        with contextlib.suppress(RedisError, OSError):
            if predicate():
                return
        assert time.monotonic() < end, f"not within {timeout} s: {getattr(predicate, '__qualname__', predicate)}"
        time.sleep(0.005)


class Server:
    """One process: a store, or a Sentinel; and a client of the test's own."""

    def __init__(self, directory: Path, *arguments: str) -> None:
        self.port = free_port()
        self.directory = directory / f"{next(_numbers)}"
        self.directory.mkdir()
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None
        self.client = Redis(port=self.port, socket_timeout=20, socket_connect_timeout=20, protocol=2)

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, or start it again with the data that it had."""
        place = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.directory), "--logfile", "log"]
        self._process = subprocess.Popen([find_binary(), *self._arguments, *place])
        wait_until(self.client.ping)

    def kill(self) -> None:
        """End it as a power cut would, paused or not."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def pause(self) -> None:
        """Stop it: its connections stay, and it says nothing."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        assert self._process is not None
        if self._process.poll() is None:
            os.kill(self._process.pid, signal.SIGCONT)

    def close(self) -> None:
        """End it."""
        self.kill()
        self.client.close()


class Store(Server):
    """A store that writes before it answers, perhaps a replica of another."""

    def __init__(self, directory: Path, primary: Store | None = None) -> None:
        follow = [] if primary is None else ["--replicaof", f"127.0.0.1 {primary.port}"]
        durable = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""]
        super().__init__(directory, *durable, "--repl-diskless-sync-delay", "0", *follow)

    @property
    def url(self) -> str:
        """Where clients find it without Sentinels."""
        return f"redis://{self.address}"

    @property
    def replicas(self) -> int:
        """How many replicas follow it and have all it had when they came."""
        told = self.client.info("replication")
        return sum(isinstance(entry, dict) and entry["state"] == "online" for entry in told.values())

    @property
    def is_primary(self) -> bool:
        """Whether it takes writes."""
        return bool(self.client.info("replication")["role"] == "master")

    def has_key(self, key: str) -> bool:
        """Whether it holds a key."""
        return bool(self.client.exists(key))


class Pair:
    """A primary and its replica."""

    def __init__(self, directory: Path) -> None:
        self.primary = Store(directory)
        self.replica = Store(directory, self.primary)

    def start(self) -> None:
        """Start both, and wait until the replica follows and says so."""
        self.primary.start()
        self.replica.start()
        wait_until(self.keeps_up)

    def keeps_up(self) -> bool:
        """Whether the replica has all that the primary has."""
        pipeline = self.primary.client.pipeline(transaction=False)
        pipeline.publish("nobody", "")
        pipeline.wait(1, 200)
        return bool(pipeline.execute()[1] == 1)

    def close(self) -> None:
        """End both."""
        self.replica.close()
        self.primary.close()


class Watched(Pair):
    """A primary and its replica, watched by three Sentinels that replace a dead primary within a few seconds.

    `down_after` is how many ms a primary says nothing until it is taken for dead.
    """

    def __init__(self, directory: Path, down_after: int = 1_500) -> None:
        super().__init__(directory)
        self.sentinels = []
        for number in range(3):
            settings = directory / f"sentinel-{number}.conf"
            settings.write_text(
                f"sentinel monitor {SERVICE} 127.0.0.1 {self.primary.port} 2\n"
                f"sentinel down-after-milliseconds {SERVICE} {down_after}\n"
                f"sentinel failover-timeout {SERVICE} 1000\n"
            )
            self.sentinels.append(Server(directory, str(settings), "--sentinel"))

    @property
    def url(self) -> str:
        """Where clients find whichever of the two is the primary."""
        return f"redis+sentinel://{','.join(sentinel.address for sentinel in self.sentinels)}/{SERVICE}"

    def start(self) -> None:
        """Start all five, and wait until the Sentinels know of each other and of the replica."""
        super().start()
        for sentinel in self.sentinels:
            sentinel.start()
            # Heard of each other three times a second instead of every two seconds; failovers take as long as ever.
            command: Callable[..., object] = sentinel.client.execute_command
            command("SENTINEL DEBUG", "publish-period", "300")
        wait_until(self._all_known)

    def _all_known(self) -> bool:
        # redis-py types the answer of RESP3; this one comes by the name of the service.
        masters = [cast(dict[str, dict[str, Any]], sentinel.client.sentinel_masters()) for sentinel in self.sentinels]
        told = [known[SERVICE] for known in masters]
        return all(one["num-other-sentinels"] == 2 and one["num-slaves"] == 1 and one["is_master"] for one in told)

    def close(self) -> None:
        """End all."""
        for sentinel in self.sentinels:
            sentinel.close()
        super().close()
