"""Output that cannot be written, or has no place to go: a sentence and an exit status, never a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cellrace_client.cli.options import show_json

COMMAND = [sys.executable, "-c", "from cellrace_client.cli import main; main()"]
FULL = Path("/dev/full")


def test_json_holds_nothing_that_a_terminal_obeys(capsys: pytest.CaptureFixture[str]) -> None:
    """A name may come from a server that is anybody's; a program reads the same as ever."""
    value = {"name": "Ann\x1b[31m\x9b2J\u202e\u2028\x7f\U000e0041 😀 Олена", "rows": [1, None, True]}
    show_json(value)
    line = capsys.readouterr().out.removesuffix("\n")
    assert line.isprintable()
    assert "😀 Олена" in line
    assert json.loads(line) == value


@pytest.mark.skipif(not FULL.exists(), reason="needs a disk that is always full")
@pytest.mark.parametrize("words", ["--version", "check --jsonl", "serve --port 0 --data-dir DATA"])
def test_a_full_disk_is_told_in_a_sentence(tmp_path: Path, words: str) -> None:
    """Whatever the command, and however little it prints."""
    told = subprocess.run(
        [*COMMAND, *words.replace("DATA", str(tmp_path / "data")).split()],
        input=b'{"deal": 1}\n',
        stdout=FULL.open("wb"),
        stderr=subprocess.PIPE,
        timeout=100,
        check=False,
    )
    assert told.returncode == 1
    lines = told.stderr.decode().splitlines()
    assert lines[-1] == "Error: The output cannot be written: No space left on device."
    assert "Traceback" not in told.stderr.decode()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_nobody_has_to_listen(closed: str) -> None:
    """A stream that a shell has closed is as good as one that leads nowhere."""
    told = subprocess.run(
        ["/bin/sh", "-c", f'"$@" {closed}', "sh", *COMMAND, "check", "--jsonl"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=100,
        check=False,
    )
    assert (told.returncode, told.stderr) == (0, b"")
