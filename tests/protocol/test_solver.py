"""The solver: what it calls won is won by the rules, what it calls lost is lost, and it stops where it is told to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cellrace.autoplay import Autoplay, play_safe_moves
from cellrace.board import Board, dealt_board
from cellrace.cards import NO_CARD
from cellrace.deals import deal
from cellrace.game import Game
from cellrace.solver import Search, Solution, solve
from cellrace.solver.line import without_detours
from cellrace.solver.position import TO_CELL, key_of, rules_of, settled_key, split_key, step_parts
from cellrace.solver.successors import successors
from cellrace.variants import VARIANTS, Variant, find_variant
from tests.protocol.golden_cases import case_game, rule_cases
from tests.protocol.positions import built_positions, played_positions

FEW_STATES = 40_000
SLACK = 300
"""How far a search may overshoot: the positions that follow from one."""

every_variant = pytest.mark.parametrize("variant", VARIANTS.values(), ids=lambda v: v.id)


def board_of(variant_id: str, number: int) -> Board:
    variant = find_variant(variant_id)
    return dealt_board(variant, deal(variant, number))


def assert_wins(board: Board, solution: Solution) -> None:
    """Both lists of moves win by the game's own judgement, and the same cards go home."""
    by_hand, _ = Game(board, Autoplay.NONE).play_all(solution.moves)
    helped, _ = Game(board, Autoplay.SAFE).play_all(solution.safe_moves)
    assert by_hand.won
    assert helped.won
    assert len(solution.safe_moves) <= len(solution.moves)


@every_variant
def test_what_it_solves_is_won_in_both_kinds_of_game(variant: Variant) -> None:
    solved = 0
    for number in range(1, 9):
        board = dealt_board(variant, deal(variant, number))
        solution = solve(board, FEW_STATES)
        if solution is not None:
            assert_wins(board, solution)
            assert len(solution.moves) < 256
            solved += 1
    assert solved >= 4


@pytest.mark.parametrize("number", [617, 1941, 98714])
def test_published_freecell_deals_are_won(number: int) -> None:
    board = board_of("freecell", number)
    solution = solve(board)
    assert solution is not None
    assert_wins(board, solution)


def test_the_freecell_deal_that_nobody_wins_is_not_won() -> None:
    search = Search(board_of("freecell", 11982), 30_000)
    while search.advance(30_000):
        pass
    assert search.solution is None
    assert search.states <= 30_000 + SLACK


@pytest.mark.parametrize("variant_id", ["one-suit", "six-by-six"])
def test_it_calls_lost_what_trying_everything_cannot_win(variant_id: str) -> None:
    for number in range(1, 13):
        board = board_of(variant_id, number)
        search = Search(board)
        while search.advance(1000):
            pass
        assert search.lost == (search.solution is None)
        if search.lost:
            assert not can_be_won(board)


def can_be_won(board: Board) -> bool:
    """Whether a win follows, found by playing every legal move; boards that differ in the order of piles are one."""

    def name(board: Board) -> tuple[object, ...]:
        return tuple(sorted(board.columns)), bytes(sorted(board.cells)), board.homes

    boards = [board]
    known = {name(board)}
    while boards:
        board = boards.pop()
        if board.won:
            return True
        for move in board.legal_moves():
            after = board.play(move)
            if name(after) not in known:
                known.add(name(after))
                boards.append(after)
    return False


@given(st.one_of(played_positions(), built_positions()))
@settings(max_examples=150)
def test_the_steps_from_a_position_are_the_legal_moves(board: Board) -> None:
    """Its own idea of the rules and the board's lead to the same positions, of which it names each once."""
    assume(not board.reserve)
    board, _ = play_safe_moves(board)
    rules = rules_of(board.variant)
    key = key_of(rules, board)
    columns, cells, homes = split_key(key)
    columns = [column for column in columns if column]
    stepped = {
        settled_key(rules, left, in_cells, counts)
        for left, in_cells, counts, _, _ in successors(
            rules, columns, cells, homes, [run_length(rules.fits, column) for column in columns]
        )
    }
    played = {key_of(rules, board.play(move)) for move in board.legal_moves()}
    assert played - {key} == stepped - {key}


def run_length(fits: frozenset[int], column: bytes) -> int:
    length = 1
    while length < len(column) and column[-length] * 64 + column[-length - 1] in fits:
        length += 1
    return length


def test_positions_that_play_alike_have_one_key() -> None:
    board = board_of("freecell", 1).play("1a")
    turned = board._replace(columns=board.columns[::-1], cells=board.cells[::-1])
    rules = rules_of(board.variant)
    assert key_of(rules, board) == key_of(rules, turned)
    assert key_of(rules, board) != key_of(rules, board_of("freecell", 1))


@given(st.one_of(played_positions(longest=25), built_positions()))
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_it_goes_on_from_any_position(board: Board) -> None:
    solution = solve(board, 2000)
    if solution is not None:
        assert_wins(board, solution)


@pytest.mark.parametrize(
    "case",
    [case for case in rule_cases() if case["expect"].get("won")],
    ids=lambda case: str(case["case"]["variant"]),
)
def test_it_finds_a_win_from_within_games_that_others_won(case: dict[str, Any]) -> None:
    game = case_game(case["case"])
    moves = case["case"]["moves"]
    halfway, _ = game.play_all(moves[: len(moves) // 2])
    solution = solve(halfway.board)
    assert solution is not None
    assert_wins(halfway.board, solution)


def test_a_won_board_needs_no_move() -> None:
    board = board_of("one-suit", 4)
    while not board.won:
        solution = solve(board)
        assert solution is not None
        board = board.play(solution.moves[0])
    assert solve(board) == Solution((), (), 1)


def test_slices_find_what_one_search_finds() -> None:
    board = board_of("bakers-game", 2)
    search = Search(board)
    before = 0
    while search.advance(100):
        assert before + 100 <= search.states <= before + 100 + SLACK
        before = search.states
    assert search.done
    assert search.solution == solve(board)
    assert not search.advance(100), "what is done stays done"


def test_an_unfinished_search_says_nothing() -> None:
    search = Search(board_of("freecell", 1))
    assert search.advance(10)
    assert (search.solution, search.lost, search.done) == (None, False, False)


def test_the_reserve_is_laid_as_asked() -> None:
    board = board_of("marseille", 1)
    solution = solve(board, placement=(1, 1, 4))
    assert solution is not None
    assert solution.moves[:3] == ("r2", "r2", "r5")
    assert_wins(board, solution)


def test_the_reserve_is_laid_elsewhere_where_columns_1_2_3_lose() -> None:
    board = board_of("marseille", 25)
    fixed = Search(board, placement=(0, 1, 2))
    while fixed.advance(10_000):
        pass
    assert fixed.lost
    solution = solve(board)
    assert solution is not None
    assert_wins(board, solution)


def test_a_reserve_half_laid_is_laid_to_its_end() -> None:
    board = board_of("marseille", 1).play("r7")
    solution = solve(board)
    assert solution is not None
    assert [move[0] for move in solution.moves[:3]] != ["r", "r", "r"]
    assert_wins(board, solution)


def test_steps_that_a_win_can_do_without_are_left_out() -> None:
    variant = find_variant("one-suit")
    jack, queen, king = variant.pack[-3:]
    homes = bytes(10 if suit == king & 3 else 0 for suit in range(4))
    board = Board(variant, (bytes((jack, queen)), bytes((king,)), b""), bytes((NO_CARD, NO_CARD)), homes, b"")
    path = [queen << 12 | 1 << 6 | TO_CELL, queen << 12 | 1 << 6 | king]
    assert [step_parts(step) for step in path] == [(queen, 1, TO_CELL), (queen, 1, king)]
    assert len(without_detours(board, path)) == 1
