"""What several commands take and show in the same way."""

from __future__ import annotations

import os
import sys

import click

from cellrace.board import Board
from cellrace.deals import LAST_DEAL
from cellrace.variants import VARIANTS
from cellrace_client.terminal.board_lines import board_lines

NO = 1
"""The exit status of a command whose answer is no."""

DEFAULT_SERVER = "ws://localhost:8765/ws"

DEAL_NUMBER = click.IntRange(1, LAST_DEAL)


VARIANT = click.Choice(tuple(VARIANTS))
"""A game by its id."""


def wants_color() -> bool:
    """Whether what is printed may be in colour."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def show_board(board: Board, *, symbols: bool) -> None:
    """Print a board, in colour where that is wanted."""
    click.echo("\n".join(board_lines(board, symbols=symbols, color=wants_color())))


def show_json(value: object) -> None:
    """Print a value as one line of JSON."""
    # Imported here: most commands print for people.
    import msgspec

    click.echo(msgspec.json.encode(value).decode())
