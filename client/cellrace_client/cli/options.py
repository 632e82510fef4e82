"""What several commands take and show in the same way."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import date
from typing import TypeVar

import click
from click.core import ParameterSource

from cellrace.autoplay import Autoplay
from cellrace.board import Board
from cellrace.deals import LAST_DEAL
from cellrace.variants import VARIANTS
from cellrace_client.language import LANGUAGES, speak
from cellrace_client.terminal.board_lines import board_lines
from cellrace_client.terminal.speech import folded, printable

F = TypeVar("F", bound=Callable[..., object])

NO = 1
"""The exit status of a command whose answer is no."""

DEFAULT_SERVER = "ws://localhost:8765/ws"

DEAL_NUMBER = click.IntRange(1, LAST_DEAL)

VARIANT = click.Choice(tuple(VARIANTS))
"""A game by its id; it takes a metavar beside it, as a list of all of them is longer than a line."""

AUTOPLAY = click.Choice([autoplay.value for autoplay in Autoplay])

plain_option = click.option(
    "--plain", is_flag=True, help="Plain lines: for a pipe, a dumb terminal or a screen reader."
)
symbols_option = click.option("--symbols", is_flag=True, help="Draw suits as ♣♦♥♠.")
name_option = click.option("--name", help="Your name: for a new player, or to take another one.")


def checked_date(ctx: click.Context, param: click.Parameter, text: str | None) -> str | None:
    """What an option for a day was given, as the protocol writes it. Raises UsageError."""
    try:
        right = text is None or date.fromisoformat(text).isoformat() == text  # Python reads other forms as well.
    except ValueError:
        right = False
    if text is not None and not right:
        raise click.UsageError(f"--{param.name}: {printable(text)} is no date; write it as YYYY-MM-DD.", ctx)
    return text


def checked_store_url(ctx: click.Context, param: click.Parameter, url: str | None) -> str | None:  # noqa: ARG001 - click calls it with this
    """The URL of a store as it was given: one that can name a store. Raises UsageError."""
    # Imported here: most commands know no store.
    from cellrace_server.store.connect import check_url
    from cellrace_server.store.errors import StoreUnfit

    try:
        return None if url is None else check_url(url)
    except StoreUnfit as wrong:
        raise click.BadParameter(str(wrong)) from None


def _speak(ctx: click.Context, param: click.Parameter, lang: str | None) -> None:  # noqa: ARG001 - click calls it with this
    if lang is not None:
        speak(lang)


def variant_option(function: F) -> F:
    """The option that says which game."""
    return click.option(
        "--variant",
        type=VARIANT,
        metavar="VARIANT",
        default="freecell",
        show_default=True,
        help="The game; cellrace rules names them all.",
    )(function)


def server_option(function: F) -> F:
    """The option that says which server."""
    return click.option(
        "--server",
        default=DEFAULT_SERVER,
        envvar="CELLRACE_SERVER",
        show_default=True,
        metavar="ADDRESS",
        help="The server: a host, HOST:PORT, or a URL.",
    )(function)


def lang_option(function: F) -> F:
    """The option by which a person chooses a language other than the locale's."""
    return click.option(
        "--lang",
        type=click.Choice(tuple(LANGUAGES)),
        callback=_speak,
        # Before the other options, so that what is said of them is in this language too.
        is_eager=True,
        expose_value=False,
        help="Speak this language.  [default: the locale's]",
    )(function)


def is_default(parameter: str) -> bool:
    """Whether nobody has said anything about a parameter of the command that runs."""
    return click.get_current_context().get_parameter_source(parameter) is ParameterSource.DEFAULT


def wants_color() -> bool:
    """Whether what is printed may be in colour."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def shows(signs: str) -> bool:
    """Whether these signs can be printed: by a locale's encoding that lacks them, all would be one question mark."""
    try:
        signs.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return False
    return True


def can_be_drawn_on() -> bool:
    """Whether there is a terminal that obeys more than the end of a line."""
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def can_be_full_screen() -> bool:
    """Whether there is a terminal on both ends that can be drawn on."""
    return sys.stdin.isatty() and can_be_drawn_on()


def say(*sentences: str) -> None:
    """Print sentences, with nothing in them that a terminal would obey, each broken where its line ends."""
    # Imported here: most commands wait for nobody.
    from cellrace_client.terminal.typed_lines import terminal_width

    width = terminal_width()
    for sentence in sentences:
        for line in folded(printable(sentence), width):
            click.echo(line)


def show_board(board: Board, *, symbols: bool) -> None:
    """Print a board, in colour where that is wanted."""
    click.echo("\n".join(board_lines(board, symbols=symbols, color=wants_color())))


def show_json(value: object) -> None:
    """Print a value as one line of JSON; of what a terminal would obey, the escape of JSON."""
    # Imported here: most commands print for people.
    import msgspec

    text = msgspec.json.encode(value).decode()
    # Outside its strings there is nothing that cannot be printed.
    click.echo("".join(char if char.isprintable() else _json_escape(char) for char in text))


def _json_escape(char: str) -> str:
    units = char.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
