"""Times as a player reads them on the screen, and when they change. Pure."""

from __future__ import annotations

_LEAST = 0.001
"""Seconds: a timer of none would ring again before the number has changed."""


def clock_text(ms: int) -> str:
    """A length of time in whole seconds, rounded down: `1:23`."""
    seconds = max(0, ms) // 1000
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


def next_second(ms: int) -> float:
    """Seconds from a time to the next whole second after it."""
    return max(_LEAST, (1000 - ms % 1000) / 1000)


def until_next_count(ms: int) -> float:
    """Seconds until a countdown shows another number."""
    return max(_LEAST, ((ms - 1) % 1000 + 1) / 1000)
