"""Days, leaderboards and records as lines: what a person reads."""

from __future__ import annotations

import pytest

from cellrace.messages import (
    BoardRow,
    Daily,
    DailyAttempt,
    Entrant,
    EntrantStatus,
    GameRecord,
    Leaderboard,
    Player,
    PlayerAnswer,
    RaceKind,
    RaceState,
    Summary,
)
from cellrace_client.terminal.competing import (
    Asked,
    daily_lines,
    leaderboard_lines,
    page_lines,
    span_text,
    stats_lines,
    table,
)
from tests.client.days import HOUR, day

ANN, ROBO = Player(id="ann", name="Ann", bot=False), Player(id="robo", name="Robo", bot=True)


@pytest.mark.parametrize(
    ("shown", "lines"),
    [
        (day(20 * HOUR, entries=0), ["It opens in 4 h 0 min."]),
        (day(30 * HOUR + 1), ["You have one attempt, of an hour; it can begin for 18 h 0 min yet."]),
        (day(48 * HOUR), ["It is closed; its deal is told in 1 h 0 min."]),
        (day(50 * HOUR, deal=617), ["Its deal was 617."]),
        (
            day(30 * HOUR, you=DailyAttempt(race="r", status=EntrantStatus.PLAYING, home=1)),
            ["Your attempt goes on: 1 card home."],
        ),
        (
            day(30 * HOUR, you=DailyAttempt(race="r", status=EntrantStatus.WON, home=52, time=83_456, place=2)),
            ["You have won it in 1:23.456. You are 2nd."],
        ),
        (
            day(50 * HOUR, deal=617, you=DailyAttempt(race="r", status=EntrantStatus.TIMED_OUT, home=11)),
            ["Its deal was 617.", "Your attempt: ran out of time, 11 cards home."],
        ),
    ],
)
def test_a_day_tells_what_can_be_done_and_what_has_been(shown: Daily, lines: list[str]) -> None:
    first, *told, last = daily_lines(shown)
    assert first.startswith("The daily of 1970-01-02: FreeCell, ")
    assert told == lines
    assert last == "Commitment c0ffee."


def test_a_page_that_does_not_know_who_asks_tells_nobody_that_their_attempt_is_to_come() -> None:
    unplayed = page_lines(day(30 * HOUR), None)
    assert unplayed[1:-1] == ["Everybody has one attempt, of an hour; it can begin for 18 h 0 min yet."]
    own = BoardRow(place=2, player=ANN, home=11, race="r")
    assert page_lines(day(30 * HOUR), own)[1:-1] == ["Your attempt has ended: 11 cards home. You are 2nd."]
    assert page_lines(day(50 * HOUR, deal=617), own)[1:-1] == [
        "Its deal was 617.",
        "Your attempt has ended: 11 cards home. You are 2nd.",
    ]


def board(name: str, *rows: BoardRow, you: BoardRow | None = None) -> Leaderboard:
    return Leaderboard(board=name, variant="six-by-six", rows=rows, you=you, total=12)


def test_rows_stand_in_columns_and_ones_own_below_where_it_is_not_among_them() -> None:
    rows = (
        BoardRow(place=1, player=ROBO, time=61_000, moves=70, race="r1"),
        BoardRow(place=1, player=Player(id="b", name="Bartholomew", bot=False), time=61_000, moves=101, race="r22"),
    )
    own = BoardRow(place=11, player=ANN, time=83_456, moves=1, race="r3")
    assert leaderboard_lines(board("best", *rows, you=own), "ann", Asked()) == [
        "Fastest wins of ranked races, Six by Six, 12 players.",
        "1st   Robo (bot)   1:01.000, 70 moves   r1",
        "1st   Bartholomew  1:01.000, 101 moves  r22",
        "…",
        "11th  Ann (you)    1:23.456, 1 move     r3",
    ]
    assert "…" not in leaderboard_lines(board("best", *rows, you=rows[0]), "robo", Asked())


@pytest.mark.parametrize(
    ("name", "row", "asked", "title", "value"),
    [
        ("streak", {"streak": 1}, Asked(), "Days in a row with a win in the daily, Six by Six", "1 day"),
        ("rating", {"rating": 1138}, Asked(), "Ratings, Six by Six", "1138"),
        ("daily", {"home": 11}, Asked(), "The daily of today, Six by Six", "11 cards home"),
        ("daily", {"time": 5_250}, Asked("2026-10-14"), "The daily of 2026-10-14, Six by Six", "5.250 s"),
        (
            "deal",
            {"time": 5_250, "moves": 2},
            Asked(deal=617),
            "Fastest wins of deal 617, Six by Six",
            "5.250 s, 2 moves",
        ),
        ("fame", {"home": 1}, Asked(), "fame, Six by Six", "1 card home"),
    ],
)
def test_each_board_has_its_title_and_its_values(
    name: str, row: dict[str, int], asked: Asked, title: str, value: str
) -> None:
    lines = leaderboard_lines(board(name, BoardRow(place=1, player=ANN, **row)), "", asked)  # type: ignore[arg-type]
    assert lines == [f"{title}, 12 players.", f"1st  Ann  {value}"]


def test_an_empty_board_has_a_title() -> None:
    assert len(leaderboard_lines(board("best"), "ann", Asked())) == 1


def test_a_player_is_told_game_by_game_and_race_by_race() -> None:
    entrants = tuple(
        Entrant(player=who, status=status, online=True, seq=0, home=0, moves=0, undos=0, place=place)
        for who, status, place in ((ANN, EntrantStatus.WON, 1), (ROBO, EntrantStatus.CONCEDED, 2))
    )
    race = Summary(
        race="r1",
        state=RaceState.OVER,
        kind=RaceKind.RACE,
        variant="freecell",
        seats=2,
        entrants=entrants,
        host="ann",
        created_at=1,
    )
    record = GameRecord(played=12, won=1, streak=0, best_streak=1, best_time=83_456, rating=1138)
    games = {"freecell": record, "six-by-six": GameRecord(played=1, won=0, streak=0, best_streak=0)}
    answer = PlayerAnswer(player="ann", name="Ann", bot=False, since=1_791_900_000_000, games=games, recent=(race,))
    assert stats_lines(answer, "robo") == [
        "Ann, here since 2026-10-13.",
        "FreeCell    12 games  1 win   streak 0, best 1  fastest 1:23.456  rating 1138",
        "Six by Six  1 game    0 wins  streak 0, best 0",
        "Last races:",
        "r1  FreeCell  1st  won  Robo (you, bot)",
    ]
    nobody = PlayerAnswer(player="robo", name="Robo", bot=True, since=0, games={}, recent=())
    assert stats_lines(nobody, "") == ["Robo (bot), here since 1970-01-01.", "No game has been finished yet."]


def test_a_table_is_as_wide_as_it_must_be() -> None:
    assert table([("a", "", "ccc"), ("bb", "", "")]) == ["a   ccc", "bb"]
    assert table([]) == []


@pytest.mark.parametrize(
    ("ms", "text"), [(0, "0 h 0 min"), (1, "0 h 1 min"), (HOUR, "1 h 0 min"), (90 * 60_000, "1 h 30 min")]
)
def test_a_span_is_rounded_up_to_minutes(ms: int, text: str) -> None:
    assert span_text(ms) == text
