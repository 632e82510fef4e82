"""What a race leaves behind: which boards and records it counts for, and for which it does not."""

from __future__ import annotations

from datetime import date

import pytest
from msgspec.structs import replace

from cellrace.messages import EntrantStatus, RaceKind, Settings
from cellrace_server.core.daily import closes_at, opens_at
from cellrace_server.core.effects import (
    FULL_HOME,
    NOT_WON,
    Effects,
    effects_of,
    streak_ends_at,
    streak_score,
)
from cellrace_server.core.facts import CountdownBegan, Joined, Over
from cellrace_server.core.race import Race, final_standings
from tests.server.races import ANN, BEN, START, after, begun, done, new_race

DEAL = 617
DAY = date(2026, 10, 14)


def ended(race: Race, at: int = START + 90_000) -> Race:
    """The race with its end on record."""
    return after(race, Over(final_standings(race)), at=at)


def daily(status: EntrantStatus, *, begins: int, at: int, home: int = 52) -> Race:
    """Ann's attempt at a day, over."""
    born = replace(new_race(Settings(seats=1, ranked=False), kind=RaceKind.DAILY), created_at=begins)
    race = after(born, Joined(ANN), CountdownBegan(begins, "c"), at=begins)
    return ended(done(race, "ann", status, at=at, home=home), at)


def boards(effects: Effects) -> set[tuple[str, str]]:
    return {(score.board, score.player.id) for score in effects.scores}


def test_a_ranked_race_counts_for_records_and_for_the_fastest_wins() -> None:
    race = done(begun(ANN, BEN), "ann", EntrantStatus.WON, at=START + 60_000, latency=40)
    race = ended(done(race, "ben", EntrantStatus.CONCEDED, at=START + 70_000, home=30))
    effects = effects_of(race, DEAL)
    assert boards(effects) == {("best:freecell", "ann"), ("deal:freecell:617", "ann")}
    assert {(score.value, score.order) for score in effects.scores} == {(59_960, START + 60_000)}
    assert [(f.player, f.won, f.at, f.time) for f in effects.finished] == [
        ("ann", True, START + 60_000, 59_960),
        ("ben", False, START + 70_000, None),
    ]
    assert effects.days == ()


def test_what_is_not_ranked_is_no_best_and_no_record_but_a_finished_game() -> None:
    race = begun(ANN, BEN, settings=Settings(seats=2, ranked=False, deal=DEAL))
    race = ended(done(done(race, "ann", EntrantStatus.WON), "ben", EntrantStatus.CONCEDED, home=9))
    effects = effects_of(race, DEAL)
    assert boards(effects) == {("deal:freecell:617", "ann")}
    assert [finished.time for finished in effects.finished] == [None, None]


def test_practice_counts_for_nothing() -> None:
    """The deal of a published day once more, into which nobody can come by a code."""
    race = replace(begun(ANN, settings=Settings(seats=1, ranked=False, deal=DEAL)), code="")
    assert effects_of(ended(done(race, "ann", EntrantStatus.WON)), DEAL) == Effects()


def test_a_known_deal_raced_alone_counts_for_records_and_for_its_board() -> None:
    race = begun(ANN, settings=Settings(seats=1, ranked=False, deal=DEAL))
    effects = effects_of(ended(done(race, "ann", EntrantStatus.WON)), DEAL)
    assert boards(effects) == {("deal:freecell:617", "ann")}
    assert [(finished.won, finished.time) for finished in effects.finished] == [(True, None)]


def test_a_drawn_deal_raced_alone_is_ranked_like_any_other() -> None:
    """Only ratings need two."""
    race = ended(done(begun(ANN, settings=Settings(seats=1)), "ann", EntrantStatus.WON))
    effects = effects_of(race, DEAL)
    assert boards(effects) == {("best:freecell", "ann"), ("deal:freecell:617", "ann")}
    assert [(finished.won, finished.time is None) for finished in effects.finished] == [(True, False)]


def test_a_race_that_is_not_over_leaves_nothing_yet() -> None:
    assert effects_of(done(begun(ANN, BEN), "ann", EntrantStatus.WON), DEAL) == Effects()


def test_a_daily_win_counts_for_its_day_by_time() -> None:
    begins = opens_at(DAY) + 5_000
    effects = effects_of(daily(EntrantStatus.WON, begins=begins, at=begins + 60_000), DEAL)
    assert boards(effects) == {("daily:2026-10-14:freecell", "ann")}
    assert [score.value for score in effects.scores] == [60_000]
    assert [(won.day, won.at) for won in effects.days] == [(DAY, begins + 60_000)]
    assert [finished.time for finished in effects.finished] == [None], "no record: it was no race"


def test_an_attempt_belongs_to_the_day_on_which_it_began() -> None:
    begins = closes_at(DAY) - 1
    effects = effects_of(daily(EntrantStatus.WON, begins=begins, at=begins + 3_000_000), DEAL)
    assert boards(effects) == {("daily:2026-10-14:freecell", "ann")}
    assert [won.day for won in effects.days] == [DAY]


@pytest.mark.parametrize("status", [EntrantStatus.CONCEDED, EntrantStatus.TIMED_OUT, EntrantStatus.FORFEITED])
def test_a_daily_that_is_not_won_is_ranked_by_cards_home_behind_every_win(status: EntrantStatus) -> None:
    begins = opens_at(DAY)
    few, many = (effects_of(daily(status, begins=begins, at=begins + 9, home=home), DEAL).scores[0] for home in (3, 51))
    assert NOT_WON < many.value < few.value <= NOT_WON + FULL_HOME
    assert NOT_WON > 24 * 3_600_000


def test_a_streak_is_shown_until_the_end_of_the_day_after_its_last_win() -> None:
    won = {date(2026, 10, n): n for n in (10, 12, 13, 14)}
    score = streak_score("freecell", ANN, won)
    assert (score.board, score.value, score.order, score.info.last) == ("streak:freecell", -3, 14, "2026-10-14")
    assert streak_ends_at(DAY) == opens_at(date(2026, 10, 16))
