"""Ports of this machine for what a test starts, each given once."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import socket

_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 8
_PORTS = random.sample(range(15_000 + 2_000 * _WORKER, 17_000 + 2_000 * _WORKER), 2_000)
"""Each process of the tests has its own, for a port is taken some time before somebody listens on it."""
_next_ports = itertools.cycle(_PORTS)


def free_port() -> int:
    """A port that nobody listens on, below those that a system gives to whoever asks for any; another each time."""
    while True:
        port = next(_next_ports)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
