"""A server may be anybody's, and tell anything at any moment: the screen holds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from cellrace_client.connection import connect
from cellrace_client.terminal.app.app import CellraceApp
from cellrace_client.terminal.app.desk import Taste
from cellrace_client.terminal.app.screens.daily import DailyScreen
from cellrace_client.terminal.app.screens.dialogs import Choice, Menu
from cellrace_client.terminal.app.screens.lobby import LobbyScreen
from cellrace_client.terminal.app.screens.play import PlayScreen
from tests.client.app.conftest import PATIENCE, Screen, shown
from tests.client.fake_server import ANN, BOB, NOW, Map, Peer, entrant, fake_server, running
from tests.waiting import eventually

TWICE: Map = {
    "race": "r7",
    "state": "open",
    "kind": "race",
    "variant": "freecell",
    "seats": 2,
    "entrants": [entrant(BOB)],
    "host": "p2",
    "created_at": NOW,
}


class Told:
    """A server that tells what a test wants it to."""

    def __init__(self, race: Map | None) -> None:
        self.race = race
        self.peer: asyncio.Future[Peer] = asyncio.get_running_loop().create_future()

    async def play(self, peer: Peer) -> None:
        """Has one race at most, and lists another one twice; leaves what else is asked unanswered."""
        await peer.welcome(*["r1"] if self.race else [])
        self.peer.set_result(peer)
        while True:
            request = await peer.next()
            if request["type"] == "race.sync" and self.race is not None:
                await peer.answer(request, "race", **self.race)
            elif request["type"] == "race.list":
                await peer.answer(request, "races", races=[TWICE, TWICE])

    async def tell(self, message: Map) -> None:
        """Sends a message."""
        await (await self.peer).send(message)


@asynccontextmanager
async def screen_of(race: Map | None = None, size: tuple[int, int] = (80, 24)) -> AsyncIterator[tuple[Screen, Told]]:
    """A player's screen, and the server that it shows."""
    told = Told(race)
    async with fake_server(told.play) as server, connect(server.url) as connection:
        app = CellraceApp(connection, race="r1" if race else None, taste=Taste(steps=False))
        async with shown(app, size) as pilot:
            screen = Screen(app, pilot, connection)
            await screen.pause()
            yield screen, told
        await app.desk.close()


async def test_what_is_listed_twice_is_shown_once() -> None:
    async with screen_of() as (screen, _told):
        await screen.shows("Bob")
        assert screen.text.count("Bob") == 1
        menu = [Choice("p2", "Bob"), Choice("p2", "Bob")]
        screen.app.call_later(lambda: screen.app.push_screen(Menu("Which?", menu)))
        await screen.shows("Which?")


async def test_a_list_that_comes_when_its_screen_is_left_is_shown_nowhere() -> None:
    """Whoever quits while the server is asked for the races sees no error."""
    async with screen_of() as (screen, _told):
        await screen.shows("Bob")
        lobby = screen.app.screen
        assert isinstance(lobby, LobbyScreen)
        await lobby.remove_children()
        await lobby._list_races()  # noqa: SLF001 - an answer in the moment in which a screen is taken apart


async def test_a_screen_is_not_there_any_more_from_the_moment_it_is_taken_apart() -> None:
    """It loses its parts one by one: the last may still stand when what an answer is about is gone."""
    async with screen_of() as (screen, _told):
        await screen.shows("Bob")
        lobby = screen.app.screen
        assert isinstance(lobby, LobbyScreen)
        assert lobby.is_here
        seen: list[bool] = []

        def leave() -> None:
            lobby.remove()
            seen.append(lobby.is_here)

        screen.app.call_later(leave)
        await eventually(lambda: seen)
        assert seen == [False]


async def test_lists_are_paged_through_where_they_have_no_room() -> None:
    """A window of a few lines has none for a list."""
    async with screen_of(size=(30, 4)) as (screen, _told):
        await screen.press("pagedown", "pageup", "tab", "pagedown", "pageup")


async def test_a_race_that_is_lost_in_play_leads_to_the_lobby() -> None:
    """A gap makes the client ask for it, and its cards are none."""
    async with screen_of(running()) as (screen, told):
        await screen.shows("deal 617")
        told.race = running(layout=[["AC"]])
        await told.tell({"type": "race.ready", "race": "r1", "version": 99, "now": NOW, "player": "p2", "ready": True})
        await screen.shows("What now?", "The cards do not lie")


async def test_a_race_that_is_lost_is_drawn_as_none() -> None:
    """Also by a clock that ticks before the loss is told."""
    async with screen_of(running()) as (screen, _told):
        await screen.shows("deal 617")
        play = screen.app.screen
        assert isinstance(play, PlayScreen)
        screen.connection._dialogue.races.forget("r1")  # noqa: SLF001 - the moment between two events
        screen.app.call_later(play.look)
        await screen.pause()
        await screen.press("u", "4", "a", "f2", "left", "space", "escape")


async def test_a_game_ends_with_the_last_that_is_known_of_its_race() -> None:
    """A thousand rematches leave no more behind than the races that the connection keeps."""
    async with screen_of(running()) as (screen, _told):
        await screen.shows("deal 617")
        desk, view = screen.app.desk, screen.connection.view("r1")
        first = desk.own_game(view, lambda _game: None)
        sending = asyncio.create_task(first.run())
        assert desk.own_game(view, lambda _game: None) is first
        screen.connection._dialogue.races.forget("r1")  # noqa: SLF001 - as the fiftieth rematch would
        desk.own_game(replace(view, race="r2"), lambda _game: None)
        await asyncio.wait_for(sending, PATIENCE)
        assert desk.own_game(view, lambda _game: None) is not first


async def test_a_screen_that_is_taken_away_at_once_is_not_made_ready() -> None:
    """A race starts in the frame in which a key has opened something."""
    async with screen_of() as (screen, _told):

        def both() -> None:
            screen.app.enter(DailyScreen(screen.app.desk))
            screen.app.show_lobby()
            screen.app.push_screen(Menu("Which?", [Choice("p2", "Bob")]))
            screen.app.show_lobby()

        screen.app.call_later(both)
        await screen.pause()
        await screen.shows("What now?")
        assert len(screen.app.screen_stack) == 2


async def test_numbers_beyond_all_sense_are_drawn() -> None:
    """Cards home, times and moves as large as the wire has them."""
    last = 2**53 - 1
    won = entrant(BOB, "won", home=last, moves=last, seq=last, undos=last, time=last, place=last)
    async with screen_of(running(entrants=[entrant(ANN, "playing"), won], start_at=last)) as (screen, _told):
        await screen.shows("deal 617", "B…")
