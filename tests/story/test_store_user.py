"""deploy/users.acl: with it a store lets the server do all that it does, and nothing else."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from redis.asyncio import Redis
from redis.exceptions import NoPermissionError

from cellrace_server.app import running
from cellrace_server.config import Config
from cellrace_server.store import keys
from tests.chaos.house import StoreProcess
from tests.server.net.fetching import fetch
from tests.story.players import JSON, play, start_race, table
from tests.story.solved_games import golden_game
from tests.waiting import eventually

ROOT = Path(__file__).parent.parent.parent
USERS = ROOT / "deploy" / "users.acl"


@pytest_asyncio.fixture
async def guarded(tmp_path: Path) -> AsyncIterator[StoreProcess]:
    """A store that knows only the users of the file."""
    store = StoreProcess(tmp_path / "store", {"aclfile": str(USERS)})
    await store.start()
    yield store
    await store.kill()


def as_user(store: StoreProcess, user: str, password: str) -> Redis:
    return Redis(unix_socket_path=str(store.path), username=user, password=password)


async def test_a_server_does_all_it_does_as_that_user(guarded: StoreProcess) -> None:
    """A race by code, a daily, a quick match, leaderboards and profiles, a rematch: the store refuses none of it."""
    url = f"unix://cellrace:change-me@{guarded.path}"
    async with running(Config(port=0, redis=url)) as node, table(f"ws://127.0.0.1:{node.port}/ws") as seats:
        ann, bob = await seats.player("Ann"), await seats.player("Bob", JSON)
        race = (await ann.ask("race.create", settings={"private": True, "countdown": 0, "variant": "one-suit"}))["race"]
        await bob.refused("race.join", code="23456789")
        await bob.ask("race.join", code=(await ann.ask("race.sync", race=race))["code"])
        for player in (ann, bob):
            await player.ask("race.ready", race=race)
        await ann.push("race.started", race=race)
        for player in (ann, bob):
            await player.ask("race.concede", race=race)
        await bob.push("race.over", race=race)
        await bob.ask("race.rematch", race=race)
        won = await start_race(ann, bob, deal=617)
        assert (await play(ann, won, golden_game("freecell", 617, "safe")))["won"]
        await bob.ask("race.forfeit", race=won)
        await ann.push("race.over", race=won)
        await ann.ask("replay.get", race=won, player=ann.id)
        daily = await ann.ask("daily.start")
        await ann.ask("race.forfeit", race=daily["race"])
        for board in ("daily", "streak", "rating", "best"):
            await ann.ask("leaderboard", board=board, around=True)
        await ann.ask("player.get", player=bob.id)
        for player in (ann, bob):
            await player.ask("queue.join", variant="two-suit")
        await bob.push("queue.matched")
        await eventually(lambda: node.readiness() is None)
        assert (await fetch(node.port, "/api/v1/races")).status == 200
        back = await seats.back(bob)
        await back.ask("race.list", mine=True)
    operator = as_user(guarded, "operator", "change-me-too")
    assert await operator.acl_log() == []
    await operator.aclose()


@pytest.mark.parametrize(
    "words",
    [
        ("FLUSHALL",),
        ("KEYS", "*"),
        ("CONFIG", "SET", "appendonly", "no"),
        ("EVAL", "return 1", "0"),
        ("FUNCTION", "FLUSH"),
        ("SHUTDOWN",),
        ("REPLICAOF", "NO", "ONE"),
        ("ACL", "LIST"),
        ("SET", "elsewhere", "1"),
        ("PUBLISH", "elsewhere", "1"),
        ("MONITOR",),
    ],
    ids=" ".join,
)
async def test_that_user_can_do_nothing_else(guarded: StoreProcess, words: tuple[str, ...]) -> None:
    client = as_user(guarded, "cellrace", "change-me")
    with pytest.raises(NoPermissionError):
        await client.execute_command(*words)  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
    await client.aclose()


def test_every_command_of_the_functions_is_allowed() -> None:
    """Also of those that no test above comes to."""
    allowed = set(re.findall(r"\+([a-z|]+)", USERS.read_text().split("user operator")[0]))
    functions = ROOT / "server" / "cellrace_server" / "store" / "functions"
    for source in functions.glob("*.lua"):
        used = {name.lower() for name in re.findall(r"redis\.call\('([A-Z]+)'", source.read_text())}
        assert used <= allowed, source.name


def test_every_key_is_allowed() -> None:
    """Each that is named in `store/keys.py`."""
    text = USERS.read_text()
    patterns = [pattern.removesuffix("*") for pattern in re.findall(r"~(\S+)", text.split("user operator")[0])]
    made = [
        value("x") if value.__code__.co_argcount == 1 else value("x", "y")
        for name, value in vars(keys).items()
        if callable(value) and getattr(value, "__module__", "") == keys.__name__ and name != "channel"
    ]
    named = [value for name, value in vars(keys).items() if name.isupper()]
    for key in (*made, *named):
        assert any(key.startswith(pattern) for pattern in patterns), key
