"""Games: the log of one entrant, what it counts, and what can be taken back."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellrace.autoplay import Autoplay
from cellrace.board import Board, dealt_board
from cellrace.deals import deal
from cellrace.errors import IllegalMove, Reason
from cellrace.game import LOG_LIMIT, Game
from cellrace.variants import VARIANTS, Variant, find_variant
from tests.protocol.golden_cases import case_game, rule_cases
from tests.protocol.positions import deal_numbers, variants
from tests.protocol.slow_rules import Position, after, autoplay, position

FREECELL = find_variant("freecell")
SOLVED = [case for case in rule_cases() if case["expect"].get("won")]
every_variant = pytest.mark.parametrize("variant", VARIANTS.values(), ids=lambda v: v.id)


def dealt_game(variant: Variant, number: int = 1, autoplay: Autoplay = Autoplay.NONE, undo: bool = True) -> Game:
    """A game at its start."""
    return Game(dealt_board(variant, deal(variant, number)), autoplay, undo)


def refused(game: Game, move: str, log_limit: int = LOG_LIMIT) -> Reason:
    """The reason of a refusal."""
    with pytest.raises(IllegalMove) as illegal:
        game.play(move, log_limit=log_limit)
    return illegal.value.reason


def won_game(variant: Variant) -> Game:
    """A game of which every card is home."""
    full = len(variant.home_order)
    homes = bytes(full if suit in variant.suits else 0 for suit in "CDHS")
    return Game(Board(variant, (b"",) * len(variant.columns), b"\x34" * variant.cells, homes, b""))


@pytest.mark.parametrize("case", SOLVED, ids=lambda case: f"{case['case']['variant']} {case['case'].get('deal', '')}")
def test_solved_games_of_other_programs_replay_to_a_win(case: dict[str, Any]) -> None:
    game, steps = case_game(case["case"]).play_all(case["case"]["moves"])
    assert game.won
    assert game.board.cards_home == game.board.variant.pack_size
    assert steps == [[move] for move in case["case"]["moves"]]
    assert game.seq == len(steps)
    assert game.moves == sum(step[0][0] != "r" for step in steps)


def test_there_are_solved_games_for_every_variant() -> None:
    assert {case["case"]["variant"] for case in SOLVED} == set(VARIANTS)


@every_variant
def test_after_a_win_every_entry_is_refused_as_already_won(variant: Variant) -> None:
    game = won_game(variant)
    for move in ("1a", "u", "nonsense", "r1", "0k"):
        assert refused(game, move) is Reason.ALREADY_WON
    assert refused(game, "1a", log_limit=0) is Reason.ALREADY_WON


@every_variant
def test_a_full_log_takes_no_entry_not_even_an_undo(variant: Variant) -> None:
    game = dealt_game(variant, 2)
    game, _ = game.play(game.board.legal_moves()[0])
    for move in ("u", "1a", "nonsense"):
        assert refused(game, move, log_limit=1) is Reason.LOG_FULL
    assert game.play("u", log_limit=2)[0].seq == 2


def test_a_log_holds_20000_entries() -> None:
    game = dealt_game(FREECELL)
    for _ in range(10_000):
        game, _ = game.play("1a")
        game, _ = game.play("u")
    assert game.seq == LOG_LIMIT == 20_000
    assert refused(game, "1a") is Reason.LOG_FULL


@every_variant
def test_undo_can_be_off_and_needs_something_to_take_back(variant: Variant) -> None:
    assert refused(dealt_game(variant), "u") is Reason.NOTHING_TO_UNDO
    assert refused(dealt_game(variant, undo=False), "u") is Reason.UNDO_OFF
    game = dealt_game(variant, 2)
    game, _ = game.play(game.board.legal_moves()[0])
    game, _ = game.play("u")
    assert refused(game, "u") is Reason.NOTHING_TO_UNDO, "there is no redo, and an undo is not undone"


def test_undo_takes_back_a_move_with_all_that_went_home_after_it() -> None:
    start = dealt_game(FREECELL, 1, Autoplay.SAFE)
    game, step = start.play("5a")
    assert step == ["5a"]
    game, _ = game.play("5b")
    game, _ = game.play("5c")
    before = game
    game, step = game.play("5d")
    assert step == ["5d", "5h"], "the ace of diamonds goes home by itself"
    assert game.board.cards_home == 1
    game, step = game.play("u")
    assert step == ["u"], "nothing goes home after an undo"
    assert game.board == before.board
    assert (game.seq, game.moves, game.undos) == (5, 4, 1)


def test_undo_goes_back_entry_by_entry_and_play_goes_on_from_there() -> None:
    game, _ = dealt_game(FREECELL).play_all(["1a", "2b", "u", "3b", "u", "u"])
    assert game.board == dealt_game(FREECELL).board
    assert (game.seq, game.moves, game.undos) == (6, 3, 3)
    assert refused(game, "u") is Reason.NOTHING_TO_UNDO
    game, _ = game.play_all(["4c", "u", "4d"])
    assert game.board == dealt_game(FREECELL).play("4d")[0].board


def test_laying_the_reserve_is_on_the_log_and_can_be_undone_but_counts_as_no_move() -> None:
    start = dealt_game(find_variant("marseille"))
    game, _ = start.play_all(["r1", "r1"])
    assert (game.seq, game.moves, game.undos) == (2, 0, 0)
    game, _ = game.play_all(["u", "u"])
    assert game.board == start.board
    assert (game.seq, game.moves, game.undos) == (4, 0, 2)


def test_a_reserve_laid_by_the_settings_cannot_be_undone() -> None:
    marseille = find_variant("marseille")
    game = Game(dealt_board(marseille, deal(marseille, 1), laid=True))
    assert refused(game, "u") is Reason.NOTHING_TO_UNDO
    assert refused(game, "r1") is Reason.EMPTY_SOURCE


def test_what_is_safe_waits_for_the_last_card_of_the_reserve() -> None:
    marseille = find_variant("marseille")
    for number in range(1, 200):
        game = dealt_game(marseille, number, Autoplay.SAFE)
        game, first = game.play("r1")
        game, second = game.play("r1")
        game, third = game.play("r1")
        assert (first, second) == (["r1"], ["r1"])
        if third != ["r1"]:
            return
    raise AssertionError("some deal must have sent a card home")


def test_a_message_is_played_whole_or_refused_with_the_place_of_the_first_illegal_move() -> None:
    game = dealt_game(FREECELL)
    with pytest.raises(IllegalMove) as illegal:
        game.play_all(["1a", "2b", "zz", "1h"])
    assert (illegal.value.index, illegal.value.move, illegal.value.reason) == (2, "zz", Reason.BAD_NOTATION)
    assert (game.seq, game.board) == (0, dealt_game(FREECELL).board)


def test_undo_itself_is_refused_with_its_place() -> None:
    with pytest.raises(IllegalMove) as illegal:
        dealt_game(FREECELL).play_all(["1a", "u", "u"])
    assert (illegal.value.index, illegal.value.move) == (2, "u")


@settings(max_examples=150)
@given(variants, deal_numbers, st.sampled_from(Autoplay), st.integers(0, 2**32))
def test_any_game_is_what_a_list_of_slow_positions_says(
    variant: Variant, number: int, mode: Autoplay, seed: int
) -> None:
    choices = random.Random(seed)
    game = dealt_game(variant, number, mode)
    slow = position(game.board)
    past: list[Position] = []
    log: list[str] = []
    for _ in range(60):
        legal = game.board.legal_moves() if not game.won else []
        entries = [*legal, *(["u"] * (1 + len(legal) // 4) if past and not game.won else [])]
        if not entries:
            break
        entry = choices.choice(entries)
        game, step = game.play(entry)
        log.append(entry)
        if entry == "u":
            slow = past.pop()
            expected: list[str] = []
        else:
            past.append(slow)
            slow = after(slow, entry)
            slow, expected = autoplay(slow) if mode is Autoplay.SAFE else (slow, [])
        assert step == [entry, *expected]
        assert position(game.board) == slow
    assert game.seq == len(log)
    assert game.undos == log.count("u")
    assert game.moves == sum(entry != "u" and entry[0] != "r" for entry in log)
    assert dealt_game(variant, number, mode).play_all(log)[0] == game
