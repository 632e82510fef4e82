"""The function library: loaded under its version, reloaded when it is gone, its failures in one tree of errors."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
from redis.exceptions import ConnectionError as NotConnected
from redis.exceptions import ResponseError

from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.library import FLEETING_FUNCTIONS, READING_FUNCTIONS, versioned
from tests.server.races import ANN
from tests.server.shell import Shell

SOURCE = (files("cellrace_server.store") / "functions" / "cellrace.lua").read_text("utf-8")
REGISTERED = set(re.findall(r"'(\w+)_@VERSION@'", SOURCE))


async def test_functions_are_loaded_over_those_of_the_same_version(here: Shell) -> None:
    await here.link.load_libraries()
    await here.link.load_libraries()
    race = await here.race(ANN)
    assert await here.store.races.load(race.id) is not None


async def test_two_versions_run_side_by_side(here: Shell) -> None:
    """NODES 18: an upgrade has old and new nodes at once."""
    other = "#!lua name=cellrace_0\nredis.register_function('race_load_0', function() return 'old' end)"
    await here.link.command("FUNCTION LOAD", "REPLACE", other)
    await here.link.load_libraries()
    assert await here.link.command("FCALL", "race_load_0", 0) == b"old"


async def test_a_store_that_has_lost_its_functions_gets_them_again(here: Shell) -> None:
    race = await here.race(ANN)
    await here.link.command("FUNCTION", "FLUSH")
    assert await here.store.races.load(race.id) is not None


@pytest.mark.parametrize(
    "failure",
    [
        NotConnected("gone"),
        ResponseError("ERR no"),
        OSError("down"),
        TimeoutError(),
    ],
)
async def test_any_failure_of_the_store_is_an_unknown_outcome(here: Shell, failure: Exception) -> None:
    assert here.link.seconds_since_error == float("inf")
    with pytest.raises(StoreUnavailable):
        async with here.link.answering():
            raise failure
    assert here.link.seconds_since_error < 60


@pytest.mark.parametrize("mistake", [KeyError("ours"), RuntimeError("ours"), RecursionError(), NotImplementedError()])
async def test_a_mistake_of_ours_stays_what_it_is(here: Shell, mistake: Exception) -> None:
    with pytest.raises(type(mistake)):
        async with here.link.answering():
            raise mistake
    assert here.link.seconds_since_error == float("inf")


def test_the_table_on_top_of_the_library_names_every_function() -> None:
    table = SOURCE.partition("--[[")[2].partition("]]")[0]
    assert set(re.findall(r"^  ((?:race|due|player|deal|name)_\w+) ", table, re.MULTILINE)) == REGISTERED


def test_what_python_says_of_functions_is_about_functions_that_there_are() -> None:
    everything = "".join(
        source.read_text("utf-8")
        for source in (files("cellrace_server.store") / "functions").iterdir()
        if source.name.endswith(".lua")
    )
    registered = set(re.findall(r"'(\w+)_@VERSION@'", everything))
    assert registered >= READING_FUNCTIONS | FLEETING_FUNCTIONS
    for name in registered:
        flagged = re.search(rf"'{name}_@VERSION@', callback = \w+, flags = {{'no-writes'}}", everything) is not None
        assert flagged is (name in READING_FUNCTIONS)
        assert versioned(name).startswith(name)
