"""Runs the full-screen client on a terminal."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence

from cellrace_client.connection import Connection
from cellrace_client.terminal.app.app import CellraceApp, Outcome
from cellrace_client.terminal.app.deck import DECKS
from cellrace_client.terminal.app.desk import FirstScreen, Rename, Taste
from cellrace_client.terminal.app.liking import Liking, LikingStore
from cellrace_client.terminal.hangup import end_with_terminal


def taste_for(deck: str | None, *, letters: bool | None, store: LikingStore | None = None) -> Taste:
    """What was chosen, or what is liked and kept, or what the terminal and NO_COLOR ask for."""
    liking = store.load() if store is not None else Liking()
    # What NO_COLOR asks for holds wherever nothing else is said just now.
    deck = deck or ("none" if os.environ.get("NO_COLOR") else liking.deck)
    suits = _shows_suits(sys.stdout.encoding)
    wants_letters = liking.letters if letters is None else letters
    return Taste(DECKS[deck], letters=wants_letters or not suits, steps=liking.steps, suits=suits, store=store)


def _shows_suits(encoding: str | None) -> bool:
    try:
        "♣♦♥♠".encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


async def play_full_screen(
    connection: Connection,
    race: str | None,
    taste: Taste,
    *,
    lasting: bool = True,
    rename: Rename | None = None,
    told: Sequence[str] = (),
    first: FirstScreen | None = None,
) -> Outcome:
    """Plays until the player leaves, or wants to connect again; `lasting`: the server is still there afterwards.

    `rename` takes another name where that is kept elsewhere too; `told` is said first; `first` is shown over the lobby.
    """
    app = CellraceApp(connection, race=race, taste=taste, lasting=lasting, rename=rename, told=told, first=first)
    hangup = asyncio.create_task(end_with_terminal(sys.stdin.fileno()), name="hangup")
    try:
        outcome = await app.run_async()
    finally:
        hangup.cancel()
        await app.desk.close()
    if app.return_code:
        return Outcome.FAILED
    return outcome or Outcome.LEFT
