"""The commands about finished games: replay plays one back or exports it, verify checks it offline."""

from __future__ import annotations

import sys
import time
from typing import BinaryIO
from urllib.parse import quote

import click
import msgspec

from cellrace.errors import CellraceError, ErrorCode, InvalidText, Refused
from cellrace.replay import Written, notation_of, read_replay
from cellrace.verifying import Check, read_keys
from cellrace.verifying import verify as verify_replay
from cellrace_client.cli.options import (
    NO,
    can_be_drawn_on,
    lang_option,
    say,
    server_option,
    show_json,
    shows,
    symbols_option,
    wants_color,
)
from cellrace_client.cli.running import Trouble, run_to_the_end
from cellrace_client.connection import connect, server_url
from cellrace_client.connection.fetching import fetch, player_of_name
from cellrace_client.language import _, spoken
from cellrace_client.replay_files import read_whole
from cellrace_client.terminal.playback import ending, play_on_screen, play_plainly
from cellrace_client.terminal.speech import printable
from cellrace_client.tokens import TokenStore


@click.command(epilog="\b\nExample: cellrace replay r7q2mzk4v9 p3xw8c1n5t --speed 10")
@click.argument("race", required=False)
@click.argument("player", required=False)
@server_option
@click.option("--profile", help="Ask as this player of yours: for a private race. Ends a game that it plays elsewhere.")
@click.option("--file", type=click.File("rb"), help="Play the replay in this file; - is standard input.")
@click.option(
    "--speed",
    type=click.FloatRange(min=0),
    help="How many times faster than it was played; 0 without waiting.  [default: 1, without a terminal 0]",
)
@click.option("--export", type=click.Choice(["notation", "json"]), help="Print it and do not play it.")
@symbols_option
@lang_option
def replay(
    race: str | None,
    player: str | None,
    server: str,
    profile: str | None,
    file: BinaryIO | None,
    speed: float | None,
    export: str | None,
    symbols: bool,
) -> None:
    """Play a finished game back, or export it.

    RACE is the id of a race, PLAYER the id or the name of somebody who raced in it.

    \b
    cellrace replay RACE PLAYER --export json > replay.json
    cellrace replay --file replay.json --export notation
    """
    try:
        written = _find(race, player, server, profile, file)
        if export == "json":
            show_json(written.fields)
        elif export == "notation":
            _show_notation(written)
        else:
            pace = (1.0 if sys.stdout.isatty() else 0.0) if speed is None else speed
            wait = time.sleep  # Playing back takes the time that playing took.
            if can_be_drawn_on():
                play_on_screen(written.replay, pace, click.echo, wait, symbols=symbols, color=wants_color())
            else:
                play_plainly(written.replay, pace, say, wait, symbols=symbols)
    except CellraceError as error:
        raise Trouble(error) from error


def _find(race: str | None, player: str | None, server: str, profile: str | None, file: BinaryIO | None) -> Written:
    if file is not None:
        if race is not None:
            raise click.UsageError("--file takes the place of RACE and PLAYER.")
        return read_replay(_read(file))
    if race is None or player is None:
        raise click.UsageError("Name RACE and PLAYER, or --file FILE.")
    if profile is not None:
        return _ask_as(server, profile, race, player)
    try:
        return _fetch(server, race, player)
    except Refused as refused:
        if refused.code == ErrorCode.NOT_ALLOWED:
            raise Refused(
                ErrorCode.NOT_ALLOWED, "This race is private; if you were in it, name your player with --profile."
            ) from refused
        found = player_of_name(server, race, player) if refused.code == ErrorCode.NOT_ENTRANT else None
        if found is None:
            raise
        return _fetch(server, race, found)


def _fetch(server: str, race: str, player: str) -> Written:
    return read_replay(fetch(server, f"/api/v1/replays/{quote(race, safe='')}/{quote(player, safe='')}"))


def _ask_as(server: str, profile: str, race: str, player: str) -> Written:
    """The replay as one's own player gets it, over a WebSocket."""
    url = server_url(server)
    remembered = TokenStore().load(url, profile)
    if remembered is None:
        raise click.UsageError(f"There is no player of yours called {profile} on this server.")

    async def ask() -> Written:
        async with connect(url, token=remembered.token, client="cellrace replay") as connection:
            found = await connection.replay(race, player)
            return read_replay(msgspec.json.encode(found))

    return run_to_the_end(ask())


def _keys(file: BinaryIO | None, server: str | None) -> dict[str, bytes]:
    """The public keys by which a signature is checked. Raises CellraceError."""
    if server is not None:
        return read_keys(fetch(server, "/api/v1/keys"))
    try:
        return read_keys(_read(file)) if file is not None else {}
    except InvalidText as unreadable:
        raise click.UsageError(printable(f"--key: {unreadable}")) from unreadable


def _read(file: BinaryIO) -> bytes:
    try:
        return read_whole(file)
    except OSError as error:
        raise click.UsageError(f"The file cannot be read: {error.strerror}.") from error


def _show_notation(written: Written) -> None:
    replay = written.replay
    if replay.moves:
        click.echo(_printable_lines(notation_of(replay)))
    told = _("{game}, deal {deal}, autoplay {autoplay}").format(
        game=replay.variant, deal=replay.deal, autoplay=str(replay.autoplay)
    )
    if replay.placement == "fixed":
        told = _("{told}, placement fixed").format(told=told)
    click.echo(printable(f"# {ending(replay)} {told}"))


def _printable_lines(text: str) -> str:
    """Lines of which a terminal obeys nothing."""
    return "\n".join(map(printable, text.splitlines()))


@click.command(epilog="\b\nExample: cellrace verify replay.json --key server.key")
@click.argument("file", type=click.File("rb"))
@click.option("--key", type=click.File("rb"), help="The server's public key in base64, or what /api/v1/keys answers.")
@click.option(
    "--server",
    metavar="ADDRESS",
    help="Ask this server for its public keys: not offline, and as far as you trust it now.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@lang_option
def verify(file: BinaryIO, key: BinaryIO | None, server: str | None, as_json: bool) -> None:
    """Check a replay offline: commitment, deal, every move, the result, the signature.

    FILE holds a replay as JSON, as the server or --export gives it; - is standard input. The exit status is 0 only when
    all holds. Without --key or --server the signature cannot be checked, so not all does.
    """
    if key is not None and server is not None:
        raise click.UsageError("The keys come from --key or from --server.")
    try:
        keys = _keys(key, server)
    except CellraceError as error:
        raise Trouble(error) from error
    try:
        checks = verify_replay(_read(file), keys, spoken())
    except InvalidText as unreadable:
        checks = (Check("form", False, str(unreadable)),)
    holds = all(check.holds for check in checks)
    if as_json:
        told = [{"name": check.name, "holds": check.holds, "sentence": check.sentence} for check in checks]
        show_json({"verified": holds, "checks": told})
    else:
        yes, no = ("✓", "✗") if sys.stdout.isatty() and shows("✓✗") else ("ok", "FAILED")
        for check in checks:
            click.echo(f"{yes if check.holds else no:<{len(no)}} {check.name:<10} {printable(check.sentence)}")
        click.echo(_("The replay is verified.") if holds else _("The replay is not verified."))
    if not holds:
        raise click.exceptions.Exit(NO)
