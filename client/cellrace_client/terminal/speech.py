"""Words for people: what may go to a terminal, lengths of time, places, lists. Pure."""

from __future__ import annotations

import textwrap
import unicodedata
from datetime import UTC, datetime

from cellrace_client.language import _, spoken_code

LONGEST_LINE = 1000
"""More than any sentence of ours has, in any language; a paragraph of the rules is the longest."""
_NARROWEST = 20
"""Characters: in a narrower terminal it may break lines itself."""


def printable(text: str) -> str:
    """A line without anything that a terminal would obey: no escapes, controls, bidirectional or invisible characters.

    Names and messages come from a server that may be anybody's.
    """
    shown = "".join(_shown(char) for char in text[: LONGEST_LINE + 1])
    return shown if len(text) <= LONGEST_LINE else shown[: LONGEST_LINE - 1] + "…"


def folded(line: str, width: int | None) -> list[str]:
    """A line in as many of a terminal's width as it takes, broken between words; None: it is no terminal's."""
    if width is None or len(line) <= width:
        return [line]
    return textwrap.wrap(line, max(width, _NARROWEST), break_on_hyphens=False)


def _shown(char: str) -> str:
    if char.isprintable():
        return char
    return " " if unicodedata.category(char) in ("Zs", "Zl", "Zp") or char in "\t\n\r" else "?"


LAST_INSTANT = 253_402_300_799_999
"""The end of the last year that a calendar here has, in milliseconds."""


def day_text(at: int) -> str:
    """The UTC day of an instant, `2026-01-31`; of one beyond all calendars, which a server may tell, the last."""
    return datetime.fromtimestamp(min(at, LAST_INSTANT) // 1000, UTC).date().isoformat()


def length_text(ms: int) -> str:
    """A length of time to the millisecond: `1:23.456`, or `5.250 s` below a minute."""
    seconds, rest = divmod(ms, 1000)
    minutes, seconds = divmod(seconds, 60)
    if not minutes:
        return _("{seconds} s").format(seconds=_decimal(str(seconds), f"{rest:03d}"))
    hours, minutes = divmod(minutes, 60)
    head = f"{hours}:{minutes:02d}" if hours else f"{minutes}"
    return _decimal(f"{head}:{seconds:02d}", f"{rest:03d}")


def decimal_text(number: float) -> str:
    """A number with one decimal place: `2.5`."""
    whole, _mark, part = f"{number:.1f}".partition(".")
    return _decimal(whole, part)


def _decimal(whole: str, part: str) -> str:
    return _("{whole}.{part}").format(whole=whole, part=part)


def whole_seconds(ms: int) -> int:
    """How a length of time is counted down: 3, 2, 1, and 0 only when it is over."""
    return max(0, -(-ms // 1000))


def listed(words: list[str]) -> str:
    """Words as a list: `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return _("{first} and {last}").format(first=", ".join(words[:-1]), last=words[-1])


_ENDINGS: dict[str, tuple[str, dict[int, str]]] = {
    "en": ("th", {1: "st", 2: "nd", 3: "rd"}),
    "uk": ("-те", {1: "-ше", 2: "-ге", 3: "-тє", 7: "-ме", 8: "-ме"}),
    "ru": ("-е", {}),
}
"""The ending of a place in each language, and those after some last digits; neuter, as places are."""


def ordinal(number: int) -> str:
    """A place in words: `1st`, `2nd`, `11th`."""
    ending, by_digit = _ENDINGS[spoken_code()]
    if spoken_code() == "uk" and number % 100 == 40:
        return f"{number}-ве"
    return f"{number}{ending if 10 <= number % 100 <= 20 else by_digit.get(number % 10, ending)}"
