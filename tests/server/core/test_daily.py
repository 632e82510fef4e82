"""Days and streaks, with the clock as an argument: where a day begins, how long an attempt may take, rows of wins."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellrace.errors import ErrorCode, Refused
from cellrace_server.core.daily import (
    RESERVED_SHARE,
    TIME_LIMIT,
    best_streak,
    closes_at,
    day_of,
    is_reserved,
    opens_at,
    parse_day,
    published_at,
    streak,
)

HOUR = 3_600_000
DAYS = st.dates(date(1971, 1, 1), date(2199, 12, 31))
INSTANTS = st.integers(31_536_000_000, 7_258_118_400_000)


def at(text: str) -> int:
    """An instant in ms, from its UTC text."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("instant", "day"),
    [
        ("2026-10-14T00:00:00.000", date(2026, 10, 14)),
        ("2026-10-14T23:59:59.999", date(2026, 10, 14)),
        ("2026-10-15T00:00:00.000", date(2026, 10, 15)),
        ("2024-02-29T12:00:00.000", date(2024, 2, 29)),
        ("2026-12-31T23:59:59.999", date(2026, 12, 31)),
        ("1970-01-01T00:00:00.000", date(1970, 1, 1)),
    ],
)
def test_a_day_is_a_utc_date(instant: str, day: date) -> None:
    assert day_of(at(instant)) == day


@given(INSTANTS)
def test_each_instant_lies_in_its_day_and_in_no_other(now: int) -> None:
    day = day_of(now)
    assert opens_at(day) <= now < closes_at(day)


@given(DAYS)
def test_days_follow_each_other_without_gap_or_overlap(day: date) -> None:
    assert closes_at(day) == opens_at(day + timedelta(days=1)) == opens_at(day) + 24 * HOUR
    assert day_of(opens_at(day)) == day_of(closes_at(day) - 1) == day


@given(DAYS)
def test_nobody_can_play_a_day_any_more_when_it_is_published(day: date) -> None:
    """The last attempt begins a moment before midnight and has its whole time limit."""
    last_start = closes_at(day) - 1
    assert last_start + TIME_LIMIT * 1000 < published_at(day) == closes_at(day) + HOUR


@given(DAYS)
def test_a_date_is_read_as_it_is_written(day: date) -> None:
    assert parse_day(day.isoformat()) == day


@pytest.mark.parametrize(
    "text", ["2026-02-29", "2026-13-01", "0000-01-01", "today", "", "2026-1-1", "20261014", "2026-W42-3"]
)
def test_what_is_no_date_is_not_found(text: str) -> None:
    with pytest.raises(Refused) as refused:
        parse_day(text)
    assert refused.value.code == ErrorCode.NOT_FOUND


def test_about_one_number_in_so_many_is_kept_for_dailies_and_always_the_same() -> None:
    kept = [number for number in range(1, 80_001) if is_reserved("freecell", number)]
    assert abs(len(kept) * RESERVED_SHARE / 80_000 - 1) < 0.05
    assert kept[:8] == [number for number in range(1, kept[7] + 1) if is_reserved("freecell", number)]


def test_games_keep_numbers_of_their_own() -> None:
    numbers = range(1, 4_000)
    assert [n for n in numbers if is_reserved("freecell", n)] != [n for n in numbers if is_reserved("one-suit", n)]


TODAY = date(2026, 3, 1)


def before(*days: int) -> frozenset[date]:
    """The dates that lie so many days before today."""
    return frozenset(TODAY - timedelta(days=n) for n in days)


@pytest.mark.parametrize(
    ("won", "length"),
    [
        (before(), 0),
        (before(0), 1),
        (before(1), 1),
        (before(0, 1, 2), 3),
        (before(1, 2, 3), 3),
        (before(2, 3), 0),
        (before(0, 2, 3), 1),
        (before(0, 1, 3, 4, 5), 2),
    ],
)
def test_a_streak_lives_on_through_the_day_after_its_last_win(won: frozenset[date], length: int) -> None:
    assert streak(won, TODAY) == length


@given(st.frozensets(st.integers(0, 40)))
def test_a_streak_grows_by_one_with_a_win_today_and_ends_with_a_second_day_without(offsets: frozenset[int]) -> None:
    won = before(*offsets)
    yesterday = streak(won - {TODAY}, TODAY)
    assert streak(won | {TODAY}, TODAY) == yesterday + 1
    assert streak(won, TODAY + timedelta(days=2)) == 0


@given(st.frozensets(st.integers(0, 40)))
def test_the_best_streak_is_the_longest_row_of_days(offsets: frozenset[int]) -> None:
    rows = [0]
    for offset in range(42):
        rows.append(rows[-1] + 1 if offset in offsets else 0)
    assert best_streak(before(*offsets)) == max(rows)
