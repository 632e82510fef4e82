"""How fast each game's rules are, beside a bare loop that copies a board of the same size."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable
from time import process_time

from cellrace.board import Board, dealt_board
from cellrace.deals import deal
from cellrace.errors import IllegalMove
from cellrace.notation import MOVES
from cellrace.variants import VARIANTS, Variant

ROUNDS = 7
GAMES = 40
MOVES_A_GAME = 80

Walk = list[tuple[Board, str]]


def random_walks(variant: Variant, source: random.Random) -> Walk:
    """Positions of random games, each with a legal move from it."""
    walk: Walk = []
    for number in range(1, GAMES + 1):
        board = dealt_board(variant, deal(variant, number))
        for _ in range(MOVES_A_GAME):
            moves = board.legal_moves()
            if not moves:
                break
            walk.append((board, source.choice(moves)))
            board = board.play(walk[-1][1])
    return walk


def illegal_moves(walk: Walk, source: random.Random) -> Walk:
    """The same positions, each with a well-formed illegal move."""
    spellings = list(MOVES)
    illegal: Walk = []
    for board, _ in walk:
        move = source.choice(spellings)
        while board.refusal(move) is None:
            move = source.choice(spellings)
        illegal.append((board, move))
    return illegal


def per_second(loop: Callable[[], None], count: int) -> float:
    """The median rate of a loop that does a thing `count` times."""
    rates = []
    for _ in range(ROUNDS):
        begin = process_time()
        loop()
        rates.append(count / (process_time() - begin))
    return statistics.median(rates)


def measure(variant: Variant) -> list[float]:
    """Rates a second: copy, check, play, refuse; and a deal in µs."""
    source = random.Random(variant.id)
    walk = random_walks(variant, source)
    illegal = illegal_moves(walk, source)

    def copy() -> None:
        for board, _ in walk:
            columns = list(board.columns)
            tuple.__new__(Board, (variant, tuple(columns), board.cells, board.homes, board.reserve))

    def check() -> None:
        for board, move in walk:
            board.refusal(move)

    def play() -> None:
        for board, move in walk:
            board.play(move)

    def refuse() -> None:
        for board, move in illegal:
            board.refusal(move)

    def deals() -> None:
        for number in range(1, 1001):
            deal(variant, number)

    for board, move in walk:
        assert board.refusal(move) is None
    try:
        illegal[0][0].play(illegal[0][1])
        raise AssertionError("an illegal move was played")
    except IllegalMove:
        pass
    rates = [per_second(loop, len(walk)) for loop in (copy, check, play, refuse)]
    return [*rates, 1e6 / per_second(deals, 1000)]


def main() -> None:
    """Print one row a variant."""
    rates = "".join(f"{name + '/s':>12}" for name in ("copy", "check", "play", "refuse"))
    print(f"{'variant':<16}{rates}{'deal µs':>9}   check/copy  play/copy")
    for variant in VARIANTS.values():
        copy, check, play, refuse, microseconds = measure(variant)
        print(
            f"{variant.id:<16}{copy:>12,.0f}{check:>12,.0f}{play:>12,.0f}{refuse:>12,.0f}{microseconds:>9.1f}"
            f"{check / copy:>13.2f}{play / copy:>11.2f}"
        )


if __name__ == "__main__":
    main()
