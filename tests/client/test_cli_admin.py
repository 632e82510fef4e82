"""`cellrace admin` on a real store: its acts, what it shows, and the exit status of recompute."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
import structlog
from click.testing import CliRunner, Result

from cellrace_client.cli import main
from cellrace_server.core.effects import best_board
from tests.server.ended_races import ended_race, register
from tests.server.races import ANN, BEN
from tests.server.shell import SHORT, Shell, shell


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    """The command sets up the log of its process, which here is that of all tests."""
    told, handlers, level = structlog.get_config(), logging.root.handlers[:], logging.root.level
    yield
    structlog.configure(**told)
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)


@pytest_asyncio.fixture
async def here(store_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Shell]:
    """A store with two players on record."""
    async with shell(store_url, "here:1", monkeypatch) as made:
        await register(made, ANN, BEN)
        yield made


@pytest.fixture
def admin(store_url: str) -> Admin:
    """Runs the command on the store of the test."""
    return Admin(store_url)


class Admin:
    def __init__(self, url: str) -> None:
        self._url = url

    async def __call__(self, *words: str, typed: str = "") -> Result:
        """In a thread: the command has a loop of its own."""
        arguments = ["admin", "--redis", self._url, *words]
        return await asyncio.to_thread(CliRunner().invoke, main, arguments, typed)


async def test_a_player_is_banned_and_let_in_again(here: Shell, admin: Admin) -> None:
    told = await admin("ban", "Ann")
    assert (told.exit_code, told.output.splitlines()[-1]) == (
        0,
        "Ann (ann) is banned. Running games go on without their player, and boards stay as they are.",
    )
    assert await here.store.accounts.banned_at("ann") is not None
    assert (await admin("unban", "ann")).exit_code == 0
    assert await here.store.accounts.banned_at("ann") is None


async def test_what_there_is_not_is_a_sentence_and_a_status(here: Shell, admin: Admin) -> None:
    for words in (("ban", "nobody"), ("void", "nowhere"), ("inspect", "nothing"), ("rename", "ann", "x")):
        told = await admin(*words)
        assert told.exit_code == 1
        assert told.output.splitlines()[-1].startswith("Error: ")
        assert "Traceback" not in told.output


async def test_deleting_asks_first(here: Shell, admin: Admin) -> None:
    assert (await admin("delete", "Ann", typed="n\n")).exit_code == 1
    assert await here.store.players.find("ann") is not None
    assert (await admin("delete", "Ann", "--yes")).exit_code == 0
    assert await here.store.players.find("ann") is None


async def test_recompute_has_a_status_of_one_while_there_is_a_difference(here: Shell, admin: Admin) -> None:
    await ended_race(here, ANN, BEN)
    assert (await admin("recompute")).output.splitlines()[-1] == "Every board rebuilt: no difference."
    await here.store.boards.remove(best_board(SHORT.variant), "ann")
    for words, sentence in ((), "1 difference."), (("--fix",), "1 difference, put right."):
        told = await admin("recompute", *words)
        assert told.exit_code == 1
        assert told.output.splitlines()[-2:] == [
            f"{best_board(SHORT.variant)}: ann is missing",
            f"Every board rebuilt: {sentence}",
        ]
    told = await admin("recompute", "--json")
    assert (told.exit_code, json.loads(told.output.splitlines()[-1])) == (0, [])


async def test_a_race_is_voided_and_seen(here: Shell, admin: Admin) -> None:
    race = await ended_race(here, ANN, BEN)
    assert (await admin("void", race.id)).exit_code == 0
    seen = json.loads((await admin("inspect", race.id, "--json")).output.splitlines()[-1])
    assert (seen["race"], seen["void"], seen["state"]) == (race.id, True, "over")
    lines = (await admin("inspect", race.id)).output.splitlines()
    assert f"race: {race.id}" in lines
    assert "void: True" in lines
    assert any(line.startswith("created_at: 2") and line.endswith(" UTC") for line in lines)
    assert "    player: id ann, name Ann, bot False" in lines, "lists are told part by part"
    assert not any(sign in line for sign in "{}()" for line in lines)


async def test_a_player_is_seen_and_what_was_done(here: Shell, admin: Admin) -> None:
    await admin("rename", "ann", "Zoe")
    lines = (await admin("inspect", "Zoe")).output.splitlines()
    assert "player: id ann, name Zoe, bot False" in lines
    (told,) = (await admin("history")).output.splitlines()[-1:]
    assert told.endswith(": rename ann Zoe")
    (act,) = json.loads((await admin("history", "--json")).output.splitlines()[-1])
    assert (act["act"], act["subject"], act["detail"]) == ("rename", "ann", "Zoe")


async def test_nothing_a_terminal_would_obey_is_printed(here: Shell, admin: Admin) -> None:
    told = await admin("ban", "\x1b[31mred")
    assert told.exit_code == 1
    assert "\x1b" not in told.output


def test_a_directory_without_a_store_is_left_as_it_is(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A mistyped one gets no store of its own."""
    place = tmp_path_factory.mktemp("nothing")
    told = CliRunner().invoke(main, ["admin", "--data-dir", str(place / "typo"), "history"])
    assert told.exit_code == 1
    assert "There is no store in" in told.output
    assert not (place / "typo").exists()
