"""Days of the daily challenge: which instant belongs to which, when each opens, closes and is published, and streaks.

A day is a UTC date. A streak is a number of days in a row with a win in one game. It lives on through the day after its
last win, so that today can still be played. It counts the day on which an attempt began, not the one on which it ended.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256

from cellrace.errors import ErrorCode, Refused

TIME_LIMIT = 3600
"""How long an attempt may take, seconds."""
RESERVED_SHARE = 8
"""One in so many numbers is kept for daily challenges, and never drawn for a race."""

_DAY_MS = 24 * 3_600_000
"""How long a day is, ms."""


def day_of(now: int) -> date:
    """The day of an instant (race clock, ms)."""
    return datetime.fromtimestamp(now / 1000, UTC).date()


def opens_at(day: date) -> int:
    """When a day opens, ms."""
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)


def closes_at(day: date) -> int:
    """When the last attempt of a day can begin, ms."""
    return opens_at(day) + _DAY_MS


def published_at(day: date) -> int:
    """When nobody can be at a day's deal any more and it is no secret, ms."""
    return closes_at(day) + TIME_LIMIT * 1000


def parse_day(text: str) -> date:
    """The day of a date, `YYYY-MM-DD`. Raises Refused with `not_found`."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or day.isoformat() != text:  # Python reads other forms as well.
        raise Refused(ErrorCode.NOT_FOUND, f"{text[:40]} is no date.", field="date")
    return day


def is_reserved(variant: str, number: int) -> bool:
    """Whether a number is kept for daily challenges."""
    return sha256(f"daily:{variant}:{number}".encode()).digest()[0] % RESERVED_SHARE == 0


def streak(won: Collection[date], today: date) -> int:
    """How many days in a row, up to today or yesterday, have a win."""
    last = today if today in won else today - timedelta(days=1)
    length = 0
    while last - timedelta(days=length) in won:
        length += 1
    return length


def best_streak(won: Collection[date]) -> int:
    """The most days in a row with a win."""
    return max((streak(won, day) for day in won), default=0)
