"""The commands deal, solve and rules: what they print, and 0, 1 or 2 for yes, no and usage."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner, Result

from cellrace.notation import parse_moves
from cellrace.variants import VARIANTS
from cellrace_client.cli import main
from tests.protocol.golden_cases import published_deals

COMMANDS = ["deal", "solve", "rules", "check"]


def run(*words: str, stdin: str | bytes = "") -> Result:
    """The command `cellrace` with these words."""
    return CliRunner().invoke(main, list(words), input=stdin)


# The group.


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_with_an_example(command: str) -> None:
    told = run(command, "--help")
    assert told.exit_code == 0
    assert f"cellrace {command} " in told.stdout.partition("Usage:")[2].partition("\n")[2]


def test_the_list_of_commands_imports_none_of_them() -> None:
    code = "import sys; from cellrace_client.cli import main; main(['--help'], standalone_mode=False);"
    code += "print([m for m in sys.modules if m.startswith(('cellrace_client.cli.', 'cellrace.', 'cellrace_server'))])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.splitlines()[-1] == "[]"
    for command in (*COMMANDS, "serve", "bot", "play", "demo"):
        assert f"  {command} " in told


def test_a_deal_needs_neither_server_nor_terminal_nor_sockets() -> None:
    code = "import sys; from cellrace_client.cli import main;"
    code += "main(['deal', 'freecell', '1'], standalone_mode=False);"
    code += "print([m for m in sys.modules if m.partition('.')[0] in "
    code += "('cellrace_server', 'textual', 'websockets', 'redis', 'asyncio')])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.splitlines()[-1] == "[]"


def test_a_part_that_is_not_installed_is_told_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cellrace_client.cli.racing", None)
    told = run("demo")
    assert told.exit_code == 2
    assert "pip install 'cellrace[all]'" in told.stderr


def test_the_version_is_told() -> None:
    assert run("--version").stdout.startswith("cellrace 0.")


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["deal"],
        ["deal", "freecell"],
        ["deal", "klondike", "1"],
        ["deal", "freecell", "0"],
        ["deal", "freecell", "--", "-1"],
        ["deal", "freecell", str(2**33)],
        ["deal", "freecell", "one"],
        ["deal", "freecell", "1.5"],
        ["deal", "freecell", "9" * 5000],
        ["deal", "freecell", "1", "--nonsense"],
        ["solve", "freecell", "0"],
        ["solve", "freecell", "1", "--max-states", "0"],
        ["rules", "klondike"],
        ["check"],
        ["check", "--deal", "0"],
        ["check", "--deal", "1", "--variant", "klondike"],
        ["check", "--deal", "1", "--autoplay", "all"],
        ["check", "--deal", "1", "--moves", "no such file"],
        ["check", "--board", "no such file"],
        ["check", "--board", "-"],
        ["check", "--deal", "1", "cases.jsonl"],
        ["check", "--jsonl", "--deal", "1"],
        ["check", "--jsonl", "--steps"],
        ["check", "--jsonl", "no such file"],
    ],
    ids=lambda words: " ".join(words)[:40],
)
def test_wrong_usage_is_told_on_stderr_with_exit_status_2(words: list[str]) -> None:
    told = run(*words)
    assert told.exit_code == 2
    assert told.stdout == ""
    assert "Error: " in told.stderr


# deal


def test_a_deal_is_printed_with_its_columns() -> None:
    told = run("deal", "freecell", "1")
    assert told.exit_code == 0
    lines = told.stdout.splitlines()
    assert lines[0] == "FreeCell, deal 1"
    assert lines[-1].split() == ["6S", "9C", "2H", "6H"]
    assert "\x1b" not in told.stdout


@pytest.mark.parametrize(("number", "columns"), list(published_deals().items())[-5:])
def test_a_deal_as_json_is_the_published_one(number: int, columns: list[list[str]]) -> None:
    told = json.loads(run("deal", "freecell", str(number), "--json").stdout)
    assert told == {
        "variant": "freecell",
        "deal": number,
        "columns": columns,
        "cells": [None] * 4,
        "homes": dict.fromkeys("CDHS"),
        "reserve": [],
    }


def test_a_deal_as_json_has_dealt_cells_its_own_suits_and_the_reserve() -> None:
    assert json.loads(run("deal", "seahaven", "7", "--json").stdout)["cells"][2:] == [None, None]
    assert len(json.loads(run("deal", "marseille", "7", "--json").stdout)["reserve"]) == 3
    assert json.loads(run("deal", "two-suit", "7", "--json").stdout)["homes"] == {"H": None, "S": None}


# rules


@pytest.mark.parametrize("game", VARIANTS)
def test_the_rules_of_every_game_are_told(game: str) -> None:
    told = run("rules", game)
    assert told.exit_code == 0
    assert f"{VARIANTS[game].name} ({game})" in told.stdout
    assert max(map(len, told.stdout.splitlines())) <= 88


def test_rules_without_a_game_are_those_of_freecell_with_the_names_of_the_others() -> None:
    told = run("rules").stdout
    assert "FreeCell (freecell)" in told
    assert all(game in told for game in VARIANTS)


# solve


@pytest.mark.parametrize("autoplay", ["safe", "none"])
@pytest.mark.parametrize("game", ["freecell", "one-suit", "marseille"])
def test_a_solution_is_printed_ten_moves_to_a_line_and_wins(game: str, autoplay: str) -> None:
    told = run("solve", game, "2", "--autoplay", autoplay)
    assert told.exit_code == 0
    *lines, last = told.stdout.splitlines()
    assert all(len(line.split()) == 10 for line in lines[:-1])
    assert last.startswith("# ")
    assert "states" in last
    checked = run("check", "--variant", game, "--deal", "2", "--moves", "-", "--autoplay", autoplay, stdin=told.stdout)
    assert checked.exit_code == 0
    assert "The game is won." in checked.stdout


def test_a_solution_as_json_has_the_same_moves_and_the_states() -> None:
    text = run("solve", "one-suit", "3").stdout
    told = json.loads(run("solve", "one-suit", "3", "--json").stdout)
    assert (told["variant"], told["deal"], told["solved"], told["lost"]) == ("one-suit", 3, True, False)
    assert told["moves"] == parse_moves(text)
    assert f"{told['states']} states" in text


def test_a_bound_that_is_too_small_ends_with_exit_status_1() -> None:
    told = run("solve", "freecell", "617", "--max-states", "50")
    assert told.exit_code == 1
    assert "No way to win was found" in told.stdout
    as_json = run("solve", "freecell", "617", "--max-states", "50", "--json")
    assert as_json.exit_code == 1
    assert json.loads(as_json.stdout)["solved"] is False


def test_a_deal_that_cannot_be_won_is_told_apart_from_one_that_was_not_solved() -> None:
    for number in range(1, 60):
        told = run("solve", "one-suit", str(number), "--json")
        if told.exit_code == 1:
            assert json.loads(told.stdout)["lost"] is True
            assert "cannot be won" in run("solve", "one-suit", str(number)).stdout
            return
    pytest.fail("three of ten one-suit deals are lost")


# The real command.

CELLRACE = [sys.executable, "-c", "from cellrace_client.cli import main; main()"]


def test_the_installed_command_prints_a_deal_without_colour_in_a_pipe() -> None:
    told = subprocess.run([*CELLRACE, "deal", "freecell", "1", "--symbols"], capture_output=True, check=True)
    assert "J♦" in told.stdout.decode()
    assert b"\x1b" not in told.stdout
    plain = subprocess.run(
        [*CELLRACE, "deal", "freecell", "1", "--symbols"],
        capture_output=True,
        check=True,
        env={"PYTHONIOENCODING": "latin-1"},
    )
    assert b"J?" in plain.stdout
