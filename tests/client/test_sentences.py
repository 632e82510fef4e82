"""Everything that happens is told in sentences."""

from __future__ import annotations

import dataclasses
from typing import Any, get_args

import pytest
from msgspec.structs import replace

from cellrace.cards import card_name
from cellrace.errors import IllegalMove
from cellrace.messages import (
    CancelledPush,
    CancelReason,
    CountdownPush,
    DelayedPush,
    DelayReason,
    DonePush,
    EntrantStatus,
    FactPush,
    JoinedPush,
    LeftPush,
    LeftReason,
    MatchedPush,
    MovedPush,
    NewsPush,
    OnlinePush,
    OverPush,
    Player,
    ProgressPush,
    RaceState,
    RatingChange,
    ReadyPush,
    RematchPush,
    Settings,
    Standing,
    StartedPush,
)
from cellrace.solver import solve
from cellrace_client.events import Back, Dropped, Happened, Lost, Matched, Synced
from cellrace_client.hearing import hear
from cellrace_client.terminal.move_words import tell_moves, why_not
from cellrace_client.terminal.progress import ProgressTeller
from cellrace_client.terminal.sentences import tell_event, tell_event_in_a_line, tell_race
from cellrace_client.terminal.standings_lines import entrants_lines, standings_lines
from tests.client.views import ANN, BOB, CY, a_view, committed, entrant, started

STANDINGS = (
    Standing(
        player=BOB, place=1, status=EntrantStatus.WON, home=52, moves=90, undos=1, time=83456, raw=83470, latency=14
    ),
    Standing(
        player=ANN,
        place=2,
        status=EntrantStatus.CONCEDED,
        home=30,
        moves=1,
        undos=0,
        rating=RatingChange(before=1000, after=990),
    ),
)


def fact(kind: type[Any], **fields: Any) -> FactPush:
    """The next fact of race r1."""
    made: FactPush = kind(race="r1", version=2, now=1, **fields)
    return made


TOLD: list[tuple[FactPush | NewsPush, list[str]]] = [
    (fact(JoinedPush, player=CY), ["Cy has joined; 3 of 3 seats taken."]),
    (fact(LeftPush, player="b", reason=LeftReason.LEFT), ["Bob left."]),
    (fact(LeftPush, player="b", reason=LeftReason.KICKED), ["Bob was removed by the host."]),
    (
        fact(LeftPush, player="a", reason=LeftReason.OFFLINE),
        ["You were removed for being offline.", "Bob is the host now."],
    ),
    (fact(LeftPush, player="b", reason=LeftReason.NOT_READY), ["Bob was removed for not being ready."]),
    (fact(ReadyPush, player="b", ready=True), ["Bob is ready."]),
    (fact(ReadyPush, player="a", ready=False), ["You are not ready any more."]),
    (fact(CountdownPush, start_at=5000, commitment="c"), ["The race starts in 5 seconds."]),
    (
        fact(DonePush, player="b", status=EntrantStatus.WON, home=52, time=83456, place=1),
        ["Bob won in 1:23.456, so far in 1st place."],
    ),
    (fact(DonePush, player="a", status=EntrantStatus.CONCEDED, home=1), ["You conceded with 1 card home."]),
    (fact(DonePush, player="b", status=EntrantStatus.TIMED_OUT, home=3), ["Bob ran out of time with 3 cards home."]),
    (fact(DonePush, player="b", status=EntrantStatus.FORFEITED, home=3), ["Bob forfeited with 3 cards home."]),
    (
        fact(DonePush, player="b", status=EntrantStatus.ABANDONED, home=3),
        ["Bob stayed away too long with 3 cards home."],
    ),
    (
        fact(OverPush, standings=STANDINGS),
        [
            "The race is over. The standings:",
            "1st: Bob (bot) won in 1:23.456 (arrived after 1:23.470, less 14 ms of latency), 90 moves, 1 undo.",
            "2nd: Ann (you) conceded with 30 cards home, 1 move, 0 undos, rating 1000 to 990.",
        ],
    ),
    (fact(CancelledPush, reason=CancelReason.EMPTY), ["The race is cancelled: nobody was online."]),
    (fact(RematchPush, successor="r2"), ["There is a rematch, race r2."]),
    (OnlinePush(race="r1", player="b", online=False), ["Bob has lost the connection."]),
    (
        DelayedPush(race="r1", reason=DelayReason.NO_DEAL),
        ["The server has no deal for all of you right now: the race is open again and nobody is ready."],
    ),
    (ProgressPush(race="r1", player="b", seq=1, home=1, moves=1, undos=0, at=1), []),
    (MovedPush(race="r1", player="b", seq=1, moves=("1a",), at=1), []),
    (MatchedPush(race="r1"), []),
]


@pytest.mark.parametrize(("push", "sentences"), TOLD)
def test_each_push_is_told(push: FactPush | NewsPush, sentences: list[str]) -> None:
    """A sentence or more, from the race before and after it."""
    before = a_view(settings=Settings(seats=3))
    after = hear(before, push).view
    assert tell_event(Happened(push, before, after), 0) == sentences


def test_no_push_is_left_out() -> None:
    """Every type of push has its example above, or is the start, which has its own test."""
    told = {type(push) for push, _ in TOLD} | {StartedPush}
    assert told == {*get_args(FactPush), *get_args(NewsPush)}


def test_the_start_tells_the_deal_and_whether_it_was_committed() -> None:
    """Also when it was not."""
    ready = hear(a_view(), fact(CountdownPush, start_at=5000, commitment=committed())).view
    for push, verdict in ((started(), "is the one that"), (started(salt="f" * 32), "is not the one that")):
        told = tell_event(Happened(push, ready, hear(ready, push).view), 0)
        assert told[0] == "The race has started: FreeCell, deal 617."
        assert verdict in told[1]


def test_what_befalls_the_connection_is_told() -> None:
    """A drop, the return, what was missed, what is lost."""
    open_race = a_view()
    over = a_view(state=RaceState.OVER, version=9, standings=STANDINGS)
    assert tell_event(Dropped(None, "The connection is cut.", 2.5), 0) == [
        "The connection is cut. Trying again in 2.5 s."
    ]
    assert tell_event(Back("n1"), 0) == ["The connection is back."]
    assert "r9" in tell_event(Matched("r9"), 0)[0]
    assert tell_event(Lost("r9", "There is no such race."), 0)[0].endswith("There is no such race.")
    assert tell_event(Synced(open_race, open_race), 0) == []
    assert tell_event(Synced(open_race, a_view(entrants=(entrant(BOB),))), 0) == ["You are not in the race any more."]
    told = tell_event(Synced(open_race, over), 0)
    assert told[0] == "Race r1 is over."
    assert told[-1].startswith("2nd: Ann (you)")


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (EntrantStatus.ABANDONED, "You stayed away too long with 3 cards home."),
        (EntrantStatus.TIMED_OUT, "You ran out of time with 3 cards home."),
        (EntrantStatus.PLAYING, None),
    ],
)
def test_the_end_of_ones_own_game_is_told_also_when_it_was_missed(status: EntrantStatus, told: str | None) -> None:
    """The race goes on for others, so that nothing else would say why one cannot play."""
    cards = started().layout
    before, after = (
        a_view(state=RaceState.RUNNING, layout=cards, entrants=(entrant(ANN, status, home=3), entrant(BOB)))
        for status in (EntrantStatus.PLAYING, status)
    )
    assert tell_event(Synced(before, after), 0) == ([] if told is None else [told])


def test_a_race_is_told_with_how_others_get_in() -> None:
    """By its id and by its code, as long as it is open and has a seat."""
    told = tell_race(a_view(entrants=(entrant(ANN),), code="ABCD2345"))
    assert told == [
        "Race r1 is open: FreeCell, 1 of 2 seats taken.",
        "Others enter it with: join r1 (or by its code, ABCD2345).",
    ]
    assert len(tell_race(a_view())) == 1


def test_entrants_stand_with_their_marks() -> None:
    """Host, bot, oneself, offline; with progress once it runs; the standings once it is over."""
    lines = entrants_lines(a_view(entrants=(entrant(ANN), entrant(BOB, EntrantStatus.READY, online=False))))
    assert lines == ["Ann (you): not ready, host.", "Bob (bot): ready, offline."]
    told = started()
    running = a_view(
        state=RaceState.RUNNING,
        layout=told.layout,
        entrants=(entrant(ANN, EntrantStatus.PLAYING, home=3, moves=9), entrant(BOB, EntrantStatus.PLAYING, home=4)),
    )
    assert entrants_lines(running) == [
        "Bob (bot): playing, 4 cards home, 0 moves.",
        "Ann (you): playing, 3 cards home, 9 moves.",
    ]
    assert entrants_lines(a_view(state=RaceState.OVER, standings=STANDINGS)) == standings_lines(STANDINGS, "a")


def test_a_ghost_is_told_from_the_player_whose_game_it_is() -> None:
    """Among the entrants, and in the standings."""
    ghost = entrant(Player(id="a~r0", name="Ann", bot=False), EntrantStatus.READY, ghost=True)
    assert entrants_lines(a_view(entrants=(entrant(ANN), ghost)))[1] == "Ann (ghost): ready."
    own = replace(STANDINGS[1], player=ANN, place=2)
    over = a_view(
        state=RaceState.OVER,
        entrants=(entrant(ANN), ghost),
        standings=(replace(STANDINGS[0], player=ghost.player), own),
    )
    assert [line.partition(" won")[0].partition(" conceded")[0] for line in entrants_lines(over)] == [
        "1st: Ann (ghost)",
        "2nd: Ann (you)",
    ]


def test_moves_are_told_with_what_went_home_by_itself() -> None:
    """Each move by its cards and piles, an undo as what it is."""
    view = hear(a_view(), started()).view
    game = view.game
    assert game is not None
    steps = [["1a"], ["u"], ["2b"]]
    told, after = tell_moves(game, steps)
    assert told == ["JD from column 1 to cell a.", "Taken back.", "KS from column 2 to cell b."]
    assert after.seq == 3
    solution = solve(game.board)
    assert solution is not None
    won, steps = game.play_all(solution.safe_moves)
    told, after = tell_moves(game, steps)
    assert after == won
    assert len(told) == len(steps)
    assert sum("By itself went home" in sentence for sentence in told) == sum(len(step) > 1 for step in steps) > 0


def test_progress_is_told_once_an_interval_and_merged() -> None:
    """However fast rivals move, there is one sentence, with the latest of all of them."""
    teller = ProgressTeller(10.0)
    assert teller.due(0.0) is None
    view = a_view(entrants=(entrant(ANN, home=9), entrant(BOB, home=1), entrant(CY, home=3)))
    teller.hear(view)
    assert teller.due(0.0) == 0.0
    assert teller.tell(0.0) == "Cy has 3 cards home and Bob has 1 card home."
    assert teller.tell(20.0) is None, "nothing is new"
    for home in range(2, 9):
        teller.hear(a_view(entrants=(entrant(ANN), entrant(BOB, home=home), entrant(CY, home=3))))
        assert teller.tell(home / 2) is None
    assert teller.due(4.0) == 6.0
    assert teller.tell(10.0) == "Bob has 8 cards home."
    done = a_view(entrants=(entrant(ANN), entrant(BOB, EntrantStatus.WON, home=52)))
    teller.hear(done)
    assert teller.due(99.0) is None, "an end is told by itself"


def test_a_crowd_is_not_told_one_by_one() -> None:
    """Of many rivals the most advanced are named."""
    teller = ProgressTeller(10.0)
    crowd = [entrant(replace_name(BOB, f"B{n}"), home=n) for n in range(1, 30)]
    teller.hear(a_view(entrants=(entrant(ANN), *crowd)))
    told = teller.tell(0.0)
    assert told is not None
    assert told.startswith("B29 has 29 cards home, B28")
    assert told.endswith("25 others moved on too.")


def replace_name(player: Player, name: str) -> Player:
    """The same player under another name and id."""
    return replace(player, id=name, name=name)


def test_where_a_table_is_a_key_away_of_the_standings_only_ones_own_place_is_told() -> None:
    """On a screen with one line for it, whatever race it was."""
    before = a_view(state=RaceState.RUNNING, entrants=(entrant(ANN, EntrantStatus.CONCEDED), entrant(BOB)))
    push = fact(OverPush, standings=STANDINGS)
    over = hear(before, push).view
    told = "The race is over: FreeCell. Your place: 2 of 2."
    assert tell_event_in_a_line(Happened(push, before, over), 0) == told
    assert tell_event_in_a_line(Synced(before, over), 0) == told
    assert (
        tell_event_in_a_line(Happened(push, before, dataclasses.replace(over, player="eve")), 0)
        == "The race is over: FreeCell."
    )
    assert tell_event_in_a_line(Back("n1"), 0) == "The connection is back."


def test_a_move_onto_a_card_that_does_not_fit_names_that_card() -> None:
    """Where a count was typed it may be that which is wrong; every other reason says enough by itself."""
    dealt = hear(a_view(), started()).view.game
    assert dealt is not None
    game, _step = dealt.play("1a")

    def why(move: str) -> str:
        with pytest.raises(IllegalMove) as illegal:
            game.play(move)
        return why_not(game.board, illegal.value)

    assert why("12") == f"Nothing from column 1 fits on {card_name(game.board.columns[1][-1])}."
    assert why("a2") == f"{card_name(game.board.cells[0])} does not fit on {card_name(game.board.columns[1][-1])}."
    assert why("12v3") == "The ranks do not follow, or the card count is wrong."
    assert why("ba") == "There is no card to move."
