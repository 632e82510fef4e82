"""Names: what is allowed, how it is shown, and when two are the same (RFC 8266)."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellrace.errors import ErrorCode, Refused
from cellrace_server.core.names import LONGEST, SHORTEST, parse_name


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("Ann", "Ann"),
        ("  Ann  Lee ", "Ann Lee"),
        ("Ann\u00a0Lee", "Ann Lee"),
        ("Ａnn", "Ann"),
        ("Åsa", "Åsa"),
        ("A\u030asa", "Åsa"),
        ("王秀英", "王秀英"),
        ("Zoë ♥ 🂡", "Zoë ♥ 🂡"),
        ("x" * LONGEST, "x" * LONGEST),
        ("xy", "xy"),
        ("\u05e9\u05b8\u05bc\u05c1\u05dc", "\u05e9\u05b8\u05bc\u05c1\u05dc"),
        ("n\u0334\u0335\u0336\u0337n", "n\u0334\u0335\u0336\u0337n"),
    ],
)
def test_a_name_is_shown_normalised(typed: str, shown: str) -> None:
    assert parse_name(typed).shown == shown


@pytest.mark.parametrize("other", ["ANN LEE", "ann lee", " Ann  Lee", "Ａnn Lee", "Ann\u2003Lee"])
def test_names_are_compared_without_case_width_and_extra_spaces(other: str) -> None:
    assert parse_name(other).folded == parse_name("Ann Lee").folded


def test_letters_that_only_look_alike_are_different_names() -> None:
    assert parse_name("Ann").folded != parse_name("Аnn").folded


@pytest.mark.parametrize(
    "typed",
    [
        pytest.param("", id="nothing"),
        pytest.param("   ", id="spaces"),
        pytest.param("x", id="too short"),
        pytest.param(" x ", id="too short without its spaces"),
        pytest.param("x" * (LONGEST + 1), id="too long"),
        pytest.param("An\nn", id="a line end"),
        pytest.param("An\x00n", id="NUL"),
        pytest.param("An\x1b[31mn", id="an escape sequence"),
        pytest.param("An\x7fn", id="DEL"),
        pytest.param("An\x85n", id="a C1 control"),
        pytest.param("An\u202en", id="right-to-left override"),
        pytest.param("An\u2066n", id="an isolate"),
        pytest.param("An\u200fn", id="right-to-left mark"),
        pytest.param("An\u200bn", id="zero-width space"),
        pytest.param("An\u200dn", id="zero-width joiner"),
        pytest.param("An\u2060n", id="word joiner"),
        pytest.param("An\ufeffn", id="byte order mark"),
        pytest.param("An\u00adn", id="soft hyphen"),
        pytest.param("An\u2028n", id="line separator"),
        pytest.param("An\ue000n", id="private use"),
        pytest.param("An\ud800n", id="a lone surrogate"),
        pytest.param("An\U000e0041n", id="a tag character"),
        pytest.param("An\u034fn", id="combining grapheme joiner"),
        pytest.param("An\u115fn", id="a filler that shows nothing"),
        pytest.param("\u2800\u2800\u2800", id="blank braille"),
        pytest.param("\u3164\u3164", id="blank hangul"),
        pytest.param("\u0301\u0301", id="marks on what stands before the name"),
        pytest.param("An" + "\u0334" * 5 + "n", id="marks piled up"),
    ],
)
def test_what_cannot_be_a_name_is_refused(typed: str) -> None:
    with pytest.raises(Refused) as refused:
        parse_name(typed)
    assert refused.value.code == ErrorCode.BAD_NAME


@given(st.text(max_size=30))
def test_a_name_stays_what_it_is_when_it_is_typed_again(text: str) -> None:
    try:
        name = parse_name(text)
    except Refused:
        return
    assert parse_name(name.shown) == name
    assert SHORTEST <= len(name.shown) <= LONGEST
    assert all(unicodedata.category(character)[0] not in "C" for character in name.shown)
    assert "  " not in name.shown
    assert name.shown == name.shown.strip()
