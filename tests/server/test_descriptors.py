"""A node has as many open files as it may have: each connection is one."""

from __future__ import annotations

import subprocess
import sys

import pytest

resource = pytest.importorskip("resource")

SCRIPT = """
import resource
from cellrace_server.descriptors import raise_open_files
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
print(raise_open_files(), *resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.parametrize(("soft", "hard", "warned"), [(64, 512, True), (512, 512, True), (64, 5_000, False)])
def test_the_soft_limit_is_raised_to_the_hard_one_and_few_are_warned_of(soft: int, hard: int, warned: bool) -> None:
    """In a process of its own, for a hard limit that is lowered stays so."""
    if hard > resource.getrlimit(resource.RLIMIT_NOFILE)[1] >= 0:
        pytest.skip("this machine allows less")
    script = SCRIPT.format(soft=soft, hard=hard)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == f"{hard} {hard} {hard}"
    assert ("few files may be open" in done.stdout + done.stderr) is warned
