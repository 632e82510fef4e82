"""Lines from a file descriptor, as they come."""

from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from cellrace_client.terminal.typed_lines import LONGEST_TYPED, TypedLines, split_lines


@given(st.lists(st.text(st.characters(exclude_characters="\n\r", codec="utf-8"), max_size=20)), st.integers(1, 7))
def test_lines_are_the_same_however_they_are_cut(lines: list[str], size: int) -> None:
    """Chunks may end anywhere, also within a character."""
    content = "".join(f"{line}\n" for line in lines).encode()
    chunks = (content[at : at + size] for at in range(0, len(content), size))
    assert list(split_lines(chunks)) == lines


def test_the_last_line_needs_no_end() -> None:
    """And a carriage return belongs to the end of a line."""
    assert list(split_lines(iter([b"26\r\n3a"]))) == ["26", "3a"]


def test_an_endless_line_is_cut() -> None:
    """Memory is bounded, whatever is poured in."""
    (line,) = split_lines(iter([b"x" * 1000] * 1000 + [b"\n"]))
    assert len(line) == LONGEST_TYPED


async def test_a_pipe_is_read_to_its_end() -> None:
    """Far more lines than are read ahead come in order, then None again and again."""
    reading, writing = os.pipe()
    lines = TypedLines(reading)
    os.write(writing, "".join(f"{n}\n" for n in range(100)).encode() + b"last")
    os.close(writing)
    assert [await lines.next() for _ in range(101)] == [*map(str, range(100)), "last"]
    assert await lines.next() is None
    assert await lines.next() is None
    os.close(reading)
