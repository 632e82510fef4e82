"""A bot's pace: by chance, but never at the cost of the game."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellrace.autoplay import Autoplay
from cellrace.board import dealt_board
from cellrace.deals import deal
from cellrace.game import Game
from cellrace.solver import solve
from cellrace.variants import find_variant
from cellrace_client.pace import PACES, next_turns


def a_game(variant_id: str, number: int, *, undo: bool = True) -> Game:
    """A game at its beginning."""
    variant = find_variant(variant_id)
    return Game(dealt_board(variant, deal(variant, number)), Autoplay.SAFE, undo)


def a_plan(game: Game) -> tuple[str, ...]:
    """A way to win it."""
    solution = solve(game.board)
    assert solution is not None
    return solution.safe_moves


GAMES = {variant: a_game(variant, 1) for variant in ("six-by-six", "two-suit", "marseille")}
PLANS = {variant: a_plan(game) for variant, game in GAMES.items()}


@given(st.sampled_from(sorted(GAMES)), st.sampled_from(sorted(PACES)), st.integers(0, 2**32))
def test_whoever_follows_the_turns_wins(variant: str, strength: int, seed: int) -> None:
    """Slips are taken back: after all turns of all the plan, the game is won, whatever chance did."""
    game, plan, chance = GAMES[variant], PLANS[variant], Random(seed)
    pace = PACES[strength]
    while plan and not game.won:
        turns = next_turns(pace, game, plan, chance)
        for turn in turns:
            assert turn.wait >= 0
            assert 1 <= len(turn.moves) <= 64
            game, _ = game.play_all(turn.moves)
        plan = plan[len(turns[-1].moves) :]
    assert game.won


@pytest.mark.parametrize("strength", [1, 2, 3])
def test_the_same_seed_makes_the_same_choices(strength: int) -> None:
    """A bot's evening can be had again."""
    game, plan = GAMES["six-by-six"], PLANS["six-by-six"]
    evenings = [
        [next_turns(PACES[strength], game, plan, chance) for _ in range(50)] for chance in (Random(7), Random(7))
    ]
    assert evenings[0] == evenings[1]
    assert any(len(turns) > 1 for turns in evenings[0]), "somewhere in fifty turns there is a slip"


def test_stronger_is_faster_and_errs_less() -> None:
    """Each strength waits less than the one before, and slips no more often."""
    paces = [PACES[strength] for strength in sorted(PACES)]
    assert sorted(PACES) == [1, 2, 3, 4, 5]
    for slower, faster in pairwise(paces):
        assert faster.longest < slower.longest
        assert faster.slips <= slower.slips


def test_the_fastest_sends_sixty_four_at_once_without_a_pause() -> None:
    """Strength 5 is bound by the protocol alone."""
    (turn,) = next_turns(PACES[5], GAMES["six-by-six"], ("1a",) * 100, Random(1))
    assert (turn.wait, len(turn.moves)) == (0.0, 64)


def test_without_undo_nobody_slips() -> None:
    """What cannot be taken back is not tried."""
    game = a_game("six-by-six", 1, undo=False)
    plan = PLANS["six-by-six"]
    chance = Random(3)
    assert all(len(next_turns(PACES[1], game, plan, chance)) == 1 for _ in range(200))
