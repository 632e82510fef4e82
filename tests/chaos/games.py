"""What a racer plays: a solved game, here and there with a way round, cut into messages."""

from __future__ import annotations

from functools import cache
from random import Random

from cellrace.board import dealt_board
from cellrace.deals import deal
from cellrace.game import Game
from cellrace.solver import solve
from cellrace.variants import find_variant
from cellrace_server.stock import load_stock

VARIANTS = ("one-suit", "two-suit", "six-by-six", "bakers-game", "relaxed", "marseille")

Message = tuple[int, list[str]]
"""A seq and the moves from there on."""


def first_game(variant: str, number: int) -> Game:
    """A game of a deal without entries, under the default settings."""
    found = find_variant(variant)
    return Game(dealt_board(found, deal(found, number)))


class Plan:
    """All that a racer will play in a race: `entries`, cut into `messages`, and how it shall `end`."""

    def __init__(self, variant: str, number: int, chance: Random, end: str) -> None:
        self.end = end
        solution = _solution(variant, number)
        if end != "won":
            solution = solution[: chance.randrange(len(solution))]
        game = first_game(variant, number)
        self.entries: list[str] = []
        for move in solution:
            if chance.random() < 0.05 and game.board.legal_moves():
                # A way round, and back: `u` takes it back with all that went home after it.
                aside = chance.choice(game.board.legal_moves())
                if not game.play(aside)[0].won:
                    game, _ = game.play_all([aside, "u"])
                    self.entries += [aside, "u"]
            game, _ = game.play(move)
            self.entries.append(move)
        self.messages: list[Message] = []
        seq = 0
        while seq < len(self.entries):
            size = chance.choice([1, 1, 1, 2, 3, 5])
            self.messages.append((seq, self.entries[seq : seq + size]))
            seq += len(self.messages[-1][1])

    def has(self, seq: int, moves: list[str]) -> bool:
        """Whether these entries are played from there on."""
        return self.entries[seq : seq + len(moves)] == moves

    def place(self, kept: list[str]) -> int | None:
        """Where to go on when this is on record; None when it is not what this plan has played."""
        if kept != self.entries[: len(kept)]:
            return None
        for place, (seq, _) in enumerate(self.messages):
            if seq == len(kept):
                return place
        return len(self.messages) if len(kept) == len(self.entries) else None


@cache
def _numbers(variant: str) -> dict[int, int]:
    stock = load_stock(variant)
    assert stock.packed is not None
    return {number: place for place, number in enumerate(stock.packed.numbers)}


def _solution(variant: str, number: int) -> list[str]:
    packed = load_stock(variant).packed
    assert packed is not None
    place = _numbers(variant).get(number)
    if place is not None:
        return list(packed.moves(place))
    # In a long run the same few players have had nearly all of the stock, and the server has proved more.
    solution = solve(first_game(variant, number).board)
    assert solution is not None, f"{variant} {number} was drawn and cannot be won"
    return list(solution.safe_moves)
