"""Runs the full-screen client on a terminal."""

from __future__ import annotations

import os
import sys

from cellrace_client.connection import Connection
from cellrace_client.terminal.app.app import CellraceApp, Outcome
from cellrace_client.terminal.app.deck import DECKS
from cellrace_client.terminal.app.desk import Taste


def taste_for(deck: str | None, *, letters: bool) -> Taste:
    """What was chosen, or what the terminal and NO_COLOR ask for."""
    colorless = bool(os.environ.get("NO_COLOR"))
    chosen = DECKS[deck] if deck else DECKS["none"] if colorless else next(iter(DECKS.values()))
    return Taste(deck=chosen, letters=letters or not _shows_suits(sys.stdout.encoding))


def _shows_suits(encoding: str | None) -> bool:
    try:
        "♣♦♥♠".encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


async def play_full_screen(connection: Connection, race: str | None, taste: Taste, *, lasting: bool = True) -> Outcome:
    """Plays until the player leaves, or wants to connect again; `lasting`: the server is still there afterwards."""
    app = CellraceApp(connection, race=race, taste=taste, lasting=lasting)
    try:
        outcome = await app.run_async()
    finally:
        await app.desk.close()
    if app.return_code:
        return Outcome.FAILED
    return outcome or Outcome.LEFT
