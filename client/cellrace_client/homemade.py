"""A bot in one method: write `choose`, and race.

class Careless(Bot):
    def choose(self, board):
        return board.legal_moves()[0]

run(Careless("Careless"), "localhost")
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path

from cellrace.board import Board
from cellrace.errors import CellraceError
from cellrace.messages import SettingsRequest
from cellrace_client.connection import Connection, connect
from cellrace_client.narrator import narrated
from cellrace_client.race_view import RaceView
from cellrace_client.racer import race_to_the_end
from cellrace_client.terminal.sentences import tell_race
from cellrace_client.terminal.speech import printable
from cellrace_client.tokens import read_token_file, write_token_file


class Bot(ABC):
    """What a stranger writes: which move to make on a board."""

    def __init__(self, name: str | None = None) -> None:
        self.name = name

    @abstractmethod
    def choose(self, board: Board) -> str | Sequence[str] | None:
        """The next move, or several; `u` takes one back; None concedes. Runs in a thread, so it may take its time."""

    def started(self, view: RaceView) -> None:  # noqa: B027 - a hook that does nothing unless it is wanted
        """Called before the first move of a race."""


class _Homemade:
    """Asks a bot for its moves, away from the event loop."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._started = False

    async def choose(self, view: RaceView) -> Sequence[str]:
        """The bot's choice."""
        if view.game is None:
            return ()
        if not self._started:
            self._started = True
            await asyncio.to_thread(self._bot.started, view)
        chosen = await asyncio.to_thread(self._bot.choose, view.game.board)
        if chosen is None:
            return ()
        return (chosen,) if isinstance(chosen, str) else chosen


async def race_once(connection: Connection, bot: Bot, race: str) -> RaceView:
    """Plays a race that the connection's player has entered, to its end."""
    return await race_to_the_end(connection, race, _Homemade(bot))


def run(
    bot: Bot,
    server: str = "localhost",
    *,
    race: str | None = None,
    code: str | None = None,
    settings: SettingsRequest | None = None,
    token: str | None = None,
    token_file: str | None = None,
    say: Callable[[str], None] = print,
) -> RaceView:
    """Joins a race by its id or code, or opens one with `settings`; plays it, says what happens, returns its end.

    With a `token_file` it is the same player each time: the token is read from there, or written there the first time.
    The main of a script: what goes wrong ends it with a sentence. In a program of your own use `race_once`.
    """
    kept = Path(token_file) if token_file is not None else None
    known = token or (read_token_file(kept) if kept is not None else None)

    async def play() -> RaceView:
        async with connect(server, name=bot.name, token=known, bot=True) as connection, narrated(connection, say):
            if kept is not None and connection.token is not None and connection.token != known:
                write_token_file(kept, connection.token)
            if race is None and code is None:
                entered = await connection.create(settings)
            else:
                entered = await connection.join(race, code=code)
            for sentence in (f"You are {connection.player.name}.", *tell_race(entered)):
                say(printable(sentence))
            return await race_once(connection, bot, entered.race)

    try:
        return asyncio.run(play())
    except CellraceError as error:
        raise SystemExit(printable(str(error))) from error
