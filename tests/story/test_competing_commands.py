"""daily, leaderboard and stats as their users meet them, and the queue in plain lines: processes with pipes."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from cellrace_client.connection import connect
from cellrace_server.app import Node, running
from cellrace_server.config import Bounds, Config
from cellrace_server.core.daily import closes_at, day_of
from tests.story.passing_time import PassingTime
from tests.story.players import table
from tests.story.solved_games import stocked_game
from tests.story.test_client_lines import run

GAME = "one-suit"
BEFORE_MIDNIGHT = 100
"""Seconds before a day ends, in which a command has time to end."""


@pytest.fixture
def passing_time(monkeypatch: pytest.MonkeyPatch) -> PassingTime:
    """A race clock that shows what a test wants, a moment to midnight before it passes any."""
    clock, now = PassingTime(monkeypatch), time.time_ns() // 1_000_000
    clock.jump_to(now, closes_at(day_of(now)) - BEFORE_MIDNIGHT * 1_000)
    return clock


@pytest_asyncio.fixture
async def node(store_url: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Node]:
    """A node in this process, on an empty store."""
    # Before the node looks at the clock.
    if "passing_time" in request.fixturenames:
        request.getfixturevalue("passing_time")
    else:
        PassingTime(monkeypatch).jump_to_noon()
    bounds = Bounds(new_players=10_000, burst=10_000, per_second=10_000, http_burst=1000, http_per_second=1000)
    async with running(Config(port=0, redis=store_url, node="here", bounds=bounds)) as started:
        yield started


@pytest.fixture
def url(node: Node) -> str:
    return f"ws://127.0.0.1:{node.port}/ws"


@pytest.fixture
def environment(tmp_path: Path, url: str) -> dict[str, str]:
    """A dumb terminal, a home of its own, and the server."""
    home = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    return os.environ | home | {"TERM": "dumb", "CELLRACE_SERVER": url}


async def winning_moves(node: Node) -> str:
    """What wins today's deal."""
    store = node.services.store
    return " ".join(stocked_game(GAME, (await store.daily.secret(day_of(store.clock.now()), GAME)).deal))


async def test_the_daily_is_played_once_and_then_told(node: Node, environment: dict[str, str]) -> None:
    typed = f"{await winning_moves(node)}\nquit\n"
    status, said = await run(environment, "daily", GAME, "--name", "Ann", typed=typed)
    assert status == 0, said
    assert "the daily challenge: your one attempt" in said
    assert "1st  Ann (you)" in said.splitlines()[-1]
    status, said = await run(environment, "daily", GAME)
    assert status == 0, said
    assert "You have won it in" in said
    assert "1st  Ann (you)" in said.splitlines()[-1]
    async with connect(environment["CELLRACE_SERVER"]) as eve:
        assert (await eve.daily(GAME)).entries == 1


async def test_an_attempt_that_was_left_is_gone_on_with(node: Node, environment: dict[str, str]) -> None:
    first, *rest = (await winning_moves(node)).split()
    status, said = await run(environment, "daily", GAME, "--name", "Ann", typed=f"{first}\nquit\n")
    assert status == 0, said
    status, said = await run(environment, "daily", GAME, typed=f"{' '.join(rest)}\nquit\n")
    assert status == 0, said
    assert "1st  Ann (you)" in said.splitlines()[-1]
    _status, said = await run(environment, "daily", GAME, "--show")
    assert "Your attempt has ended: " in said


async def test_an_attempt_is_gone_on_with_after_midnight_and_begins_no_other(
    node: Node, environment: dict[str, str], passing_time: PassingTime
) -> None:
    """It belongs to the day on which it began: so does the board that is shown."""
    yesterday = day_of(node.services.store.clock.now())
    first, *rest = (await winning_moves(node)).split()
    status, said = await run(environment, "daily", GAME, "--name", "Ann", typed=f"{first}\nquit\n")
    assert status == 0, said
    await passing_time.pass_by(BEFORE_MIDNIGHT + 10, node)
    status, said = await run(environment, "daily", GAME, typed=f"{' '.join(rest)}\nquit\n")
    assert status == 0, said
    assert f"The daily of {yesterday}, One Suit" in said
    assert "1st  Ann (you)" in said.splitlines()[-1]
    async with connect(environment["CELLRACE_SERVER"]) as eve:
        today = await eve.daily(GAME)
        assert (today.date, today.entries) == ((yesterday + timedelta(days=1)).isoformat(), 0)


async def test_a_day_can_be_looked_at_without_beginning_anything(node: Node, environment: dict[str, str]) -> None:
    status, said = await run(environment, "daily", "--show")
    assert status == 0, said
    assert said.startswith("The daily of ")
    status, said = await run(environment, "daily", GAME, "--json")
    assert json.loads(said)["entries"] == 0
    status, said = await run(
        environment, "daily", GAME, "--practice", day_of(node.services.store.clock.now()).isoformat()
    )
    assert status == 1
    assert "Error: " in said


async def test_boards_and_records_are_printed_for_people_and_for_programs(
    node: Node, url: str, environment: dict[str, str]
) -> None:
    async with table(url) as seats:
        ann, ben = await seats.player("Ann"), await seats.player("Ben", bot=True)
        race = (await ann.ask("race.create", settings={"variant": GAME, "countdown": 0}))["race"]
        await ben.ask("race.join", race=race)
        for player in (ann, ben):
            await player.ask("race.ready", race=race)
        await ann.push("race.started", race=race)
        for player in (ann, ben):
            await player.ask("race.concede", race=race)
        await ann.push("race.over", race=race)
        status, said = await run(environment, "leaderboard", "rating", "--variant", GAME)
        assert status == 0, said
        title, *rows = said.splitlines()
        assert title == "Ratings, One Suit, 2 players."
        assert {row.split("  ")[1] for row in rows} == {"Ann", "Ben (bot)"}
        status, said = await run(environment, "leaderboard", "rating", "--variant", GAME, "--people", "--json")
        assert [row["player"]["name"] for row in json.loads(said)["rows"]] == ["Ann"]
        while not (await ann.ask("player.get"))["games"]:
            pass
        status, said = await run(environment, "stats", "ann")
        assert status == 0, said
        assert said.startswith("Ann, here since ")
        assert "One Suit  1 game  0 wins" in said
        status, said = await run(environment, "stats", ann.id, "--json")
        assert json.loads(said)["games"][GAME]["played"] == 1


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("leaderboard", "deal"), 2),
        (("leaderboard", "best", "--deal", "5"), 2),
        (("leaderboard", "best", "--date", "2026-10-14"), 2),
        (("leaderboard", "daily", "--date", "1999-01-01"), 1),
        (("leaderboard", "daily", "--date", "2026-2-1"), 2),
        (("leaderboard", "daily", "--date", "20261130"), 2),
        (("daily", "--practice", "2026-02-30"), 2),
        (("daily", "--practice", "2026-02-03", "--show"), 2),
        (("daily", "--practice", "2026-02-03", "--json"), 2),
        (("daily", "--practice", "1999-01-01"), 1),
        (("leaderboard", "fame"), 2),
        (("stats", "nobody"), 1),
        (("stats",), 2),
        (("daily", "relaxed"), 2),
    ],
)
async def test_what_cannot_be_told_is_a_sentence_and_a_status(
    environment: dict[str, str], words: tuple[str, ...], status: int
) -> None:
    told, said = await run(environment, *words)
    assert told == status, said
    assert "Error: " in said
    assert "Traceback" not in said


async def test_two_pipes_meet_in_the_queue(environment: dict[str, str], tmp_path: Path) -> None:
    typed = f"queue {GAME}\nwait\nconcede yes\nleaderboard rating {GAME}\nstats\nunqueue\nquit\n"
    both = await asyncio.gather(
        *(
            run(environment | {"XDG_CONFIG_HOME": str(tmp_path / name)}, "play", "--plain", "--name", name, typed=typed)
            for name in ("Ann", "Ben")
        )
    )
    for status, said in both:
        assert status == 0, said
        assert "You wait for a rival" in said
        assert "Ratings, One Suit" in said
        assert "here since" in said
