"""The commands about a single deal or game: deal, solve, rules."""

from __future__ import annotations

import shutil
import textwrap
from typing import TextIO, cast

import click

from cellrace.autoplay import Autoplay
from cellrace.board import dealt_board
from cellrace.deals import deal as deal_layout
from cellrace.messages.boards import board_map
from cellrace.notation import moves_text
from cellrace.rules_text import rules_paragraphs
from cellrace.solver import DEFAULT_STATES, Search
from cellrace.variants import VARIANTS, find_variant
from cellrace_client.cli.board_input import read_board
from cellrace_client.cli.options import (
    AUTOPLAY,
    DEAL_NUMBER,
    NO,
    VARIANT,
    lang_option,
    show_board,
    show_json,
    symbols_option,
)
from cellrace_client.language import _, n_, spoken

_SLICE = 2_000
"""How many states are searched between two looks at Ctrl-C."""
_WIDEST = 88
"""Characters of a line of the rules: in longer ones the eye loses its way back."""


@click.command()
@click.argument("game", type=VARIANT, metavar="VARIANT")
@click.argument("number", type=DEAL_NUMBER)
@click.option("--json", "as_json", is_flag=True, help="Print the board as JSON, as the wire protocol has it.")
@symbols_option
@lang_option
def deal(game: str, number: int, as_json: bool, symbols: bool) -> None:
    """Print the board of a deal.

    VARIANT is the id of a game; cellrace rules names them all. Deals are numbered as Microsoft's are, from 1 to
    8589934591.

    \b
    cellrace deal freecell 617
    """
    variant = find_variant(game)
    board = dealt_board(variant, deal_layout(variant, number))
    if as_json:
        shown = board_map(board)
        show_json(
            {
                "variant": variant.id,
                "deal": number,
                "columns": shown.columns,
                "cells": shown.cells,
                "homes": shown.homes,
                "reserve": shown.reserve,
            }
        )
        return
    click.echo(_("{game}, deal {deal}").format(game=_(variant.name), deal=number) + "\n")
    show_board(board, symbols=symbols)


@click.command()
@click.argument("game", type=VARIANT, metavar="VARIANT")
@click.argument("number", type=DEAL_NUMBER, required=False)
@click.option("--board", type=click.File(encoding="utf-8"), help="Solve the board in this file; - is standard input.")
@click.option(
    "--max-states",
    type=click.IntRange(min=1),
    default=DEFAULT_STATES,
    show_default=True,
    help="Give up after so many positions.",
)
@click.option(
    "--autoplay",
    type=AUTOPLAY,
    default=Autoplay.NONE.value,
    show_default=True,
    help="What goes home by itself after each move, as it does in a race.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@lang_option
def solve(game: str, number: int | None, board: TextIO | None, max_states: int, autoplay: str, as_json: bool) -> None:
    """Find a way to win a deal, or from a board.

    Prints the moves in the field's notation, ten to a line. The exit status is 1 when no way was found. A board is read
    as check reads it.

    \b
    cellrace solve freecell 617
    cellrace solve freecell 617 | cellrace check --deal 617 --moves -
    cellrace deal freecell 617 | cellrace solve freecell --board -
    """
    variant = find_variant(game)
    if (number is None) == (board is None):
        raise click.UsageError("Name what to solve: a deal's NUMBER or --board FILE.")
    if board is not None:
        start = read_board(board, variant, named=True)
    else:
        start = dealt_board(variant, deal_layout(variant, cast(int, number)))
    search = Search(start, max_states)
    while search.advance(_SLICE):
        pass
    solution = search.solution
    moves: tuple[str, ...] = ()
    if solution is not None:
        moves = solution.safe_moves if autoplay == Autoplay.SAFE else solution.moves
    if as_json:
        show_json(
            {
                "variant": variant.id,
                "deal": number,
                "solved": solution is not None,
                "lost": search.lost,
                "moves": moves,
                "states": search.states,
            }
        )
    elif solution is not None:
        click.echo(moves_text(moves))
        count = len(moves)
        told = n_("{count} move, found among {states} states", "{count} moves, found among {states} states", count)
        click.echo("# " + told.format(count=count, states=search.states))
    else:
        told = (
            _("This deal cannot be won: all {states} states that can follow were searched.")
            if search.lost
            else _("No way to win was found among {states} states; --max-states allows more.")
        )
        click.echo("# " + told.format(states=search.states))
    if solution is None:
        raise click.exceptions.Exit(NO)


@click.command()
@click.argument("game", type=VARIANT, metavar="[VARIANT]", default="freecell")
@lang_option
def rules(game: str) -> None:
    """Tell a game's rules in plain words.

    Without a game: those of FreeCell, and the names of the other games.

    \b
    cellrace rules six-by-six
    """
    variant = find_variant(game)
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    for title, text in rules_paragraphs(variant, spoken()):
        click.echo(title)
        click.echo(textwrap.fill(text, width, initial_indent="  ", subsequent_indent="  "))
    others = ", ".join(name for name in VARIANTS if name != variant.id)
    click.echo(_("Other games"))
    click.echo(textwrap.fill(others, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False))
