"""What a typed line asks for."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import fields

from cellrace.autoplay import Autoplay
from cellrace.messages import Ends, Ghost, SettingsRequest
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
    read_settings,
)


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


def test_settings_are_read_as_the_protocol_names_them() -> None:
    """A game first, then NAME=VALUE, in words."""
    words = ("Two-Suit", "seats=3", "undo=no", "time-limit=60", "autoplay=none", "ends=first_win", "deal=7")
    assert read_settings(words) == SettingsRequest(
        variant="two-suit",
        seats=3,
        undo=False,
        time_limit=60,
        autoplay=Autoplay.NONE,
        ends=Ends.FIRST_WIN,
        deal=7,
    )
    assert read_settings(()) == SettingsRequest()
    ghosts = (Ghost(race="r1", player="p1"), Ghost(race="r2", player="p2"))
    assert read_settings(("ghosts=r1/p1,R2/p2",)) == SettingsRequest(ghosts=ghosts)


@pytest.mark.parametrize(
    "words",
    [
        ("freecell", "seats"),
        ("seats=many",),
        ("seats=0",),
        ("undo=maybe",),
        ("colour=red",),
        ("seats=9e9",),
        ("ghosts=r1",),
    ],
)
def test_settings_that_are_none_are_refused(words: tuple[str, ...]) -> None:
    """A sentence says what is wrong with them."""
    with pytest.raises(Unclear):
        read_settings(words)


def test_every_command_is_told_by_help() -> None:
    """In the list, and alone, also by its other names."""
    everything = "\n".join(help_lines())
    for name, word in WORDS.items():
        assert word.usage in everything
        assert help_lines(name)[0] == f"{word.usage}: {word.does}."
        assert len(help_lines(name)) == (2 if name == "open" else 1)
    assert all(f" {field.name}" in help_lines("open")[1] for field in fields(SettingsRequest)[1:])
    assert help_lines("again") == help_lines("rematch")
    assert "no command" in help_lines("fly")[0]
