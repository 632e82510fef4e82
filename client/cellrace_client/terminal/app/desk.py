"""What all screens share: the connection, how cards are drawn, the games that are played here, and where to go."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from textual.screen import Screen

from cellrace.cards import card_name, card_symbol
from cellrace.errors import CellraceError, IllegalMove, Refused
from cellrace.replay import Written
from cellrace_client.connection import Connection
from cellrace_client.language import _
from cellrace_client.race_view import RaceView
from cellrace_client.terminal.app.deck import DECKS, Deck
from cellrace_client.terminal.app.film import Film
from cellrace_client.terminal.app.liking import LikingStore
from cellrace_client.terminal.app.own_game import OwnGame
from cellrace_client.terminal.app.rivals import Rivals
from cellrace_client.terminal.refusals import refusal_text
from cellrace_client.thinker import Thinker

_GOODBYE = 2.0
"""Seconds that moves have to reach the server when their player leaves; most need some milliseconds."""


@dataclass
class Taste:
    """How a player likes it: the deck, letters for suits, moves shown step by step.

    `suits` is False on a terminal that has no signs for suits. `store` keeps what is changed here; without one nothing
    is kept.
    """

    deck: Deck = field(default_factory=lambda: next(iter(DECKS.values())))
    letters: bool = False
    steps: bool = True
    suits: bool = True
    store: LikingStore | None = None

    @property
    def card_words(self) -> Callable[[int], str]:
        """What a card is called in a sentence: as it is drawn."""
        return card_name if self.letters else card_symbol

    def keep(self, **liked: str | bool) -> str | None:
        """Keeps what has been changed for the next time; a sentence where that cannot be done."""
        return self.store.keep(**liked) if self.store is not None else None


Rename = Callable[[str], Awaitable[str | None]]
"""Takes another name; a sentence where it cannot be kept for the next time. Raises CellraceError."""


class Guide(Protocol):
    """Who changes screens."""

    def show_race(self, race: str) -> None:
        """Goes to a race: to the screen that its state asks for."""

    def show_lobby(self) -> None:
        """Goes to the lobby."""

    def open_race(self) -> None:
        """Goes to the form of a new race."""

    def watch_race(self, race: str) -> None:
        """Goes to everybody's boards."""

    def stop_watching(self, race: str) -> None:
        """Goes back from the boards."""

    def leave_race(self, race: str) -> None:
        """Leaves a race for good, and goes to the lobby."""

    def show_profile(self, player: str) -> None:
        """Goes to the profile of a player."""

    def show_replay(self, written: Written, film: Film) -> None:
        """Goes to a replay."""

    def enter(self, screen: Screen[None]) -> None:
        """Goes to a screen from which there is a way back."""

    def back(self) -> None:
        """Goes back to where a screen was entered from."""

    def say(self, sentence: str, *, refusal: bool = False) -> None:
        """Says a sentence on the screen that is shown."""

    def leave(self) -> None:
        """Ends the program, after asking where a game goes on."""


class Desk:
    """One player's desk."""

    def __init__(
        self,
        connection: Connection,
        guide: Guide,
        taste: Taste,
        now: Callable[[], int] | None = None,
        rename: Rename | None = None,
    ) -> None:
        self.connection = connection
        self.guide = guide
        self.taste = taste
        self.now: Callable[[], int] = now or connection.clock.now
        self._rename: Rename = rename or connection.rename
        self.thinker = Thinker()
        self.rivals = Rivals(connection.url)
        self.variant = "freecell"
        self.strength = 2
        self.queue_bots = True
        self.trouble: str | None = None
        self.entering = False
        """Whether a race has been asked for that is not there yet."""
        self._games: dict[str, OwnGame] = {}

    @property
    def me(self) -> str:
        """The id of the player."""
        return self.connection.player.id

    async def rename(self, name: str) -> None:
        """Takes another name. Raises CellraceError."""
        if (trouble := await self._rename(name)) is not None:
            self.guide.say(trouble, refusal=True)

    def view(self, race: str) -> RaceView | None:
        """A race as it is known, if it is."""
        return self.connection.races.get(race)

    def own_game(self, view: RaceView, start: Callable[[OwnGame], object]) -> OwnGame:
        """One's own game in a race; `start` sets it going when it is new."""
        game = self._games.get(view.race)
        if game is None:
            # However many races a player has had here, only those are kept that the connection keeps.
            for race in [race for race in self._games if race not in self.connection.races]:
                self._games.pop(race).end()
            game = self._games[view.race] = OwnGame(self.connection, view, self.guide.say)
            start(game)
        return game

    def hear(self, view: RaceView) -> None:
        """Tells one's own game in a race how things stand."""
        if (game := self._games.get(view.race)) is not None:
            game.hear(view)

    def hear_anew(self, race: str) -> None:
        """The same after the race was asked for: what the server knows no longer is sent again."""
        game, view = self._games.get(race), self.view(race)
        if game is not None and view is not None:
            game.hear_anew(view)

    @property
    def moves_kept(self) -> int:
        """How many moves, of all games, are not on record yet."""
        return sum(game.ahead.waiting for game in self._games.values())

    async def send_all(self) -> None:
        """Sends what was played and is held back, and waits a moment until it is on record."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_GOODBYE):
                for game in list(self._games.values()):
                    await game.all_on_record()

    async def close(self) -> None:
        """Ends what was started here."""
        await self.rivals.close()
        await self.thinker.close()


FirstScreen = Callable[[Desk], Screen[None]]
"""Makes the screen that somebody has asked for, and that is shown over the lobby."""


def sentence_of(refused: CellraceError) -> str:
    """Why something cannot be done, in a sentence."""
    if isinstance(refused, Refused | IllegalMove) and refused.move is not None:
        return _("{move} is not possible. {reason}").format(move=refused.move, reason=refusal_text(refused))
    return refusal_text(refused)
