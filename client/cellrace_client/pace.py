"""How fast a bot plays and how often it errs, from a beginner's pace to the fastest. Pure: chance is an argument."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from cellrace.game import Game
from cellrace.messages import MAX_MOVES
from cellrace.notation import UNDO


@dataclass(frozen=True, slots=True)
class Pace:
    """One strength: the seconds between messages, the share of turns that begin with a slip, how far that goes.

    `hesitates` is the share of turns that take several times as long; `at_once` the moves of one message.
    """

    shortest: float
    longest: float
    slips: float = 0.0
    detour: int = 1
    hesitates: float = 0.0
    at_once: int = 1


PACES: dict[int, Pace] = {
    1: Pace(2.0, 6.0, slips=0.15, detour=3, hesitates=0.10),
    2: Pace(1.0, 3.0, slips=0.08, detour=2, hesitates=0.05),
    3: Pace(0.4, 1.2, slips=0.03, hesitates=0.03),
    4: Pace(0.05, 0.2),
    5: Pace(0.0, 0.0, at_once=MAX_MOVES),
}
"""The strengths 1 to 5: a beginner, a person, a good player, a machine that can be watched, and the fastest."""

_HESITATION = 4.0
"""So many times as long takes a turn in which a bot hesitates."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message: how long to wait before it, in seconds, and the moves in it."""

    wait: float
    moves: tuple[str, ...]


def next_turns(pace: Pace, game: Game, plan: Sequence[str], chance: Random) -> list[Turn]:
    """The next messages of a player who follows a plan: its next moves, now and then after a slip taken back.

    Without undo nobody slips on purpose: what cannot be taken back could lose the game.
    """
    turns: list[Turn] = []
    if game.undo and chance.random() < pace.slips:
        turns += _slip(pace, game, plan[0], chance)
    turns.append(Turn(_wait(pace, chance), tuple(plan[: pace.at_once])))
    return turns


def _wait(pace: Pace, chance: Random) -> float:
    wait = chance.uniform(pace.shortest, pace.longest)
    return wait * _HESITATION if chance.random() < pace.hesitates else wait


def _slip(pace: Pace, game: Game, planned: str, chance: Random) -> list[Turn]:
    turns: list[Turn] = []
    back: list[Turn] = []
    for _ in range(chance.randint(1, pace.detour)):
        moves = [move for move in game.board.legal_moves() if move != planned]
        if not moves:
            break
        move = chance.choice(moves)
        game, _ = game.play(move)
        if game.won:
            break  # What wins is no slip.
        turns.append(Turn(_wait(pace, chance), (move,)))
        back.append(Turn(_wait(pace, chance), (UNDO,)))
    return turns + back
