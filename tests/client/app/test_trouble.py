"""What a player sees when something goes wrong, and that nothing is lost by it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from textual import events
from textual.widgets import Input

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import EntrantStatus
from cellrace_client.connection import connect
from cellrace_client.connection.wire import unwelcome
from cellrace_client.errors import Closed, Unreachable
from cellrace_client.terminal.advice import what_to_do, what_to_do_again
from cellrace_client.terminal.app.app import Outcome
from tests.client.app.conftest import House, Screen, alone
from tests.client.app.relay import Relay, relay
from tests.story.passing_time import PassingTime
from tests.waiting import eventually

SIZES = [(80, 24), (120, 40)]


@dataclass
class Wired:
    """A house, and a wire to it that can be cut."""

    house: House
    wire: Relay

    async def at_play(self, size: tuple[int, int] = (80, 24)) -> Screen:
        """Ann at play, behind the wire, with Bob as a rival."""
        house = self.house
        direct, house.url = house.url, f"ws://127.0.0.1:{self.wire.port}/ws"
        bob = await house.stack.enter_async_context(connect(direct, name="Bob"))
        screen = await house.at_play(alone(seats=2), bob, size=size)
        house.url = direct
        return screen


@pytest_asyncio.fixture
async def wired(house: House) -> AsyncIterator[Wired]:
    """A server behind a wire."""
    async with relay(house.port) as wire:
        yield Wired(house, wire)


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
async def test_a_cut_connection_shows_and_comes_back_with_nothing_lost(wired: Wired, size: tuple[int, int]) -> None:
    """Moves typed meanwhile are kept, shown, and on record when the connection is back."""
    screen = await wired.at_play(size)
    await screen.type("58")
    await screen.until(lambda view: view.log == ("58",))
    wired.wire.cut()
    await screen.shows("The connection is cut. Coming back")
    await screen.type("4a 46 2b")
    await screen.shows("3 moves are kept.")
    await screen.is_as("trouble")
    await screen.type("19")
    await screen.shows("19 is not possible")
    wired.wire.mend()
    await screen.until(lambda view: view.log == ("58", "4a", "46", "2b"))
    await screen.shows("FreeCell, deal 617", "The connection is back")
    await screen.type("72")
    await screen.shows("72 is not possible")


async def test_a_long_way_is_typed_ahead_while_away(wired: Wired) -> None:
    """More moves than fit into the messages on their way, undos among them, come in order."""
    screen = await wired.at_play()
    wired.wire.cut()
    await screen.shows("The connection is cut")
    typed = ["4a", "u"] * 60 + ["58"]
    await screen.type(" ".join(typed))
    await screen.shows("121 moves are kept.")
    wired.wire.mend()
    await screen.until(lambda view: view.log == tuple(typed))


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
async def test_a_session_taken_over_says_so_and_stops(house: House, size: tuple[int, int]) -> None:
    """It does not come back by itself, and offers to."""
    screen = await house.at_play(alone(), size=size)
    await screen.type("58")
    await screen.until(lambda view: view.log == ("58",))
    async with connect(house.url, token=screen.connection.token):
        await screen.shows("The connection has ended", "You play on elsewhere")
        await screen.is_as("taken-over")
        await screen.press("r")
        await eventually(lambda: screen.app.return_value is Outcome.AGAIN)


@pytest.mark.parametrize(("lasting", "told"), [(True, "Come back within 120 s"), (False, "Give this race up?")])
async def test_whoever_leaves_hears_whether_there_is_a_way_back(house: House, lasting: bool, told: str) -> None:
    """A demo's server ends with it: nobody is told to come back to that."""
    first = await house.at_play(alone())
    race = next(iter(first.connection.races))
    again = await house.stack.enter_async_context(connect(house.url, token=first.connection.token))
    screen = await house.screen(race=race, connection=again, lasting=lasting)
    await screen.press("ctrl+q")
    await screen.shows(told)


async def test_moves_made_elsewhere_are_taken_in(house: House) -> None:
    """What another connection of the player played is on the board after coming back."""
    screen = await house.at_play(alone())
    race = next(iter(screen.connection.races))
    await screen.type("58")
    await screen.until(lambda view: view.log == ("58",))
    token = screen.connection.token
    async with connect(house.url, token=token) as elsewhere:
        await elsewhere.move(race, "4a")
    again = await house.stack.enter_async_context(connect(house.url, token=token))
    there = await house.screen("Ann", race=race, connection=again)
    await there.shows("4♥", "2 moves")


async def test_a_refusal_of_the_server_takes_moves_back(house: House) -> None:
    """Where the server counts otherwise, the board is as the server has it, and a sentence tells."""
    screen = await house.at_play(alone())
    race = next(iter(screen.connection.races))
    board = screen.app.screen
    assert hasattr(board, "own")
    await screen.type("58")
    await screen.until(lambda view: view.log == ("58",))
    # Behind the screen's back, over the same connection.
    moving = asyncio.create_task(screen.connection.move(race, "4a"))
    await screen.type("2b")
    await moving
    await screen.shows("The server has not taken your last move: it is back.")
    await screen.until(lambda view: view.log == ("58", "4a"))
    await screen.shows("4♥", "2 moves")
    await screen.type("46")
    await screen.until(lambda view: view.log == ("58", "4a", "46"))


async def test_time_that_runs_out_ends_the_game_on_the_screen(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what is typed then does nothing."""
    time = PassingTime(monkeypatch)
    screen = await house.at_play(alone(time_limit=60))
    race = next(iter(screen.connection.races))
    await time.pass_by(63, house.node)
    await screen.shows("The race is over")
    await screen.type("58")
    view = screen.connection.view(race)
    assert view.log == ()
    assert view.me is not None
    assert view.me.status is EntrantStatus.TIMED_OUT


async def test_no_name_and_no_message_reaches_the_terminal_as_more_than_text(house: House) -> None:
    """Neither markup nor anything that a terminal would obey: what looks like markup is shown as it is."""
    name = "[bold red]x[/]"
    bob = await house.player(name)
    screen = await house.at_play(alone(seats=2), bob)
    await screen.shows("[bold red]x")
    bob_says = "\x1b]0;title\x07[@click=app.bell]x[/]\u202e"
    screen.app.call_later(screen.app.say, bob_says)
    await screen.shows("?]0;title?[@click=app.bell]x[/]?")
    assert "\x1b" not in screen.text
    race = next(iter(screen.connection.races))
    await bob.concede(race)
    await screen.connection.concede(race)
    await screen.shows("The race is over", "[bold red]x[/]")
    await screen.press("l")
    await bob.create(alone(seats=3))
    await screen.shows("[bold red]x[/]")


async def test_nothing_that_is_pasted_reaches_the_terminal_as_more_than_text(house: House) -> None:
    """Whoever pastes does not see beforehand what a page has put into it."""
    screen = await house.screen()
    await screen.press("c")
    asking = screen.app.screen.query_one(Input)
    asking.post_message(events.Paste("\x1b]0;title\x07\x1b[31mABC\u202e\u200b"))
    await screen.shows("]0;title[31mABC")
    assert "\x1b" not in screen.text
    assert asking.value == "]0;title[31mABC"


def test_every_end_says_what_to_do() -> None:
    """A server that is gone, full or of another version; a player that is not wanted."""
    assert "cellrace serve" in what_to_do(Unreachable("ws://x/ws", "nothing listens there"))
    assert "Install the version" in what_to_do(unwelcome("ws://x/ws", 400))
    assert "Install the version" in what_to_do(unwelcome("ws://x/ws", 426))
    assert "in a minute" in what_to_do(unwelcome("ws://x/ws", 429))
    assert "in a minute" in what_to_do(unwelcome("ws://x/ws", 503))
    assert "elsewhere" in what_to_do(Closed.by_server(4100))
    assert "--profile" in what_to_do(Closed.by_server(4100))
    assert "--profile" in what_to_do(Closed.by_server(4101))
    assert "runs the server" in what_to_do(Closed.by_server(4104))
    assert "Try again" in what_to_do(Closed.by_server(4102))


def test_every_end_says_what_connecting_again_would_do() -> None:
    """Also that of a player whom the server has forgotten, as another one at the same address has."""
    assert "as somebody new" in what_to_do_again(Refused(ErrorCode.BAD_TOKEN))
    assert "runs the server" in what_to_do_again(Refused(ErrorCode.BANNED))
    assert "Try again" in what_to_do_again(Refused(ErrorCode.INTERNAL))
    assert "elsewhere" in what_to_do_again(Closed.by_server(4100))
