"""The disk of the embedded store is full: as when it is away, with the reason; all goes on when there is room again."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cellrace_server.app import running
from cellrace_server.config import Config
from tests.server.net.fetching import fetch
from tests.story.players import Map, play, start_race, table
from tests.story.test_degrading import asked
from tests.waiting import eventually

UNTIL_KEPT_AGAIN = 60.0
"""Seconds after which there was room in vain: the store is started again every other second."""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["/bin/mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place], check=False)
    if mounted.returncode:
        pytest.skip("this machine lets nobody mount a disk")
    try:
        yield place
    finally:
        # Lazily: the last process of a store may still be about to end.
        subprocess.run(["/bin/umount", "-l", place], check=True)


def fill(disk: Path) -> Path:
    """Fill it up; the file that does."""
    ballast = disk / "ballast"
    file = os.open(ballast, os.O_CREAT | os.O_WRONLY)
    try:
        while True:
            os.write(file, bytes(4096))
    except OSError:
        return ballast
    finally:
        os.close(file)


def following(race: str, seq: int) -> Map:
    """The move after so many, for as long as one likes."""
    return {"race": race, "seq": seq, "moves": ["1b" if seq % 2 else "u"]}


async def test_a_full_disk_is_told_and_all_goes_on_when_there_is_room(small_disk: Path) -> None:
    config = Config(port=0, data_dir=small_disk / "data")
    async with running(config) as node, table(f"ws://127.0.0.1:{node.port}/ws") as seats:
        ann = await seats.player("Ann")
        race = await start_race(ann, deal=617)
        await play(ann, race, ["1a", "1b"], at_once=1)
        ballast = fill(small_disk)
        answered = 2  # What still has room in a block that is there already may be answered.
        while (answer := await asked(ann, "move", **following(race, answered)))["type"] != "error":
            answered += 1
        assert answer["code"] == "retry_later"
        reason = await eventually(node.readiness)
        assert f"The disk of {config.data_dir} is full." in reason
        told = await fetch(node.port, "/readyz")
        assert (told.status, told.code) == (503, "not_ready")
        assert (await fetch(node.port, "/healthz")).status == 200
        ballast.unlink()
        async with asyncio.timeout(UNTIL_KEPT_AGAIN):
            while (answer := await asked(ann, "move", **following(race, answered)))["type"] == "error":
                assert answer["code"] == "retry_later"
                await asyncio.sleep(0.1)
        await eventually(lambda: node.readiness() is None)
        moves = (await ann.ask("race.sync", race=race))["you"]["moves"]
        assert len(moves) == answered + 1
        await ann.ask("race.concede", race=race)
        await ann.push("race.over", race=race)
