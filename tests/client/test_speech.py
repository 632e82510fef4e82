"""What may go to a terminal, and how lengths and places are said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellrace.rules_text import rules_paragraphs
from cellrace.variants import VARIANTS
from cellrace_client.language import LANGUAGES, speak, spoken
from cellrace_client.terminal.speech import (
    LONGEST_LINE,
    decimal_text,
    folded,
    length_text,
    listed,
    ordinal,
    printable,
    whole_seconds,
)


@given(st.text())
def test_nothing_that_a_terminal_obeys_gets_through(text: str) -> None:
    """No control, no escape, nothing bidirectional or invisible, no line end."""
    shown = printable(text)
    assert shown.isprintable()
    assert len(shown) <= LONGEST_LINE


@given(st.text(st.characters(categories=["L", "M", "N", "P", "S"]), max_size=LONGEST_LINE))
def test_what_people_write_stays_as_it_is(text: str) -> None:
    """Letters of every script, marks, digits and signs."""
    assert printable(text) == text


def test_escapes_are_shown_as_question_marks() -> None:
    """A name cannot clear the screen, or turn the line round."""
    assert printable("Eve\x1b[2J\u202e\u200b\x07\x9b!") == "Eve?[2J????!"
    assert printable("a\nb\u2028c\u00a0d\te") == "a b c d e"


@pytest.mark.parametrize("code", LANGUAGES)
def test_no_paragraph_of_the_rules_is_cut(code: str) -> None:
    """The longest that we say in one line goes through whole, in every language and game."""
    speak(code)
    try:
        for variant in VARIANTS.values():
            for title, text in rules_paragraphs(variant, spoken()):
                assert not printable(f"{title}: {text}").endswith("…")
    finally:
        speak("en")


@given(st.lists(st.text("abc-é♣", min_size=1, max_size=18), min_size=1).map(" ".join), st.integers(20, 120))
def test_a_line_is_broken_between_words(line: str, width: int) -> None:
    """Nothing is lost, nothing is wider, and without a terminal nothing is broken."""
    assert " ".join(folded(line, width)) == line
    assert all(len(part) <= width for part in folded(line, width))
    assert folded(line, None) == [line]


def test_lengths_are_told_to_the_millisecond() -> None:
    """Below a minute in seconds, above with minutes and hours."""
    assert [length_text(ms) for ms in (0, 83, 59_999, 60_000, 83_456, 3_600_001)] == [
        "0.000 s",
        "0.083 s",
        "59.999 s",
        "1:00.000",
        "1:23.456",
        "1:00:00.001",
    ]


def test_seconds_are_rounded_up_and_never_below_none() -> None:
    """A countdown of 4.2 s is 5 seconds."""
    assert [whole_seconds(ms) for ms in (4200, 1000, 1, 0, -50)] == [5, 1, 1, 0, 0]
    assert decimal_text(2.46) == "2.5"


def test_places_and_lists_are_words() -> None:
    """As people say them."""
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)] == [
        "1st",
        "2nd",
        "3rd",
        "4th",
        "11th",
        "12th",
        "13th",
        "21st",
        "102nd",
        "111th",
    ]
    assert [listed([]), listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
