"""What is told of a day's challenge beside its board. Pure."""

from __future__ import annotations

from datetime import date, timedelta

from msgspec.structs import replace
from textual.content import Content

from cellrace.messages import Daily, EntrantStatus
from cellrace_client.language import _
from cellrace_client.terminal.app.clock import clock_text
from cellrace_client.terminal.competing import attempt_line, when_lines
from cellrace_client.terminal.counts import days_counted, players_begun
from cellrace_client.terminal.titles import game_title


def day_at(day: Daily, by: int) -> str:
    """The day so many days after another one; the same where no calendar has it."""
    try:
        return (date.fromisoformat(day.date) + timedelta(days=by)).isoformat()
    except (ValueError, OverflowError):
        return day.date


def does(day: Daily | None, under_way: str | None) -> str:
    """What can be done with a day's challenge: `play`, go `on`, `practise`, or look at the `board`.

    `under_way` is the race of an attempt that goes on, perhaps of the day before.
    """
    if day is not None and day.deal is not None:
        return "practise"
    if day is None or day.you is None:
        return "play" if under_way is None else "on"
    return "on" if day.you.status is EntrantStatus.PLAYING else "board"


def left_text(day: Daily, now: int) -> str:
    """How long a day lasts, or until its deal is told."""
    if now < day.closes_at:
        return _("{time} left").format(time=clock_text(day.closes_at - now))
    if now < day.published_at:
        return _("published in {time}").format(time=clock_text(day.published_at - now))
    return _("published")


def day_lines(day: Daily, doing: str, streak: int, now: int) -> list[Content]:
    """How one's own attempt stands, whether there is one to be had, and the days in a row with a win."""
    day = replace(day, now=now)
    lines = [Content(f"{game_title(day.variant)}: {players_begun(day.entries)}.")]
    if day.you is None or day.deal is not None:
        lines += map(Content, when_lines(day))
    if day.you is not None:
        lines.append(Content(attempt_line(day.you)).stylize("bold"))
    if day.deal is not None:
        lines.append(Content(_("Enter deals it again for practice, which never counts.")))
    elif day.you is None and doing == "on":
        lines.append(Content(_("Your attempt of the day before goes on; this day's can follow it.")).stylize("bold"))
    elif day.you is None and day.now < day.closes_at:
        counts = _("It counts once: it begins when you see the cards, and its hour runs on if you leave.")
        lines.append(Content(counts).stylize("$accent"))
    if streak:
        lines.append(Content(_("Your streak: {days} with a win.").format(days=days_counted(streak))))
    return lines
