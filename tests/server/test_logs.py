"""The log: how it looks, which levels it has, and that no secret ever stands in it."""

from __future__ import annotations

import asyncio
import errno
import io
import json
import logging
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import structlog
from redis.asyncio import Redis

from cellrace.board import dealt_board
from cellrace.deals import deal
from cellrace.solver import solve
from cellrace.variants import find_variant
from cellrace_server.logs import LEVELS, configure_logs
from cellrace_server.stock import load_stock
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.hearing import Hearing
from cellrace_server.store.races import Secret
from cellrace_server.upkeep import repeat
from tests.server.net.fetching import fetch
from tests.story.players import JSON, Table, play, start_race, table

NUMBER = 7_654_321_987
"""A deal whose number stands nowhere by chance."""


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Leaves the log as it was."""
    root, known = logging.getLogger(), logging.getLogger("websockets").level
    handlers, level = root.handlers[:], root.level
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.getLogger("websockets").setLevel(known)


def lines_of(stream: io.StringIO) -> list[dict[str, Any]]:
    """The lines of a log that is read by programs."""
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_elsewhere_than_on_a_terminal_each_line_is_one_json_object() -> None:
    stream = io.StringIO()
    configure_logs("info", stream)
    structlog.get_logger().info("race begun", race="r1", text="two\nlines, ♠")
    logging.getLogger("asyncio").error("from %s", "elsewhere")
    ours, theirs = lines_of(stream)
    assert (ours["event"], ours["level"], ours["race"], ours["text"]) == ("race begun", "info", "r1", "two\nlines, ♠")
    assert (theirs["event"], theirs["level"]) == ("from elsewhere", "error")
    for line in (ours, theirs):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", line["timestamp"])


def test_on_a_terminal_lines_are_for_people() -> None:
    stream = Terminal()
    configure_logs("info", stream)
    structlog.get_logger().info("race begun", race="r1")
    text = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())
    assert re.search(r"\[info +\] race begun +race=r1\n$", text)


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_without_colours_where_none_are_wanted(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for colours in (True, False):
        stream = Terminal()
        configure_logs("info", stream)
        structlog.get_logger().info("race begun", race="r1")
        assert ("\x1b[" in stream.getvalue()) == colours
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()], ids=["terminal", "elsewhere"])
def test_a_traceback_shows_no_local_variables(stream: io.StringIO) -> None:
    configure_logs("info", stream)
    for log in (structlog.get_logger().exception, logging.getLogger("asyncio").exception):
        token = "a" + "bc" * 20
        try:
            raise ValueError(len(token))
        except ValueError:
            log("a mistake")
    assert "ValueError: 41" in stream.getvalue()
    assert "a" + "bc" * 20 not in stream.getvalue()


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_below_the_level_is_not_written(level: str) -> None:
    stream = io.StringIO()
    configure_logs(level, stream)
    for name in LEVELS:
        getattr(structlog.get_logger(), name)(name)
    assert [line["event"] for line in lines_of(stream)] == list(LEVELS[LEVELS.index(level) :])


def test_other_libraries_are_heard_from_warnings_on_and_websockets_never() -> None:
    """Its debug lines quote frames, tokens in them."""
    stream = io.StringIO()
    configure_logs("debug", stream)
    for name in ("redis", "websockets.server"):
        for level in (logging.DEBUG, logging.WARNING, logging.ERROR):
            logging.getLogger(name).log(level, "%s at %s", name, level)
    assert [line["event"] for line in lines_of(stream)] == ["redis at 30", "redis at 40"]


def test_a_secret_that_is_logged_whole_does_not_show() -> None:
    stream = io.StringIO()
    configure_logs("info", stream)
    structlog.get_logger().info("oops", secret=Secret(NUMBER, "ab" * 16))
    assert str(NUMBER) not in stream.getvalue()
    assert "ab" * 16 not in stream.getvalue()


async def test_trouble_of_the_store_is_told_once_however_long_it_lasts() -> None:
    stream = io.StringIO()
    configure_logs("info", stream)
    outcomes = iter([True, False, False, False, True, True, False, True])
    done = asyncio.Event()

    async def chore() -> None:
        answers = next(outcomes, None)
        if answers is None:
            done.set()
        elif not answers:
            raise StoreUnavailable("away")

    task = asyncio.create_task(repeat(0, "no beat", chore))
    await done.wait()
    task.cancel()
    told = [(line["event"], line["level"]) for line in lines_of(stream)]
    assert told == [("no beat", "warning"), ("the store answers again", "warning")] * 2


async def test_a_chore_that_fails_for_another_reason_is_done_again_all_the_same() -> None:
    """No file to be had for a moment, and a node beat no more, or drew no day's deal, until it was started again."""
    stream = io.StringIO()
    configure_logs("info", stream)
    outcomes = iter([OSError(errno.EMFILE, "Too many open files"), KeyError("a mistake"), None])
    done = asyncio.Event()

    async def chore() -> None:
        if fault := next(outcomes, None):
            raise fault
        done.set()

    task = asyncio.create_task(repeat(0, "no beat", chore))
    async with asyncio.timeout(60):
        await done.wait()
    task.cancel()
    assert [(line["event"], line["level"]) for line in lines_of(stream)] == [("no beat", "error")] * 2


class Deaf:
    """A store, and its connections, of which none is to be had, again and again."""

    def __init__(self) -> None:
        self.connection_pool = self
        self.attempts = 0
        self.often = asyncio.Event()

    def get_encoder(self) -> object:
        """What a subscription asks for first."""
        return Redis().get_encoder()

    async def get_connection(self) -> None:
        """Ask for one in vain."""
        self.attempts += 1
        if self.attempts == 3:
            self.often.set()
        raise ConnectionResetError("away")


async def test_a_lost_subscription_is_told_once_and_counted_once() -> None:
    stream = io.StringIO()
    configure_logs("info", stream)
    store = Deaf()
    hearing = Hearing(cast(Redis, store), "here:1", lambda telling: None, lambda: None)
    task = asyncio.create_task(hearing.run())
    await store.often.wait()
    task.cancel()
    (line,) = lines_of(stream)
    assert (line["event"], line["level"]) == ("the subscription is lost and built anew", "warning")
    assert hearing.losses == 1


def solved(number: int) -> list[str]:
    """Moves that win a deal of FreeCell."""
    freecell = find_variant("freecell")
    solution = solve(dealt_board(freecell, deal(freecell, number)))
    assert solution is not None
    return list(solution.moves)


async def a_whole_race(seats: Table) -> tuple[set[str], str]:
    """Two races that are won, with a spectator, refusals and a takeover: all secrets of theirs, and a race's id."""
    ann, bob = await seats.player("Ann"), await seats.player("Bob", JSON, bot=True)
    token = ann.token
    secrets = {token, bob.token}
    race = ""
    for settings in ({"deal": NUMBER}, {"variant": "one-suit"}):
        race = await start_race(ann, bob, spectate="live", autoplay="none", **settings)
        started = await ann.ask("race.sync", race=race)
        eve = await seats.player()
        await eve.ask("race.watch", race=race)
        secrets |= {eve.token, started["salt"], started["code"]}
        # Of a game that is drawn there is a proof at hand; to solve any of a million may take long.
        moves = solved(NUMBER) if "deal" in settings else list(load_stock("one-suit").proof(started["deal"]) or ())
        ann = await seats.player(token=token)
        await ann.refused("move", race=race, seq=0, moves=["zz"])
        assert (await play(ann, race, moves))["won"]
        await bob.ask("race.concede", race=race)
        await ann.push("race.over", race=race)
    await (await seats.stranger()).send("hello", token="wrong" * 8)
    secrets.add("wrong" * 8)
    return secrets, race


async def test_no_token_deal_or_salt_is_ever_logged(tmp_path: Path) -> None:
    """A server of its own at the chattiest level, whole races on it, and everything that it has written."""
    command = (sys.executable, "-c", "from cellrace_client.cli import main; main()", "serve", "--port", "0")
    process = await asyncio.create_subprocess_exec(
        *command,
        *("--data-dir", str(tmp_path), "--log-level", "debug"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "NO_COLOR": "1"},
    )
    try:
        assert process.stdout is not None
        first = (await process.stdout.readline()).decode()
        found = re.search(r"ws://127\.0\.0\.1:(\d+)/ws", first)
        assert found, first
        async with table(found[0]) as seats:
            secrets, race = await a_whole_race(seats)
            salt = (await fetch(int(found[1]), f"/api/v1/races/{race}")).json["salt"]
            assert salt in secrets
        process.terminate()
        rest, written = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    text = first + rest.decode() + written.decode()
    lines = [json.loads(line) for line in written.decode().splitlines()]
    assert [line["event"] for line in lines if line["level"] == "info"] == [
        "node started",
        *["race begun", "race ended"] * 2,
        "node stops",
    ]
    assert len({line["node"] for line in lines}) == 1, "each line names the node, also of what its connections do"
    assert not [line for line in lines if line["level"] in ("warning", "error")]
    for secret in (*secrets, str(NUMBER)):
        assert secret not in text
