"""A day of the daily challenge as a server tells it, for tests."""

from __future__ import annotations

from cellrace.messages import Daily, DailyAttempt

HOUR = 3_600_000


def day(now: int, *, you: DailyAttempt | None = None, deal: int | None = None, entries: int = 3) -> Daily:
    """A day from 24 to 48 hours after the epoch, published an hour later."""
    return Daily(
        date="1970-01-02",
        variant="freecell",
        commitment="c0ffee",
        opens_at=24 * HOUR,
        closes_at=48 * HOUR,
        published_at=49 * HOUR,
        now=now,
        entries=entries,
        deal=deal,
        you=you,
    )
