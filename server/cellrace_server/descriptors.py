"""How many files a process may have open at once: each connection is one."""

from __future__ import annotations

import structlog

WANTED = 1_048_576
"""More than any node holds; where the hard limit is lower, that."""
FEW = 4_096
"""Fewer than these are too few for a node that people connect to."""

log = structlog.get_logger()


def raise_open_files() -> int:
    """Raise the soft limit as far as this process may by itself, and say what it is then; 0 where there is none."""
    try:
        import resource
    except ImportError:  # Windows has no such limit.
        return 0
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = WANTED if hard == resource.RLIM_INFINITY else min(hard, WANTED)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
        except (OSError, ValueError) as error:  # macOS allows less than it says.
            log.debug("the limit of open files stays", soft=soft, reason=str(error))
        else:
            soft = allowed
    if soft != resource.RLIM_INFINITY and soft < FEW:
        log.warning("few files may be open, and each connection is one: raise `ulimit -n`", allowed=soft)
    return soft
