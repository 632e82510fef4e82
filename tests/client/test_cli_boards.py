"""Boards from one command to another: what deal and check print is what check and solve read."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from cellrace.variants import VARIANTS
from cellrace_client.cli import main
from cellrace_client.language import speak


def run(*words: str, stdin: str = "") -> Result:
    """The command `cellrace` with these words."""
    return CliRunner().invoke(main, list(words), input=stdin)


def board_of(told: Result) -> dict[str, object]:
    """The board that `check --json` answers with."""
    assert told.exit_code == 0, told.output
    board: dict[str, object] = json.loads(told.stdout)["board"]
    return board


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("words", [[], ["--symbols"], ["--json"], ["--lang", "uk"]], ids=lambda words: "".join(words))
def test_what_deal_prints_is_read_again(variant: str, words: list[str]) -> None:
    """Every game, in letters, symbols, JSON and another language; the game is known by its name."""
    printed = run("deal", variant, "7", *words).stdout
    there = board_of(run("check", "--variant", variant, "--deal", "7", "--json"))
    language = [word for word in words if word in ("--lang", "uk")]
    assert board_of(run("check", "--board", "-", "--json", *language, stdin=printed)) == there
    named = run("check", "--variant", variant, "--board", "-", "--json", stdin=printed)
    speak("en")
    assert board_of(named) == there


@pytest.mark.parametrize("words", [[], ["--json"]], ids=["lines", "json"])
def test_what_check_prints_is_read_again(words: list[str]) -> None:
    """With cards in cells and at home, and a column without cards."""
    start = ("check", "--variant", "one-suit", "--deal", "94", "--moves", "-")
    moves = run("solve", "one-suit", "94").stdout.partition("#")[0].split()
    for count in range(len(moves) + 1):
        played = " ".join(moves[:count])
        there = board_of(run(*start, "--json", stdin=played))
        printed = run(*start, *words, stdin=played).stdout
        again = run("check", "--variant", "one-suit", "--board", "-", "--json", stdin=printed)
        assert board_of(again) == there


def test_a_board_is_solved() -> None:
    """As the deal that it is."""
    board = run("deal", "one-suit", "94").stdout
    assert run("solve", "one-suit", "--board", "-", stdin=board).stdout == run("solve", "one-suit", "94").stdout


@pytest.mark.parametrize(
    ("board", "told"),
    [
        ("{", "That is no board in JSON: "),
        ('{"columns": [[1]]}', "That is no board in JSON: "),
        ('{"variant": "one-suit"}', "it has no columns"),
        ('{"variant": "no-game", "columns": []}', "There is no game"),
        ("    1    2    3\n   AS   2S\n", "FreeCell has 8 columns, not 3"),
        ("    1    2    3    4    5    6    7    8\n   AX", "is no card"),
    ],
)
def test_what_is_no_board_is_told(board: str, told: str) -> None:
    """In a sentence that says what is wrong."""
    result = run("check", "--board", "-", stdin=board)
    assert result.exit_code == 2
    assert told in result.stderr


def test_solve_asks_for_one_thing_to_solve() -> None:
    """A deal or a board."""
    for words in (["solve", "freecell"], ["solve", "freecell", "1", "--board", "-"]):
        assert "Name what to solve" in run(*words).stderr
