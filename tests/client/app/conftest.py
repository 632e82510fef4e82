"""A real server in this process, and players at screens of a given size."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import pytest_asyncio
from textual import events
from textual.message_pump import MessagePump
from textual.pilot import Pilot

from cellrace.messages import SettingsRequest
from cellrace.notation import FIRST_CELL, HOME
from cellrace_client.connection import Connection, connect
from cellrace_client.race_view import RaceView
from cellrace_client.terminal.app.app import CellraceApp, Outcome
from cellrace_client.terminal.app.board_layout import lay_out
from cellrace_client.terminal.app.desk import Taste
from cellrace_client.terminal.app.screens.base import DeskScreen
from cellrace_client.terminal.app.screens.board import BoardScreen
from cellrace_server.app import Node, running
from cellrace_server.config import Bounds, Config
from tests.client.app.screen_text import check_screen, is_golden, screen_text
from tests.waiting import eventually

PATIENCE = 60.0
"""Seconds after which a test has waited in vain, however busy its machine is."""


@dataclass
class Screen:
    """A player at a screen."""

    app: CellraceApp
    pilot: Pilot[Outcome]
    connection: Connection

    @property
    def text(self) -> str:
        """What stands on the screen."""
        return screen_text(self.app)

    async def press(self, *keys: str) -> None:
        """Presses keys, and waits until they are dealt with."""
        with self._inside():
            await self.pilot.press(*keys)
            await self._dealt_with()
            await self.pilot.pause()

    async def _dealt_with(self) -> None:
        """Waits until what was pressed has gone from the app to the screen, to what has the focus, and back."""
        for _way in range(2):
            await _through(self.app)
            await _through(self.app.screen)
            await _through(self.app.focused or self.app.screen)

    def _inside(self) -> AbstractContextManager[None]:
        # The pilot draws by itself, and what is drawn looks for its app.
        return self.app._context()  # noqa: SLF001 - no public way leads there

    async def pause(self) -> None:
        """Waits until what was asked for is dealt with."""
        with self._inside():
            await self.pilot.pause()

    async def click(self, pile: int, depth: int = 0, times: int = 1) -> None:
        """Clicks on a pile of one's own board."""
        x, y = self.place(pile, depth)
        with self._inside():
            await self.pilot.click("#board", offset=(x, y), times=times)
            await self._dealt_with()
            await self.pilot.pause()

    async def click_at(self, selector: str, x: int) -> None:
        """Clicks on a line."""
        with self._inside():
            await self.pilot.click(selector, offset=(x, 0))
            await self._dealt_with()
            await self.pilot.pause()

    async def drag(self, source: tuple[int, int], pile: int) -> None:
        """Drags from a card, named by its column and depth, to a pile."""
        with self._inside():
            await self.pilot.mouse_down("#board", offset=self.place(*source))
            await self.pilot.mouse_up("#board", offset=self.place(pile, 0))
            await self._dealt_with()
            await self.pilot.pause()

    def place(self, pile: int, depth: int) -> tuple[int, int]:
        """Where a card is on the board."""
        screen = self.app.screen
        assert isinstance(screen, BoardScreen)
        board, size = screen.board, screen.board_view.size
        layout = lay_out(board, size.width, size.height)
        if pile < FIRST_CELL:
            return layout.columns[pile] + 1, layout.columns_y + layout.stacks[pile].line_of(depth)
        return (layout.homes[0] if pile == HOME else layout.cells[pile - FIRST_CELL]) + 1, 1

    async def resize(self, width: int, height: int) -> None:
        """Makes the window as large as that."""
        with self._inside():
            await self.pilot.resize_terminal(width, height)
            await self.pilot.pause()

    async def type(self, moves: str) -> None:
        """Types moves in the notation, faster than anybody can."""
        for key in moves.replace(" ", ""):
            self.app.post_message(events.Key(key, key))
        await self._dealt_with()
        await self.pause()

    async def shows(self, *words: str) -> None:
        """Waits until all of these words stand on the screen."""

        def all_there() -> bool:
            return all(word in self.text for word in words)

        try:
            await eventually(all_there, PATIENCE)
        except AssertionError:
            raise AssertionError(f"{words} are not all on this screen:\n{self.text}") from None

    async def shows_not(self, word: str) -> None:
        """Waits until a word does not stand on the screen any more."""
        try:
            await eventually(lambda: word not in self.text, PATIENCE)
        except AssertionError:
            raise AssertionError(f"{word!r} is still on this screen:\n{self.text}") from None

    async def go(self, race: str) -> None:
        """Goes to a race."""
        self.app.call_later(self.app.show_race, race)
        await self.pause()

    async def look(self) -> None:
        """Draws everything anew, for a clock that a test has set."""
        self.app.call_later(self.app.screen.look)  # type: ignore[attr-defined] # a screen of ours
        await self.pause()

    async def is_as(self, name: str) -> None:
        """Waits until the screen is the golden one of a name: what was asked for may still be to be drawn."""
        await self.pause()
        try:
            await eventually(lambda: is_golden(self.app, name), PATIENCE)
        except AssertionError:
            check_screen(self.app, name)

    async def until(self, holds: Callable[[RaceView], bool], race: str | None = None) -> RaceView:
        """Waits until something holds of a race in what the client knows; of the newest by then, if none is named."""
        if race is not None:
            return await self.connection.view_where(race, holds)
        races = self.connection.races
        return await self.connection.race_where(lambda view: view is list(races.values())[-1] and holds(view))


@dataclass
class House:
    """A server, and the screens of its players."""

    url: str
    port: int
    stack: AsyncExitStack
    node: Node
    at: dict[str, int | None] = field(default_factory=dict)
    """For each player the race clock that is shown, where it is to stand still."""

    async def settled(self, race: str) -> None:
        """Waits until all that follows from a race's end is on record, the boards and profiles of its players too."""

        async def is_packed() -> bool:
            head = await self.node.services.store.races.head(race)
            return head is None or head.packed

        packed: bool = await eventually(is_packed, PATIENCE)
        assert packed

    async def player(self, name: str, **hello: object) -> Connection:
        """A player without a screen."""
        return await self.stack.enter_async_context(connect(self.url, name=name, **hello))  # type: ignore[arg-type]

    async def screen(
        self,
        name: str = "Ann",
        size: tuple[int, int] = (80, 24),
        *,
        race: str | None = None,
        taste: Taste | None = None,
        url: str | None = None,
        connection: Connection | None = None,
        lasting: bool = True,
    ) -> Screen:
        """A player at a screen."""
        if connection is None:
            connection = await self.stack.enter_async_context(connect(url or self.url, name=name))
        known = connection

        def now() -> int:
            at = self.at.get(name)
            return known.clock.now() if at is None else at

        app = CellraceApp(connection, race=race, taste=taste or Taste(steps=False), now=now, lasting=lasting)
        self.stack.push_async_callback(app.desk.close)
        pilot = await self.stack.enter_async_context(shown(app, size))
        screen = Screen(app, pilot, connection)
        # What is pressed before there is a screen of ours is pressed in vain.
        await eventually(lambda: isinstance(app.screen, DeskScreen) and app.screen.is_here, PATIENCE)
        await screen.pause()
        return screen

    async def at_play(
        self,
        settings: SettingsRequest,
        *rivals: Connection,
        size: tuple[int, int] = (80, 24),
        name: str = "Ann",
        taste: Taste | None = None,
    ) -> Screen:
        """A player whose race with others has just begun; the clock shows seven seconds."""
        connection = await self.stack.enter_async_context(connect(self.url, name=name))
        race = (await connection.create(settings)).race
        for rival in rivals:
            await rival.join(race)
            await rival.ready(race)
        await connection.ready(race)
        view = await connection.view_where(race, lambda view: view.playing)
        for rival in rivals:
            await rival.view_where(race, lambda view: view.playing)
        assert view.start_at is not None
        self.at[name] = view.start_at + 7_400
        return await self.screen(name, size, race=race, connection=connection, taste=taste)


async def _through(pump: MessagePump) -> None:
    """Waits until all is dealt with that waits at a part of an app, or that part is gone."""
    through = asyncio.Event()
    pump.call_later(through.set)
    await eventually(lambda: through.is_set() or not pump.is_running, PATIENCE)


@asynccontextmanager
async def shown(app: CellraceApp, size: tuple[int, int]) -> AsyncIterator[Pilot[Outcome]]:
    """An app at a screen of a given size; what goes wrong in it is raised at the end.

    It lives in a task of its own: Textual's context is left where it was entered, a fixture's end elsewhere.
    """
    ready: asyncio.Future[Pilot[Outcome]] = asyncio.get_running_loop().create_future()
    enough = asyncio.Event()

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            ready.set_result(pilot)
            await enough.wait()

    task = asyncio.create_task(run())
    await asyncio.wait((task, ready), return_when=asyncio.FIRST_COMPLETED)
    try:
        if not ready.done():
            await task
        yield ready.result()
    finally:
        enough.set()
        await task


def alone(variant: str = "freecell", deal: int = 617, **fields: object) -> SettingsRequest:
    """A race for one, soon begun."""
    return SettingsRequest(**{"variant": variant, "deal": deal, "seats": 1, "countdown": 0} | fields)  # type: ignore[arg-type]


@asynccontextmanager
async def open_house(store_url: str) -> AsyncIterator[House]:
    """A server and its players."""
    bounds = Bounds(new_players=10_000, burst=10_000, per_second=10_000)
    async with (
        running(Config(port=0, redis=store_url, node="here", bounds=bounds)) as node,
        AsyncExitStack() as stack,
    ):
        yield House(f"ws://127.0.0.1:{node.port}/ws", node.port, stack, node)


@pytest_asyncio.fixture
async def house(store_url: str) -> AsyncIterator[House]:
    """A server with an empty store."""
    async with open_house(store_url) as made:
        yield made
