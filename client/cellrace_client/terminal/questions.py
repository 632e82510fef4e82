"""What the lines ask before what cannot be taken back; the next line answers. Pure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from cellrace.messages import Daily
from cellrace_client.language import _
from cellrace_client.terminal.competing import daily_lines


class Question(NamedTuple):
    """What waits for a yes: the sentences that ask, what is then done, and what is said otherwise."""

    asked: tuple[str, ...]
    do: Callable[[], Awaitable[None]]
    otherwise: str


def stop_question(word: str, do: Callable[[], Awaitable[None]]) -> Question:
    """Asks whether somebody who plays wants to leave, concede or forfeit."""
    match word:
        case "concede":
            asked = _("You would be ranked by your cards home. Type yes to concede, or anything else to play on.")
        case "forfeit":
            asked = _("That gives the race up. Type yes to forfeit, or anything else to play on.")
        case _:
            asked = _("That gives the race up. Type yes to leave, or anything else to play on.")
    return Question((asked,), do, _("You play on."))


def daily_question(day: Daily, do: Callable[[], Awaitable[None]]) -> Question:
    """Asks whether the one attempt at a day's challenge is to begin, which it is not by mistake."""
    asked = _("Type yes to begin your attempt now, or anything else to leave it for later.")
    return Question((*daily_lines(day), asked), do, _("Your attempt has not begun."))
