"""What a typed line asks for."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellrace.notation import MOVES
from cellrace_client.errors import Unclear
from cellrace_client.terminal.commands import (
    ALIASES,
    WORDS,
    Command,
    Moves,
    Unknown,
    help_lines,
    read_line,
)
from cellrace_client.terminal.race_settings import read_settings, settings_table


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("", None),
        ("   # a comment", None),
        ("26", Moves(("26",))),
        ("  3a B5 7h26v3  # and more", Moves(("3a", "b5", "7h", "26v3"))),
        ("u", Moves(("u",))),
        ("r4 r4 r1", Moves(("r4", "r4", "r1"))),
        ("ah", Moves(("ah",))),
        ("Concede yes", Command("concede", ("yes",))),
        ("again", Command("rematch")),
        ("JOIN ab12", Command("join", ("ab12",))),
        ("undo 3", Command("undo", ("3",))),
        ("?", Command("help")),
    ],
)
def test_a_line_is_moves_or_a_command(line: str, asked: object) -> None:
    """Moves in the field's notation, leniently read; commands by their first word."""
    assert read_line(line) == asked


def test_what_is_neither_is_told() -> None:
    """The sentence names the word and how to get help."""
    asked = read_line("fly home")
    assert isinstance(asked, Unknown)
    assert "fly" in asked.sentence
    assert "help" in asked.sentence
    assert read_line("26 3a fly") == Unknown("fly is no move; nothing on this line was played.")


def test_no_command_could_be_a_move() -> None:
    """Whatever is a move when it is typed alone is no command, so that nothing has two meanings."""
    assert not {*WORDS, *ALIASES} & {*MOVES, "u"}
    assert {ALIASES[alias] for alias in ALIASES} <= set(WORDS)


@given(st.text(max_size=50))
def test_any_line_can_be_read(line: str) -> None:
    """Nothing that is typed is an accident."""
    read_line(line)
    with_settings = read_line(f"open {line}")
    assert isinstance(with_settings, Command)
    with suppress(Unclear):
        read_settings(with_settings.rest)


def test_every_command_is_told_by_help() -> None:
    """In the list, and alone, also by its other names."""
    everything = "\n".join(help_lines())
    for name, word in WORDS.items():
        assert word.usage in everything
        assert help_lines(name)[0] == f"{word.usage}: {word.does}."
        assert help_lines(name)[1:] == (settings_table() if name == "open" else [])
    assert help_lines("again") == help_lines("rematch")
    assert "no command" in help_lines("fly")[0]
