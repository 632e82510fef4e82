"""Words for people: what may go to a terminal, lengths of time, numbers of things. Pure."""

from __future__ import annotations

import unicodedata

LONGEST_LINE = 400


def printable(text: str) -> str:
    """A line without anything that a terminal would obey: no escapes, controls, bidirectional or invisible characters.

    Names and messages come from a server that may be anybody's.
    """
    shown = "".join(_shown(char) for char in text[: LONGEST_LINE + 1])
    return shown if len(text) <= LONGEST_LINE else shown[: LONGEST_LINE - 1] + "…"


def _shown(char: str) -> str:
    if char.isprintable():
        return char
    return " " if unicodedata.category(char) in ("Zs", "Zl", "Zp") or char in "\t\n\r" else "?"


def length_text(ms: int) -> str:
    """A length of time to the millisecond: `1:23.456`, or `5.250 s` below a minute."""
    seconds, rest = divmod(ms, 1000)
    minutes, seconds = divmod(seconds, 60)
    if not minutes:
        return f"{seconds}.{rest:03d} s"
    hours, minutes = divmod(minutes, 60)
    head = f"{hours}:{minutes:02d}" if hours else f"{minutes}"
    return f"{head}:{seconds:02d}.{rest:03d}"


def seconds_text(ms: int) -> str:
    """A length of time in whole seconds, rounded up: `5 seconds`."""
    return count_text(max(0, -(-ms // 1000)), "second")


def count_text(count: int, thing: str, things: str | None = None) -> str:
    """A number of things: `1 card`, `2 cards`."""
    return f"{count} {thing}" if count == 1 else f"{count} {things or thing + 's'}"


def listed(words: list[str]) -> str:
    """Words as a list: `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def ordinal(number: int) -> str:
    """A place in words: `1st`, `2nd`, `11th`."""
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
