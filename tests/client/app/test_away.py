"""What is done while the server is away, slow or silent: once, in order, and told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from cellrace.messages import EntrantStatus, RaceState
from cellrace_client.connection import silence
from cellrace_client.terminal.app import own_game
from cellrace_client.terminal.app.app import Outcome
from cellrace_client.terminal.app.screens.play import PlayScreen
from tests.client.app.conftest import House, alone
from tests.client.app.relay import Relay, relay
from tests.waiting import eventually


@pytest_asyncio.fixture
async def wire(house: House) -> AsyncIterator[Relay]:
    """A wire to the server that everybody in the house is behind."""
    async with relay(house.port) as made:
        house.url = f"ws://127.0.0.1:{made.port}/ws"
        yield made


async def test_what_is_pressed_again_because_nothing_happens_makes_one_race(house: House, wire: Relay) -> None:
    """In the lobby, also when it is something else, and with the form of a new race."""
    screen = await house.screen()
    wire.cut()
    await screen.shows("Coming back")
    await screen.press("p")
    await screen.press("p")
    await screen.shows("You have asked for a race; the server has not answered yet.")
    await screen.press("b")
    await screen.press("n", "enter")
    wire.mend()
    await screen.shows("0/52 home")
    assert len(screen.connection.races) == 1
    await screen.press("escape", "end", "up", "enter")
    await screen.shows("What now?")
    wire.cut()
    await screen.shows("Coming back")
    await screen.press("n", "enter", "enter")
    wire.mend()
    await screen.shows("Tell a friend")
    assert len([view for view in screen.connection.races.values() if view.state is RaceState.OPEN]) == 1


async def test_whoever_was_refused_a_race_can_ask_for_another(house: House, wire: Relay) -> None:
    screen = await house.screen()
    await screen.press("c", *"22222222", "enter")
    await screen.shows("There is no such race")
    await screen.press("p")
    await screen.shows("0/52 home")


async def test_conceding_comes_after_what_was_played_before(house: House, wire: Relay) -> None:
    """More moves than fit into the messages on their way, the last of them held back as it may yet grow."""
    screen = await house.at_play(alone())
    race = next(iter(screen.connection.races))
    wire.cut()
    await screen.shows("Coming back")
    typed = ["4a", "u"] * 12
    for move in typed:
        await screen.type(move)
    await screen.press("escape", "down", "enter", "y")
    await screen.shows("24 moves are kept.")
    wire.mend()
    view = await screen.until(lambda view: view.state is RaceState.OVER, race)
    assert view.log == tuple(typed)
    assert view.me is not None
    assert view.me.status is EntrantStatus.CONCEDED


@pytest.mark.parametrize("typed", [(), ("58", "4a")], ids=["nothing kept", "moves kept"])
@pytest.mark.parametrize(
    ("steps", "told", "status"),
    [(1, "You have conceded;", EntrantStatus.CONCEDED), (2, "You have forfeited;", EntrantStatus.FORFEITED)],
    ids=["concede", "forfeit"],
)
async def test_whoever_stops_while_the_server_is_away_plays_no_more(
    house: House, wire: Relay, steps: int, told: str, status: EntrantStatus, typed: tuple[str, ...]
) -> None:
    """It is noted, a move is answered by why there is none, and what was played before is sent before it."""
    screen = await house.at_play(alone(ends="all", seats=1))
    race = next(iter(screen.connection.races))
    wire.cut()
    await screen.shows("Coming back")
    await screen.type(" ".join(typed))
    await screen.press("escape", *["down"] * steps, "enter")
    # At once, as whoever has typed the moves ahead of the answer.
    await screen.type("y u 46 4c")
    board = screen.app.screen
    assert isinstance(board, PlayScreen)
    sentence = f"{told} the server is told when the connection is back."
    await screen.shows(sentence, "F1 rules  Esc menu")
    screen.app.say("")
    await screen.shows_not(sentence)
    await screen.press("3")
    await screen.shows(sentence)
    await screen.press("escape")
    await screen.shows("Stay here")
    await screen.shows_not("Concede: be ranked")
    await screen.press("escape")
    assert board.own.ahead.seq == len(typed)
    await screen.click(2)
    assert board.hand.held is None
    wire.mend()
    view = await screen.until(lambda view: view.state is RaceState.OVER, race)
    assert view.log == typed
    assert view.me is not None
    assert view.me.status is status
    await screen.shows("The race is over")


async def test_whoever_stops_and_looks_elsewhere_has_stopped_all_the_same(house: House, wire: Relay) -> None:
    """The lobby is a way out of the board, not out of what was said there."""
    screen = await house.at_play(alone())
    race = next(iter(screen.connection.races))
    wire.cut()
    await screen.shows("Coming back")
    await screen.press("escape", "down", "enter", "y", "escape", "down", "enter")
    await screen.shows("What now?")
    await screen.go(race)
    await screen.shows("You have conceded; the server is told when the connection is back.")
    await screen.type("58")
    wire.mend()
    view = await screen.until(lambda view: view.state is RaceState.OVER, race)
    assert view.log == ()


async def test_a_server_slow_to_answer_whoever_stops_gets_no_more_moves(house: House, wire: Relay) -> None:
    screen = await house.at_play(alone())
    race = next(iter(screen.connection.races))
    wire.hold()
    await screen.press("escape", "down", "enter", "y", "5", "8")
    await screen.shows("You have conceded; the server has not answered yet.")
    wire.mend()
    view = await screen.until(lambda view: view.state is RaceState.OVER, race)
    assert view.log == ()


async def test_whoever_leaves_with_moves_kept_hears_that_they_are_lost(house: House, wire: Relay) -> None:
    """Also from the lobby; with nothing kept there is nothing to ask while the server is away."""
    screen = await house.at_play(alone())
    wire.cut()
    await screen.shows("Coming back")
    await screen.type("58 4a")
    await screen.press("ctrl+q")
    await screen.shows("2 moves have not reached the server yet", "you quit now. Quit?")
    await screen.press("n")
    await screen.press("escape", "end", "up", "enter")
    await screen.shows("What now?")
    await screen.press("ctrl+q")
    await screen.shows("2 moves have not reached the server yet")
    await screen.press("n")
    wire.mend()
    await screen.until(lambda view: view.log == ("58", "4a"))
    wire.cut()
    await screen.shows("Coming back")
    await screen.press("ctrl+q")
    await eventually(lambda: screen.app.return_value is Outcome.LEFT)


async def test_a_move_that_may_grow_is_sent_before_its_player_leaves(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is held back for a moment, which must not lose it."""
    monkeypatch.setattr(own_game, "GROWING", 1000.0)
    screen = await house.at_play(alone())
    board = screen.app.screen
    assert isinstance(board, PlayScreen)
    board.own.play("58", may_grow=True)
    await screen.press("ctrl+q", "y")
    await eventually(lambda: screen.app.return_value is Outcome.LEFT)
    assert screen.connection.view(board.race).log == ("58",)


async def test_a_bot_that_is_called_while_the_server_is_away_comes_later(house: House, wire: Relay) -> None:
    screen = await house.screen()
    screen.app.desk.rivals._url = house.url  # noqa: SLF001 - made before the wire
    race = (await screen.connection.create(alone(seats=2))).race
    await screen.go(race)
    wire.cut()
    await screen.shows("Coming back")
    await screen.press("b", "enter")
    wire.mend()
    await screen.shows("2 of 2 seats taken")


async def test_whoever_stops_waiting_while_the_server_is_away_says_so_later(
    house: House, wire: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server may not have noticed that the connection was gone."""
    screen = await house.screen()
    await screen.press("q")
    await screen.shows("Waiting for a rival")
    left = asyncio.Event()
    leave_queue = screen.connection.leave_queue

    async def leave() -> None:
        await leave_queue()
        left.set()

    monkeypatch.setattr(screen.connection, "leave_queue", leave)
    wire.cut()
    await screen.shows("Coming back")
    await screen.press("escape")
    wire.mend()
    await left.wait()


async def test_a_server_that_does_not_answer_is_told_of(
    house: House, wire: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is cut: without a word everybody would think that all is well."""
    monkeypatch.setattr(silence, "SILENT_AFTER", 0.05)
    screen = await house.at_play(alone())
    wire.hold()
    await screen.type("58 4a")
    await screen.shows("The server does not answer yet. 2 moves are kept.")
    wire.mend()
    await screen.shows("FreeCell, deal 617", "The server answers again.")
    await screen.until(lambda view: view.log == ("58", "4a"))
