"""What a process on this machine takes, as the kernel tells it."""

from __future__ import annotations

import os
import resource
from pathlib import Path

MIB = 2**20
_TICKS = os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> float:
    """The memory that a process has in use (RSS), in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / MIB


def core_seconds(pid: int) -> float:
    """For how long a process has had a core, in seconds."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / _TICKS


def need_descriptors(wanted: int) -> None:
    """Let this process, and those that it starts, have so many open files. Raises OSError where it may not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        if hard != resource.RLIM_INFINITY and hard < wanted:
            raise OSError(f"{wanted} open files are needed, and {hard} are allowed: raise `ulimit -Hn`")
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
