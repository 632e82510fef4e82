"""Boards: every move judged as the rules say, on every kind of position, and no card lost or doubled."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellrace.board import Board, dealt_board
from cellrace.cards import NO_CARD
from cellrace.deals import deal
from cellrace.errors import IllegalMove, InvalidText, Reason
from cellrace.notation import MOVES
from cellrace.variants import VARIANTS, Build, Empty, Run, Variant, find_variant
from tests.protocol.golden_cases import case_game, rule_cases
from tests.protocol.positions import built_positions, deal_numbers, longest_run, played_positions, supermove, variants
from tests.protocol.situations import crowded, situation
from tests.protocol.slow_rules import after, first_reason, position

CASES = rule_cases()
some_positions = st.one_of(played_positions(), built_positions())
every_variant = pytest.mark.parametrize("variant", VARIANTS.values(), ids=lambda v: v.id)


@pytest.mark.parametrize("case", CASES, ids=[f"{n}: {case['why'][:40]}" for n, case in enumerate(CASES, 1)])
def test_the_cases_of_other_programs_agree(case: dict[str, Any]) -> None:
    expect = case["expect"]
    try:
        game = case_game(case["case"])
    except InvalidText:
        assert not expect["ok"]
        return
    applied = 0
    refused = None
    for index, move in enumerate(case["case"]["moves"]):
        try:
            game, _ = game.play(move, index)
        except IllegalMove as illegal:
            refused = illegal
            break
        applied += 1
    assert (refused is None) == expect["ok"], refused
    assert applied == expect.get("applied", applied)
    if "index" in expect:
        assert refused is not None
        assert refused.index == expect["index"]
    if "columns" in expect:
        assert position(game.board).columns == expect["columns"]
    assert game.won == expect.get("won", game.won)


@settings(max_examples=150)
@given(some_positions)
def test_the_engine_and_the_slow_rules_agree_on_every_spelling(board: Board) -> None:
    pos = position(board)
    for move in MOVES:
        reason = first_reason(pos, move)
        assert board.refusal(move) == reason, move
        if reason is None:
            assert position(board.play(move)) == after(pos, move), move


@given(some_positions, st.one_of(st.sampled_from(sorted(MOVES)), st.text(max_size=5)))
def test_a_move_is_refused_exactly_when_it_cannot_be_played_and_changes_nothing(board: Board, move: str) -> None:
    before = position(board)
    reason = board.refusal(move)
    if reason is None:
        board.play(move)
    else:
        with pytest.raises(IllegalMove) as refused:
            board.play(move)
        assert refused.value.reason is reason
    assert position(board) == before


@given(some_positions)
def test_legal_moves_are_all_that_are_legal_each_once_in_its_shortest_spelling(board: Board) -> None:
    legal = board.legal_moves()
    assert len(set(legal)) == len(legal)
    assert all(board.refusal(move) is None for move in legal)
    results = [board.play(move) for move in legal]
    assert {board.play(move) for move in MOVES if board.refusal(move) is None} == set(results)
    assert all(len(move) == 2 or move[3] != "1" for move in legal)


@given(variants, deal_numbers, st.integers(0, 2**32))
def test_random_play_neither_loses_nor_doubles_a_card_and_replays_to_the_same_board(
    variant: Variant, number: int, seed: int
) -> None:
    choices = random.Random(seed)
    board = dealt_board(variant, deal(variant, number))
    pack = position(board).cards()
    log: list[str] = []
    for _ in range(80):
        moves = board.legal_moves()
        if not moves:
            break
        log.append(choices.choice(moves))
        board = board.play(log[-1])
        assert position(board).cards() == pack
    again = dealt_board(variant, deal(variant, number))
    for move in log:
        again = again.play(move)
    assert again == board
    assert hash(again) == hash(board)


# Capacity.

LIMITED = [variant for variant in VARIANTS.values() if variant.run is Run.LIMITED]


@pytest.mark.parametrize("variant", LIMITED, ids=lambda v: v.id)
def test_a_limited_game_carries_exactly_its_capacity_with_any_room(variant: Variant) -> None:
    choices = random.Random(variant.id)
    tried = 0
    for free_cells, empty, on_empty in product(
        range(variant.cells + 1), range(len(variant.columns) - 1), (False, True)
    ):
        stones = 0 if variant.empty is Empty.KING else empty
        room = (free_cells + 1) * 2**stones
        for count in range(2, min(room + 2, longest_run(variant, on_empty)) + 1):
            made = supermove(variant, count, free_cells, empty, on_empty, choices)
            if made is None:
                continue
            tried += 1
            assert made.board.capacity(on_empty) == room
            expected = None if count <= room else Reason.TOO_MANY_CARDS
            assert made.board.refusal(made.move) is expected, (free_cells, empty, on_empty, count)
    assert tried > 20


@pytest.mark.parametrize(
    ("free_cells", "empty", "filled_target", "empty_target"),
    [(0, 0, 1, None), (0, 1, 2, 1), (1, 1, 4, 2), (3, 0, 4, None), (4, 0, 5, None), (2, 2, 12, 6), (4, 3, 40, 20)],
)
def test_capacity_is_free_cells_and_one_doubled_by_each_empty_column_but_the_target(
    free_cells: int, empty: int, filled_target: int, empty_target: int | None
) -> None:
    cells = b"\x00" * (4 - free_cells) + bytes((NO_CARD,)) * free_cells
    columns = (b"",) * empty + (b"\x04",) * (8 - empty)
    board = Board(find_variant("freecell"), columns, cells, bytes(4), b"")
    assert board.capacity(target_is_empty=False) == filled_target
    if empty_target is not None:
        assert board.capacity(target_is_empty=True) == empty_target


@pytest.mark.parametrize("game", ["marseille", "relaxed"])
def test_an_unlimited_game_carries_any_run_without_any_room(game: str) -> None:
    board = crowded(find_variant(game), "KS QH", "")
    assert board.refusal("12v2") is None
    board = crowded(find_variant(game), "9S 8H", "TH")
    assert board.play("12").columns[0] == b""


@pytest.mark.parametrize("game", ["six-by-six", "six-by-six-down"])
def test_a_game_of_single_cards_carries_one_whatever_is_free(game: str) -> None:
    board = situation(find_variant(game), "9S 8S", "TS")
    assert board.refusal("12") is Reason.TOO_MANY_CARDS
    assert situation(find_variant(game), "8S", "9S").refusal("12") is None


# Empty columns, dealt cells, home, reserve.


@pytest.mark.parametrize("variant", [v for v in VARIANTS.values() if v.empty is Empty.KING], ids=lambda v: v.id)
def test_only_a_king_opens_a_column_where_the_row_says_so(variant: Variant) -> None:
    assert situation(variant, "9S KS", "").refusal("12") is None
    assert situation(variant, "9S KS", "").refusal("12v1") is None
    assert situation(variant, "9S", "", "KS").refusal("a2") is None
    run = "KS QH" if variant.build is Build.COLOR else "KS QS"
    board = situation(variant, run, "")
    assert board.refusal("12") is Reason.EMPTY_COLUMN_RULE, "one card, and that is the queen"
    assert board.refusal("12v2") is None


@pytest.mark.parametrize("variant", [v for v in VARIANTS.values() if v.empty is Empty.ANY], ids=lambda v: v.id)
def test_any_card_opens_a_column_elsewhere(variant: Variant) -> None:
    for card in ("9S", "AS", "KS"):
        assert situation(variant, f"8S {card}", "").refusal("12") is None


def test_no_card_follows_the_one_at_the_end_of_the_ranks() -> None:
    assert situation(find_variant("six-by-six-down"), "KS", "AS").refusal("12") is None
    assert situation(find_variant("six-by-six"), "KS", "AS").refusal("12") is Reason.WRONG_RANK
    assert situation(find_variant("six-by-six"), "AS", "6S").refusal("12") is None
    assert situation(find_variant("freecell"), "KS", "AH").refusal("12") is Reason.WRONG_RANK


@every_variant
def test_a_suit_goes_home_in_its_order(variant: Variant) -> None:
    board = situation(variant, " ".join(rank + "S" for rank in reversed(variant.home_order)), "")
    for count, rank in enumerate(variant.home_order, 1):
        assert position(board).columns[0][-1] == rank + "S"
        board = board.play("1h")
        assert (board.cards_home, position(board).homes["S"][-1]) == (count, rank + "S")
    assert board.columns[0] == b""


@every_variant
def test_a_board_is_won_when_every_card_is_home(variant: Variant) -> None:
    homes = bytes(len(variant.home_order) if suit in variant.suits else 0 for suit in "CDHS")
    bare = (b"",) * len(variant.columns)
    free = bytes((NO_CARD,)) * variant.cells
    last = next(card for card in variant.pack if variant.home_index[card] == len(variant.home_order) - 1)
    one_less = bytearray(homes)
    one_less[last & 3] -= 1
    board = Board(variant, (bytes((last,)), *bare[1:]), free, bytes(one_less), b"")
    assert not board.won
    assert board.play("1h").won
    assert board.play("1h") == Board(variant, bare, free, homes, b"")


def test_dealt_cells_hold_cards_that_can_be_played() -> None:
    variant = find_variant("eight-off")
    board = dealt_board(variant, deal(variant, 1))
    assert board.cells.count(NO_CARD) == 4
    assert board.refusal("ab") is Reason.CELL_FULL
    assert position(board.play("ae")).cells[4] == position(board).cells[0]
    assert board.refusal("1k") is None


def test_a_card_may_go_from_cell_to_free_cell() -> None:
    board = situation(find_variant("freecell"), "9S", "8S", "TS")
    assert position(board.play("ac")).cells == [None, None, "TS", None]


def test_the_reserve_is_laid_in_the_order_dealt_on_any_columns() -> None:
    variant = find_variant("marseille")
    board = dealt_board(variant, deal(variant, 1))
    first, second, third = position(board).reserve
    laid = board.play("r7").play("r2").play("r7")
    before, after_it = position(board), position(laid)
    assert after_it.columns[6] == [*before.columns[6], first, third]
    assert after_it.columns[1] == [*before.columns[1], second]
    assert after_it.reserve == []
    assert laid.refusal("r1") is Reason.EMPTY_SOURCE


@every_variant
def test_only_moves_of_the_reserve_are_legal_while_it_is_out(variant: Variant) -> None:
    legal = dealt_board(variant, deal(variant, 3)).legal_moves()
    if variant.reserve:
        assert legal == [f"r{c}" for c in range(1, 8)]
    else:
        assert "1a" in legal or variant.cells_dealt


def test_the_count_may_be_said_on_any_move_between_columns() -> None:
    board = situation(find_variant("freecell"), "9S 8H", "TH")
    assert board.refusal("12") is None
    assert board.play("12v2") == board.play("12")
    assert board.refusal("12v1") is Reason.WRONG_RANK
    assert board.refusal("12v3") is Reason.WRONG_RANK
    onto_empty = situation(find_variant("freecell"), "9S 8H", "")
    assert onto_empty.play("12") == onto_empty.play("12v1")
    assert onto_empty.play("12v2") != onto_empty.play("12")


def test_how_many_cards_a_move_carries_is_told_or_refused() -> None:
    board = situation(find_variant("freecell"), "9S 8H", "TH")
    assert [board.carried(move) for move in ("12", "12v2", "1a")] == [2, 2, 1]
    with pytest.raises(IllegalMove, match="ranks"):
        board.carried("12v1")
