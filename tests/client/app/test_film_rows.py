"""Replays as films, days and rows in the width there is: without a screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.cells import cell_len

from cellrace.errors import UnknownVariant
from cellrace.messages import LAST_INTEGER, BoardRow, Daily, DailyAttempt, EntrantStatus, Player, Replay
from cellrace.replay import start_of
from cellrace_client.terminal.app.day_lines import day_at, day_lines, does, left_text
from cellrace_client.terminal.app.film import SPEEDS, Film
from cellrace_client.terminal.app.rows import aligned, board_row
from cellrace_client.terminal.speech import day_text
from tests.client.days import HOUR, day
from tests.protocol.replays import lost_replay, won_replay

WON = won_replay("two-suit", 3)
LOST = lost_replay()
ATTEMPT = DailyAttempt(race="r", status=EntrantStatus.PLAYING, home=3)
GIVEN_UP = replace(ATTEMPT, status=EntrantStatus.CONCEDED)
names = st.text(min_size=1, max_size=40)


@pytest.mark.parametrize("replay", [WON, LOST], ids=["won", "lost"])
def test_a_film_that_runs_shows_each_entry_at_its_time(replay: Replay) -> None:
    film = Film(replay)
    film.toggle()
    for at, _move in replay.moves:
        film.run(at - film.at)
        assert film.index == sum(stamp <= at for stamp, _other in replay.moves)
    film.run(replay.ended)
    assert film.ended
    assert not film.running
    assert film.game.board.cards_home == replay.result.home
    film.toggle()
    assert (film.index, film.running, film.game) == (0, True, start_of(replay))


@given(st.lists(st.integers(-200, 200), max_size=8), st.lists(st.floats(0, 60_000), max_size=8))
def test_a_film_is_always_somewhere_in_its_log(steps: list[int], times: list[float]) -> None:
    """However it is stepped and run, the game shown is the one after as many entries as it says."""
    film = Film(WON)
    film.running = True
    for step, ms in zip(steps, times, strict=False):
        film.seek(film.index + step)
        film.run(ms)
        film.faster(1 if step > 0 else -1)
        game, _ = start_of(WON).play_all(move for _at, move in WON.moves[: film.index])
        assert film.game == game
        assert film.speed in SPEEDS
        assert 0 <= film.at <= max(WON.ended, WON.moves[-1][0])


def test_a_film_goes_as_far_as_its_log_is_legal() -> None:
    broken = replace(WON, moves=(*WON.moves[:5], (WON.moves[5][0], "11"), *WON.moves[6:]))
    film = Film(broken)
    assert film.entries == 5
    assert film.broken is not None
    with pytest.raises(UnknownVariant):
        Film(replace(WON, variant="whist"))


@given(names, names, st.integers(24, 120))
def test_lines_have_their_width_and_nothing_that_is_obeyed(left: str, right: str, width: int) -> None:
    line = aligned(left, right, width)
    assert cell_len(line) == width
    assert line.isprintable()
    row = BoardRow(place=7, player=Player(id="p", name=left, bot=True), time=83_456, moves=80)
    assert board_row("best", row, "me", width).plain.isprintable()
    assert cell_len(board_row("best", row, "me", width).plain) == width


@pytest.mark.parametrize(
    ("shown", "under_way", "wanted"),
    [
        (None, None, "play"),
        (day(30 * HOUR), None, "play"),
        (day(30 * HOUR), "yesterday's", "on"),
        (day(30 * HOUR, you=ATTEMPT), "r", "on"),
        (day(30 * HOUR, you=GIVEN_UP), None, "board"),
        (day(50 * HOUR, you=GIVEN_UP, deal=617), None, "practise"),
    ],
)
def test_what_can_be_done_with_a_day(shown: Daily | None, under_way: str | None, wanted: str) -> None:
    assert does(shown, under_way) == wanted


def test_an_attempt_of_the_day_before_is_told_and_begins_no_other() -> None:
    told = [line.plain for line in day_lines(day(30 * HOUR), "on", 0, 30 * HOUR)]
    assert "Your attempt of the day before goes on; this day's can follow it." in told
    assert not [line for line in told if "counts once" in line]


def test_days_follow_the_clock() -> None:
    assert (day_text(48 * HOUR - 1), day_text(48 * HOUR)) == ("1970-01-02", "1970-01-03")
    assert (day_at(day(0), -1), day_at(day(0), 1)) == ("1970-01-01", "1970-01-03")
    assert left_text(day(0), 48 * HOUR - 1000) == "0:01 left"
    assert left_text(day(0), 48 * HOUR) == "published in 1:00:00"
    assert left_text(day(0), 49 * HOUR) == "published"


def test_a_day_that_no_calendar_has_is_as_good_as_the_last() -> None:
    """A server may tell any time, and any date of the right form."""
    assert day_text(LAST_INTEGER) == "9999-12-31"
    for date in ("9999-99-99", "9999-12-31"):
        assert day_at(replace(day(0), date=date), 1) == date
