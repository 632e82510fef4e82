"""Every sentence has room at 80 columns, in every language: below the board in several lines, on top in one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from cellrace.errors import ERROR_SENTENCES, ErrorCode, IllegalMove, Reason, Refused
from cellrace.messages import CLOSE_SENTENCES, CloseCode
from cellrace_client.connection.backoff import comes_back
from cellrace_client.language import LANGUAGES, _, n_, speak
from cellrace_client.terminal.app.desk import sentence_of
from cellrace_client.terminal.app.fitting import wrapped
from cellrace_client.terminal.app.widgets.lines import MessageLine
from cellrace_client.terminal.refusals import drop_text, reason_text
from tests.client.app.conftest import House, alone

WIDTH = 78
"""What a line of 80 has between its margins."""


def refusals() -> Iterator[str]:
    """Every refusal as it is told, of a move before it is sent, of a move by the server, of anything else."""
    for reason in Reason:
        yield sentence_of(IllegalMove(reason, "26v3", 0))
        lost = n_(
            "The server has not taken your last move: it is back.",
            "The server has not taken your last {count} moves: they are back.",
            121,
        ).format(count=121)
        yield f"{lost} {reason_text(reason)}"
    for code in ErrorCode:
        yield sentence_of(Refused(code, ERROR_SENTENCES[code]))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_refusal_is_there_in_full(lang: str) -> None:
    """Word for word, in at most so many lines."""
    speak(lang)
    told = list(refusals())
    assert len(set(told)) > 60
    for sentence in told:
        lines = wrapped(sentence, WIDTH, MessageLine.MOST)
        assert " ".join(lines) == " ".join(sentence.split())
        assert all(cell_len(line) <= WIDTH for line in lines)


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_a_long_refusal_can_be_read_on_the_screen(house: House, lang: str) -> None:
    """And the board is as high as before once it is over."""
    speak(lang)
    screen = await house.at_play(alone(), name="Ann")
    before = screen.text
    longest = sorted(refusals(), key=len)[-6:]
    assert all(cell_len(sentence) > WIDTH for sentence in longest)
    for sentence in longest:
        screen.app.say(sentence, refusal=True)
        await screen.pause()
        below = " ".join(screen.text.splitlines()[-4:-1])
        assert " ".join(sentence.split()) in " ".join(below.split())
    screen.app.say("")
    await screen.pause()
    await screen.pause()
    assert screen.text.splitlines()[:-2] == before.splitlines()[:-2]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_drop_has_room_on_top(lang: str) -> None:
    """With the moves that wait, and in one line."""
    speak(lang)
    codes: list[CloseCode | int | None] = [code for code in CLOSE_SENTENCES if comes_back(code)]
    for code in (*codes, None, 1011):
        why = _("{sentence} Coming back …").format(sentence=drop_text(code, "The connection is cut."))
        kept = n_("{count} move is kept.", "{count} moves are kept.", 1215).format(count=1215)
        assert cell_len(f"{why} {kept}") <= WIDTH - 2


@given(st.text(max_size=300), st.integers(2, 90), st.integers(1, 4))
def test_nothing_is_wider_than_its_line(text: str, width: int, most: int) -> None:
    """Whatever is said: wide characters, words without an end, nothing at all."""
    lines = wrapped(text, width, most)
    assert 1 <= len(lines) <= most
    assert all(cell_len(line) <= width for line in lines)
