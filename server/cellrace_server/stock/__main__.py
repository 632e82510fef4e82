"""Makes and checks the stock of proved deals."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import perf_counter

import click

from cellrace.autoplay import Autoplay
from cellrace.board import dealt_board
from cellrace.deals import deal
from cellrace.errors import IllegalMove
from cellrace.game import Game
from cellrace.variants import VARIANTS, find_variant
from cellrace_server.stock import PUBLISHED, load_stock
from cellrace_server.stock.making import make_proofs
from cellrace_server.stock.packing import write_stock

_STOCKED = tuple(variant_id for variant_id in VARIANTS if variant_id not in PUBLISHED)
_variant_option = click.option(
    "--variant", "variant_ids", multiple=True, type=click.Choice(_STOCKED), help="Only this game; may be repeated."
)


@click.group(help=__doc__)
def main() -> None:
    """The commands' common root."""


@main.command()
@_variant_option
@click.option("--count", default=2000, show_default=True, type=click.IntRange(1), help="How many deals of each game.")
@click.option("--seed", default=1, show_default=True, help="Which numbers are drawn: the same seed, the same stock.")
@click.option("--processes", default=os.cpu_count() or 1, show_default="one a core", type=click.IntRange(1))
@click.option(
    "--directory",
    default=Path(__file__).parent,
    show_default="the package",
    type=click.Path(exists=True, file_okay=False, writable=True, path_type=Path),
)
def make(variant_ids: tuple[str, ...], count: int, seed: int, processes: int, directory: Path) -> None:
    """Search for winnable deals and write them with their proofs, one file a game."""
    for variant_id in variant_ids or _STOCKED:
        begin = perf_counter()

        def report(proved: int, tried: int, name: str = variant_id, begin: float = begin) -> None:
            if tried % 50 == 0 or proved == count:
                line = f"{name}: {proved} of {count} proved, {tried} tried, {perf_counter() - begin:.0f} s"
                click.echo(f"\r{line}", err=True, nl=False)

        proofs = make_proofs(find_variant(variant_id), count, seed, processes, report)
        click.echo(err=True)
        path = directory / f"{variant_id}.bin"
        part = path.with_suffix(".part")
        part.write_bytes(write_stock(proofs))
        part.replace(path)


@main.command()
@_variant_option
def check(variant_ids: tuple[str, ...]) -> None:
    """Play every proof of the stock; exit status 1 when one does not win."""
    for variant_id in variant_ids or _STOCKED:
        stock = load_stock(variant_id)
        for number in stock.numbers:
            board = dealt_board(stock.variant, deal(stock.variant, number))
            try:
                game, _ = Game(board, Autoplay.NONE).play_all(stock.proof(number) or ())
            except IllegalMove as refused:
                sys.exit(f"{variant_id} {number}: {refused.move}: {refused}")
            if not game.won:
                sys.exit(f"{variant_id} {number}: the proof does not win")
        click.echo(f"{variant_id}: {len(stock.numbers)} proofs win")


if __name__ == "__main__":
    main()
