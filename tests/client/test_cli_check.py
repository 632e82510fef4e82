"""The command check: moves played or refused, one game or a stream of cases."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cellrace.board import dealt_board
from cellrace.board_text import board_text
from cellrace.deals import deal
from cellrace.variants import find_variant
from cellrace_client.cli import main
from cellrace_client.cli.cases import LONGEST_LINE
from tests.protocol.golden_cases import rule_cases

CASES = rule_cases()


def run(*words: str, stdin: str | bytes = "") -> Result:
    """The command `cellrace` with these words."""
    return CliRunner().invoke(main, list(words), input=stdin)


def answers(stdin: str | bytes, *words: str) -> list[dict[str, Any]]:
    """What `check --jsonl` answers."""
    return [json.loads(line) for line in run("check", "--jsonl", *words, stdin=stdin).stdout.splitlines()]


def test_check_shows_where_the_moves_lead() -> None:
    told = run("check", "--deal", "1", "--moves", "-", stdin="6a 6b 6H  # the ace\n2d")
    assert told.exit_code == 0
    assert "cells   a 3D  b 2C  c --  d 9C" in told.stdout
    assert told.stdout.splitlines()[-1] == "Every move is legal. Played: 4; 1 of 52 cards home."


def test_check_without_moves_shows_the_board() -> None:
    assert "JD   2D   9H" in run("check", "--deal", "1").stdout


@pytest.mark.parametrize(
    ("moves", "index", "move", "reason"),
    [
        ("6a 6a", 2, "6a", "cell_full"),
        ("6a zz 6b", 2, "zz", "bad_notation"),
        ("1h", 1, "1h", "foundation_order"),
        ("u", 1, "u", "nothing_to_undo"),
        ("6a 6bxx", 2, "6bxx", "bad_notation"),
    ],
)
def test_check_says_which_move_is_illegal_and_why(moves: str, index: int, move: str, reason: str) -> None:
    told = run("check", "--deal", "1", "--moves", "-", stdin=moves)
    assert told.exit_code == 1
    assert f"Move {index}, {move}, is illegal: " in told.stdout
    assert f"({reason})" in told.stdout
    as_json = json.loads(run("check", "--deal", "1", "--moves", "-", "--json", stdin=moves).stdout)
    assert as_json["ok"] is False
    assert as_json["applied"] == index - 1
    assert as_json["error"]["index"] == index - 1
    assert (as_json["error"]["move"], as_json["error"]["reason"]) == (move, reason)


def test_a_board_is_read_from_a_file(tmp_path: Path) -> None:
    variant = find_variant("eight-off")
    file = tmp_path / "board.txt"
    file.write_text(board_text(dealt_board(variant, deal(variant, 5)).play("ae")).lower(), "utf-8")
    moves = tmp_path / "moves.txt"
    moves.write_text("ea", "utf-8")
    told = run("check", "--variant", "eight-off", "--board", str(file), "--moves", str(moves), "--json")
    assert told.exit_code == 0
    expected = json.loads(run("deal", "eight-off", "5", "--json").stdout)
    assert json.loads(told.stdout)["board"]["cells"] == expected["cells"]


@pytest.mark.parametrize("content", [b"", b": AS\n", b"\xff\xfe", b"Moves: 26"])
def test_a_file_that_is_no_board_is_wrong_usage(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "board.txt"
    file.write_bytes(content)
    told = run("check", "--board", str(file))
    assert told.exit_code == 2
    assert "Error: " in told.stderr


def test_autoplay_sends_safe_cards_home_only_when_asked_to() -> None:
    moves = "5a 5b 5c 5d"
    safe = run("check", "--deal", "1", "--moves", "-", "--autoplay", "safe", "--json", stdin=moves)
    none = run("check", "--deal", "1", "--moves", "-", "--json", stdin=moves)
    assert (json.loads(safe.stdout)["home"], json.loads(none.stdout)["home"]) == (1, 0)


def test_steps_tell_supermoves_card_by_card_and_what_went_home_by_itself() -> None:
    case = next(c["case"] for c in CASES if c["expect"].get("won") and any("v" in m for m in c["case"]["moves"]))
    text = " ".join(case["moves"])
    told = run("check", "--deal", str(case["deal"]), "--moves", "-", "--steps", stdin=text).stdout.splitlines()
    listed = told[: len(case["moves"])]
    assert [line.partition(":")[0] for line in listed] == case["moves"]
    assert any(len(line.partition(": ")[2].split()) >= 3 for line in listed)

    as_json = run("check", "--deal", str(case["deal"]), "--moves", "-", "--steps", "--json", stdin=text)
    steps = json.loads(as_json.stdout)["steps"]
    assert len(steps) == len(case["moves"])
    single = " ".join(move for step in steps for move in step)
    assert json.loads(run("check", "--deal", str(case["deal"]), "--moves", "-", "--json", stdin=single).stdout) == {
        k: v for k, v in json.loads(as_json.stdout).items() if k != "steps"
    } | {"applied": len(single.split())}


def test_steps_tell_undo_and_autoplay() -> None:
    told = run("check", "--deal", "1", "--moves", "-", "--autoplay", "safe", "--steps", stdin="5a 5b 5c 5d u")
    assert told.stdout.splitlines()[:5] == ["5a", "5b", "5c", "5d: 5d 5h", "u"]


# check --jsonl


def test_the_cases_of_other_programs_agree_line_by_line() -> None:
    told = answers("\n".join(json.dumps(case["case"]) for case in CASES))
    assert len(told) == len(CASES)
    for case, answer in zip(CASES, told, strict=True):
        columns = answer["board"] and answer["board"]["columns"]
        index = answer["error"] and answer["error"]["index"]
        found = answer | {"columns": columns, "index": index}
        assert {key: found[key] for key in case["expect"]} == case["expect"], case["why"]


def test_an_answer_has_the_named_fields_in_order() -> None:
    told = run("check", "--jsonl", stdin='{"variant": "freecell", "deal": 1, "moves": ["6a", "1h"]}\n').stdout
    assert told.endswith("\n")
    answer = json.loads(told)
    assert list(answer) == ["ok", "applied", "won", "home", "board", "error"]
    assert list(answer["board"]) == ["columns", "cells", "homes", "reserve"]
    assert answer["error"] == {
        "index": 1,
        "move": "1h",
        "reason": "foundation_order",
        "message": "The card before this one of its suit is not home yet.",
    }
    assert (answer["ok"], answer["applied"], answer["won"], answer["home"]) == (False, 1, False, 0)
    assert answer["board"]["cells"] == ["3D", None, None, None], "the position before the illegal move"


def test_piles_that_a_board_does_not_name_are_empty() -> None:
    (shown,) = answers('{"deal": 1, "moves": []}')
    columns = shown["board"]["columns"]
    (bare,) = answers(json.dumps({"variant": "freecell", "board": {"columns": columns}, "moves": []}))
    (nulls,) = answers(json.dumps({"board": {"columns": columns, "cells": None, "homes": None, "reserve": None}}))
    (some,) = answers(json.dumps({"board": {"columns": columns, "cells": [None], "homes": {"C": None}}}))
    assert bare == nulls == some == shown


def test_what_a_case_does_not_say_is_taken_from_the_options() -> None:
    line = '{"deal": 1, "moves": ["5a", "5b", "5c", "5d"]}'
    assert [answers(line)[0]["home"], answers(line, "--autoplay", "safe")[0]["home"]] == [0, 1]
    assert len(answers('{"deal": 1}', "--variant", "one-suit")[0]["board"]["columns"]) == 3


NO_CASES: list[str | bytes] = [
    "",
    "   ",
    "nonsense",
    "null",
    "[]",
    "7",
    '"deal"',
    "{}",
    '{"variant": "freecell"}',
    '{"variant": "klondike", "deal": 1}',
    '{"variant": 7, "deal": 1}',
    '{"deal": 0}',
    '{"deal": -1}',
    '{"deal": 8589934592}',
    '{"deal": 1.0}',
    '{"deal": true}',
    '{"deal": "1"}',
    '{"deal": NaN}',
    '{"deal": ' + "9" * 5000 + "}",
    '{"deal": 1, "moves": "26"}',
    '{"deal": 1, "moves": [26]}',
    '{"deal": 1, "moves": [null]}',
    '{"deal": 1, "moves": {"26": 1}}',
    '{"deal": 1, "autoplay": "all"}',
    '{"deal": 1, "autoplay": true}',
    '{"deal": 1, "board": {"columns": []}}',
    '{"board": {}}',
    '{"board": []}',
    '{"board": {"columns": []}}',
    '{"board": {"columns": [["AS"], [], [], [], [], [], [], []]}}',
    '{"board": {"columns": [["XX"], [], [], [], [], [], [], []]}}',
    '{"board": {"columns": "JD"}}',
    '{"deal": 1} {"deal": 2}',
    '{"deal": 1',
    '{"deal": 1, "moves": ["\\ud800"]}',
    '{"deal": 1, "x": ' + "[" * 100_000 + "]" * 100_000 + "}",
    '{"deal": 1, "moves": ["' + "x" * LONGEST_LINE + '"]}',
    b'\xff\xfe{"deal": 1}',
    b'{"deal": 1, "moves": ["\xff"]}',
    b'{"deal": 1, "moves": ["\x00"]}',
]


@pytest.mark.parametrize("line", NO_CASES, ids=lambda line: repr(line)[:50])
def test_a_line_that_is_no_case_is_answered_and_the_rest_goes_on(line: str | bytes) -> None:
    raw = line if isinstance(line, bytes) else line.encode()
    good = b'{"deal": 1, "moves": ["6a"]}\n'
    before, bad, after = answers(good + raw + b"\n" + good)
    assert before == after
    assert before["ok"] is True
    assert (bad["ok"], bad["applied"], bad["won"], bad["home"], bad["board"]) == (False, 0, False, 0, None)
    error = bad["error"]
    assert (error["index"], error["move"], error["reason"]) == (None, None, "no_case")
    assert error["message"].endswith(".")


def test_moves_of_cases_are_exact_spellings() -> None:
    for move in ("6A", " 6a", "6a6b", "", "6a "):
        (told,) = answers(json.dumps({"deal": 1, "moves": [move]}))
        assert told["error"]["reason"] == "bad_notation"
        assert told["error"]["move"] == move


def test_the_exit_status_tells_whether_every_line_was_ok(tmp_path: Path) -> None:
    good, bad = '{"deal": 1}\n', '{"deal": 1, "moves": ["1h"]}\n'
    assert run("check", "--jsonl", stdin=good * 3).exit_code == 0
    assert run("check", "--jsonl", stdin=good + bad + good).exit_code == 1
    assert run("check", "--jsonl", stdin="").exit_code == 0
    file = tmp_path / "cases.jsonl"
    file.write_text(good * 3, "utf-8")
    assert len(run("check", "--jsonl", str(file)).stdout.splitlines()) == 3


def test_a_last_line_without_an_end_and_windows_ends_are_read() -> None:
    assert [told["ok"] for told in answers('{"deal": 1}\r\n{"deal": 2}')] == [True, True]


# The real command.

CELLRACE = [sys.executable, "-c", "from cellrace_client.cli import main; main()"]


def test_each_line_is_answered_as_soon_as_it_is_there_and_ctrl_c_ends_it_quietly() -> None:
    with subprocess.Popen(
        [*CELLRACE, "check", "--jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        for _ in range(2):
            process.stdin.write(b'{"deal": 1}\n')
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["ok"] is True
        process.send_signal(signal.SIGINT)
        assert process.wait(100) == 130
        assert process.stderr.read() == b""


def test_a_reader_that_goes_away_ends_the_command_quietly() -> None:
    with subprocess.Popen(
        [*CELLRACE, "check", "--jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b'{"deal": 1}\n')
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write(b'{"deal": 1}\n' * 3)
        process.stdin.close()
        assert process.wait(100) in (0, 1)
        assert process.stderr.read() == b""
