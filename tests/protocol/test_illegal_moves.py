"""Illegal moves: every reason in every game in which it can occur, and of two reasons the one listed first."""

from __future__ import annotations

from typing import Any

import pytest

from cellrace.board import Board, dealt_board
from cellrace.deals import deal
from cellrace.errors import REASON_SENTENCES, IllegalMove, Reason
from cellrace.notation import CELL_LETTERS, COLUMN_LETTERS
from cellrace.variants import VARIANTS, Build, Empty, Run, Variant, find_variant
from tests.protocol.situations import crowded, situation


def every(_: Variant) -> bool:
    """Whether the reason can occur in a game: it always can."""
    return True


def no_pile(variant: Variant) -> str:
    """The first cell or column that the game has not, as a target."""
    cell = CELL_LETTERS[variant.cells : variant.cells + 1]
    return "3" + (cell or COLUMN_LETTERS[len(variant.columns)])


def follower(variant: Variant) -> str:
    """The card that follows 9S in a run downwards."""
    return "8H" if variant.build is Build.COLOR else "8S"


SITUATIONS: list[tuple[Reason, Any, Any, Any]] = [
    (Reason.BAD_NOTATION, every, lambda v: situation(v, "9S", "8S"), lambda _: "h1"),
    (Reason.NO_SUCH_PILE, every, lambda v: situation(v, "9S", "8S"), no_pile),
    (Reason.NO_SUCH_PILE, lambda v: not v.reserve, lambda v: situation(v, "9S", "8S"), lambda _: "r1"),
    (Reason.RESERVE_FIRST, lambda v: v.reserve, lambda v: dealt_board(v, deal(v, 1)), lambda _: "1a"),
    (Reason.SAME_PILE, every, lambda v: situation(v, "9S", "8S"), lambda _: "11"),
    (Reason.SAME_PILE, every, lambda v: crowded(v, "9S", "8S"), lambda _: "aa"),
    (Reason.EMPTY_SOURCE, every, lambda v: situation(v, "", "8S"), lambda _: "12"),
    (Reason.EMPTY_SOURCE, every, lambda v: situation(v, "9S", "8S"), lambda v: CELL_LETTERS[v.cells - 1] + "1"),
    (Reason.EMPTY_SOURCE, lambda v: v.reserve, lambda v: situation(v, "9S", "8S"), lambda _: "r1"),
    (Reason.CELL_FULL, every, lambda v: crowded(v, "9S", "8S"), lambda _: "1a"),
    (Reason.CELL_FULL, every, lambda v: crowded(v, "9S", "8S"), lambda _: "ba"),
    (Reason.FOUNDATION_ORDER, every, lambda v: situation(v, "9S", "8S"), lambda _: "1h"),
    (Reason.FOUNDATION_ORDER, every, lambda v: situation(v, "9S", "8S", "TS"), lambda _: "ah"),
    (Reason.EMPTY_COLUMN_RULE, lambda v: v.empty is Empty.KING, lambda v: situation(v, "9S", ""), lambda _: "12"),
    (Reason.EMPTY_COLUMN_RULE, lambda v: v.empty is Empty.KING, lambda v: crowded(v, "9S", ""), lambda _: "a2"),
    (Reason.WRONG_RANK, every, lambda v: situation(v, "8S", "TS"), lambda _: "12"),
    (Reason.WRONG_RANK, every, lambda v: situation(v, "9S", "8S"), lambda _: "12"),
    (Reason.WRONG_RANK, every, lambda v: situation(v, "9S", "TS"), lambda _: "12v2"),
    (Reason.WRONG_RANK, every, lambda v: situation(v, "QS 9S", "TS"), lambda _: "12v2"),
    (Reason.WRONG_RANK, every, lambda v: situation(v, "KS", ""), lambda _: "12v2"),
    (Reason.NOT_A_RUN, every, lambda v: situation(v, "9S QS 7S", "TS"), lambda _: "12"),
    (Reason.NOT_A_RUN, every, lambda v: situation(v, "KS 9S", ""), lambda _: "12v2"),
    (Reason.WRONG_SUIT, lambda v: v.build is Build.SUIT, lambda v: situation(v, "9S", "TH"), lambda _: "12"),
    (Reason.WRONG_SUIT, lambda v: v.build is Build.SUIT, lambda v: situation(v, "9S", "TH"), lambda _: "12v1"),
    (Reason.WRONG_COLOR, lambda v: v.build is Build.COLOR, lambda v: situation(v, "9S", "TS"), lambda _: "12"),
    (
        Reason.TOO_MANY_CARDS,
        lambda v: v.run is not Run.UNLIMITED,
        lambda v: crowded(v, f"9S {follower(v)}", "TH" if v.build is Build.COLOR else "TS"),
        lambda _: "12",
    ),
    (
        Reason.TOO_MANY_CARDS,
        lambda v: v.run is not Run.UNLIMITED,
        lambda v: crowded(v, "KS QH" if v.build is Build.COLOR else "KS QS", ""),
        lambda _: "12v2",
    ),
]


ILLEGAL = [
    pytest.param(reason, board(variant), move(variant), id=f"{variant.id} {reason} {move(variant)}")
    for variant in VARIANTS.values()
    for reason, occurs, board, move in SITUATIONS
    if occurs(variant)
]


@pytest.mark.parametrize(("reason", "before", "text"), ILLEGAL)
def test_each_reason_is_given_in_every_game_in_which_it_can_occur(reason: Reason, before: Board, text: str) -> None:
    assert before.refusal(text) is reason
    with pytest.raises(IllegalMove) as refused:
        before.play(text)
    assert (refused.value.reason, refused.value.move) == (reason, text)
    assert str(refused.value) == REASON_SENTENCES[reason]


def test_the_table_has_every_reason_that_a_board_can_give() -> None:
    of_games = {Reason.ALREADY_WON, Reason.LOG_FULL, Reason.UNDO_OFF, Reason.NOTHING_TO_UNDO}
    assert {row[0] for row in SITUATIONS} == set(Reason) - of_games


def test_each_reason_has_its_own_sentence() -> None:
    assert set(REASON_SENTENCES) == set(Reason)
    assert len(set(REASON_SENTENCES.values())) == len(Reason)
    assert all(sentence.endswith(".") for sentence in REASON_SENTENCES.values())


# Where two reasons apply, the one listed first.
TWO_REASONS = [
    ("marseille", "9S", "8S", "08", Reason.NO_SUCH_PILE, "before an empty source"),
    ("freecell", "", "8S", "11", Reason.SAME_PILE, "before empty source"),
    ("freecell", "9S", "", "2h", Reason.EMPTY_SOURCE, "before home order"),
    ("forecell", "9S QS", "", "12v2", Reason.EMPTY_COLUMN_RULE, "before not a run"),
    ("freecell", "8S", "TS", "12v1", Reason.WRONG_RANK, "before wrong colour"),
    ("freecell", "KS 8S", "TS", "12", Reason.WRONG_RANK, "before not a run"),
    ("freecell", "9S 8S", "TS", "12", Reason.NOT_A_RUN, "before wrong colour"),
    ("bakers-game", "9S 8H", "TH", "12", Reason.NOT_A_RUN, "before wrong suit"),
]


@pytest.mark.parametrize(("game", "first", "second", "move", "reason", "why"), TWO_REASONS)
def test_of_two_reasons_the_one_listed_first_is_given(
    game: str, first: str, second: str, move: str, reason: Reason, why: str
) -> None:
    assert situation(find_variant(game), first, second).refusal(move) is reason, why


def test_a_run_of_the_wrong_suit_that_is_also_too_long_is_told_its_suit() -> None:
    assert crowded(find_variant("six-by-six"), "9S 8S", "TH").refusal("12") is Reason.WRONG_SUIT
    assert crowded(find_variant("freecell"), "9S 8H", "TS").refusal("12") is Reason.WRONG_COLOR


def test_the_reserve_comes_after_piles_that_are_not_there_and_before_all_else() -> None:
    marseille = find_variant("marseille")
    board = dealt_board(marseille, deal(marseille, 1))
    assert board.refusal("11") is Reason.RESERVE_FIRST
    assert board.refusal("r8") is Reason.NO_SUCH_PILE
    assert board.refusal("18") is Reason.NO_SUCH_PILE
    assert board.refusal("aa") is Reason.RESERVE_FIRST
