"""Solved games: from the golden file, and from the stock that is shipped."""

from __future__ import annotations

from pathlib import Path

from cellrace_server.stock import load_stock

GOLDEN = Path(__file__).parent.parent / "golden" / "solved_games.txt"


def golden_game(variant: str, deal: int, autoplay: str) -> list[str]:
    """The moves that win a deal, from the golden file."""
    lines = iter(GOLDEN.read_text().splitlines())
    for line in lines:
        if line == f"{variant} {deal} {autoplay}":
            moves: list[str] = []
            for row in lines:
                if not row:
                    break
                moves += row.split()
            return moves
    raise LookupError(f"{variant} {deal} {autoplay} is not in {GOLDEN.name}")


def stocked_game(variant: str, deal: int) -> list[str]:
    """The moves that win a deal of the stock where cards go home by themselves as is safe."""
    stock = load_stock(variant)
    assert stock.packed is not None
    return list(stock.packed.moves(stock.packed.numbers.index(deal)))
