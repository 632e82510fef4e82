"""Text in exactly the cells of a terminal that it has: cut, filled up or wrapped. Pure."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

from cellrace_client.terminal.speech import printable

_LEAST_NAME = 4
"""With less room for a name, what it is says nothing either."""


def fitted(text: str, width: int) -> str:
    """A name or the like in exactly so many cells, with nothing in it that a terminal would obey."""
    shown = printable(text)
    if cell_len(shown) > width:
        shown = set_cell_size(shown, max(0, width - 1)).rstrip() + "…"
    return set_cell_size(shown, max(0, width))


def wrapped(text: str, width: int, most: int) -> list[str]:
    """A sentence in at most so many lines, broken between words; what has no room there ends with `…`."""
    width = max(2, width)
    lines, line = [], ""
    for word in printable(text).split():
        longer = f"{line} {word}" if line else word
        if line and cell_len(longer) > width:
            lines.append(line)
            longer = word
        while cell_len(longer) > width:
            lines.append(set_cell_size(longer, width).rstrip())
            longer = longer[len(lines[-1]) :]
        line = longer
    lines.append(line)
    return lines if len(lines) <= most else [*lines[: most - 1], fitted(" ".join(lines[most - 1 :]), width).rstrip()]


def fitted_name(name: str, marks: str, width: int) -> str:
    """A name and what it is, ` (you)`, in exactly so many cells: of the two it is the name that is shortened."""
    room = width - cell_len(marks)
    if cell_len(printable(name)) <= room or room < _LEAST_NAME:
        return fitted(name + marks, width)
    return fitted(name, room) + marks
