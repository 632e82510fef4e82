"""A race from the lobby to the standings, as its players and spectators see it."""

from __future__ import annotations

import pytest
from textual import events

from cellrace.messages import RaceState, SettingsRequest
from cellrace_client.connection import Connection
from tests.client.app.conftest import House, Screen, alone
from tests.story.solved_games import golden_game

SIZES = [(80, 24), (120, 40)]
both_sizes = pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
SOLVED = golden_game("freecell", 617, "safe")


@pytest.mark.parametrize("size", [*SIZES, (60, 24), (40, 24)], ids=["80x24", "120x40", "60x24", "40x24"])
async def test_the_lobby_lists_ways_and_races(house: House, size: tuple[int, int]) -> None:
    """Open races first, then those that run; games by the names that players know; narrow, one list below the other."""
    bob, cy = await house.player("Bob"), await house.player("Cy")
    await bob.create(SettingsRequest(seats=4))
    await cy.create(SettingsRequest(variant="six-by-six", seats=2))
    race = (await cy.create(alone("two-suit", 1))).race
    await cy.ready(race)
    await cy.view_where(race, lambda view: view.playing)
    screen = await house.screen(size=size)
    await screen.shows("Bob", "Cy", "running")
    await screen.is_as("lobby")


async def test_the_form_is_filled_in_as_fast_as_keys_come(house: House) -> None:
    """A digit is for the setting that was marked when it was typed."""
    screen = await house.screen()
    await screen.press("n")
    for key in ("down", "6", "1", "7", "down", "right", "4", "down", "right"):
        screen.app.post_message(events.Key(key, key if len(key) == 1 else None))
    await screen.shows("‹ 617 ›", "‹ 4 ›", "By code only                 ‹ yes ›")


async def test_the_form_has_every_setting(house: House) -> None:
    """Arrows change, digits are typed, and what is asked for is what the race has."""
    screen = await house.screen()
    await screen.press("n")
    await screen.is_as("form")
    await screen.press("right", "down", "6", "1", "7", "down", "right", "right", "down", "right")
    await screen.press("down", "9", "0", "0", "down", "down", "down", "right", "down", "right", "down", "right")
    await screen.press("down", "right", "down", "right", "down", "left")
    await screen.is_as("form-filled-in")
    await screen.press("enter")
    await screen.shows("of 4 seats taken")
    view = await screen.until(lambda view: view.state is RaceState.OPEN)
    settings = view.settings
    assert (settings.variant, settings.deal, settings.seats, settings.private) == ("marseille", 617, 4, True)
    assert (settings.time_limit, settings.undo, settings.autoplay, settings.placement) == (900, False, "none", "fixed")
    assert (settings.ends, settings.ranked, settings.spectate) == ("first_win", False, "live")


async def test_what_cannot_be_raced_with_is_told(house: House) -> None:
    """In a sentence, and the form stays as it is."""
    screen = await house.screen()
    await screen.press("n", "up", *"nowhere/nobody", "enter")
    await screen.shows("Open a race", "nowhere/nobody", "A ghost is a game")


@both_sizes
async def test_waiting_for_the_start(house: House, size: tuple[int, int]) -> None:
    """Who is there, who is ready, what is raced, and how others come in."""
    screen = await house.screen(size=size)
    await screen.press("n", "down", "down", "right", "enter")
    await screen.shows("Tell a friend the code", "cellrace play")
    await screen.is_as("waiting-alone")
    view = await screen.until(lambda view: view.state is RaceState.OPEN)
    bob, cy = await house.player("Bob", bot=True), await house.player("Cy")
    await cy.join(code=view.code)
    await bob.join(code=view.code)
    await bob.ready(view.race)
    await screen.shows("Bob is ready")
    await screen.is_as("waiting")
    await screen.press("space")
    await screen.shows("Waiting for the others")
    await screen.press("space")
    await screen.shows("Press space when you are ready")
    await screen.press("k", "down", "enter")
    await screen.shows("Bob was removed")


@both_sizes
async def test_the_countdown_is_by_the_race_clock(house: House, size: tuple[int, int]) -> None:
    """All who wait see the same number, whenever they look."""
    bob = await house.player("Bob")
    race = (await bob.create(alone(seats=2, countdown=60))).race
    screen = await house.screen(size=size)
    await screen.connection.join(race)
    await screen.go(race)
    await bob.ready(race)
    await screen.connection.ready(race)
    view = await screen.until(lambda view: view.state is RaceState.COUNTDOWN, race)
    house.at["Ann"] = (view.start_at or 0) - 2_001
    await screen.look()
    await screen.shows("The race starts in")
    await screen.is_as("countdown")


@both_sizes
async def test_a_busy_race(house: House, size: tuple[int, int]) -> None:
    """Eight rivals as bars: the best first, oneself in bold, who is away, who has won and who has given up."""
    names = ("Bob", "Cy", "Dee", "Eve", "Fay", "Gus", "Hal", "Kim")
    rivals = [await house.player(name, bot=name == "Kim") for name in names]
    screen = await house.at_play(alone(seats=9, spectate="live"), *rivals, size=size)
    race = next(iter(screen.connection.races))
    for rival, count in zip(rivals, (40, 44, 48, 52, 56, 30, 12, 50), strict=True):
        await play(rival, race, count)
    await rivals[5].concede(race)
    await rivals[6].close()
    await screen.type(" ".join(SOLVED[:20]))
    view = await screen.until(lambda view: sum(not entrant.online for entrant in view.entrants) == 1, race)
    assert view.playing
    await screen.shows("Hal has lost the connection", "20 moves")
    await screen.shows(*(f"{entrant.home}" for entrant in view.entrants))
    await screen.until(lambda view: [entrant.moves for entrant in view.rivals] == [40, 44, 48, 52, 56, 30, 12, 50])
    await screen.shows("won")
    await screen.is_as("race")


async def play(player: Connection, race: str, count: int) -> None:
    """So many moves of the solved game."""
    await player.move(race, *SOLVED[:count])


@both_sizes
async def test_standings_with_receipts_and_a_rematch(house: House, size: tuple[int, int]) -> None:
    """Places, times, what the latency took off; one key leads to the next race, where one is ready."""
    bob, cy = await house.player("Bob"), await house.player("Cy", bot=True)
    screen = await house.at_play(alone(seats=3), bob, cy, size=size)
    race = next(iter(screen.connection.races))
    await play(bob, race, len(SOLVED))
    await play(cy, race, 50)
    await cy.concede(race)
    await screen.type(" ".join(SOLVED[:30]))
    await screen.press("escape", "down", "enter")
    await screen.is_as("concede")
    await screen.press("y")
    await screen.shows("The race is over", "Undos")
    await screen.is_as("standings")
    await bob.rematch(race)
    await screen.shows("A rematch is open")
    await screen.press("r")
    view = await screen.until(lambda view: view.parent == race and view.me is not None and view.me.status == "ready")
    await screen.shows("Waiting for the others to be ready", "Bob")
    assert view.host == bob.player.id


@both_sizes
async def test_spectators_see_boards_side_by_side(house: House, size: tuple[int, int]) -> None:
    """Each with its name and bar; as many as there is room for."""
    bob, cy, dee = [await house.player(name) for name in ("Bob", "Cy", "Dee")]
    race = (await bob.create(alone(seats=3, spectate="live"))).race
    for player in (cy, dee):
        await player.join(race)
    for player in (bob, cy, dee):
        await player.ready(race)
    for player in (bob, cy, dee):
        await player.view_where(race, lambda view: view.playing)
    screen = await house.screen(size=size)
    await screen.shows("Bob, Cy, Dee")
    await screen.press("tab", "enter")
    await screen.shows("Watching")
    view = await screen.until(lambda view: view.dealt is not None, race)
    house.at["Ann"] = (view.start_at or 0) + 65_000
    for player, count in ((bob, 10), (cy, 40), (dee, 24)):
        await play(player, race, count)
    await screen.until(lambda view: [len(view.log_of(one.player.id)) for one in view.entrants] == [10, 40, 24], race)
    await screen.look()
    await screen.is_as("watching")
    if size[0] == 80:
        await screen.press("right")
        await screen.is_as("watching-others")
        await screen.resize(40, 24)
        await screen.shows("board 2 of 3")
    await screen.press("escape")
    await screen.shows("What now?")


async def lobby_with(house: House, *keys: str) -> Screen:
    """A screen on which keys were pressed in the lobby."""
    screen = await house.screen()
    await screen.press(*keys)
    return screen


async def test_practice_alone_is_one_key_away(house: House) -> None:
    """The cards are there without another question."""
    screen = await lobby_with(house, "p")
    await screen.shows("u undo", "Ann (you)")
    view = await screen.until(lambda view: view.playing)
    assert (view.settings.seats, view.settings.ranked) == (1, False)


async def test_a_bot_is_one_key_away(house: House) -> None:
    """It comes, both are ready, and the countdown runs."""
    screen = await lobby_with(house, "b")
    await screen.shows("The race starts in", "Robo (bot)")
    await screen.shows("u undo")


async def test_a_bot_of_a_chosen_strength_takes_a_free_seat(house: House) -> None:
    """Into a race that waits for somebody."""
    screen = await lobby_with(house, "n", "down", "down", "enter")
    await screen.shows("press b for a bot")
    await screen.press("b")
    await screen.shows("a beginner", "the fastest")
    await screen.press("down", "down", "enter")
    await screen.shows("Robo (bot)", "2 of 2 seats taken")
    assert screen.app.desk.strength == 4


async def test_a_race_is_entered_by_its_code(house: House) -> None:
    """Typed as it was read out; a wrong one is told."""
    bob = await house.player("Bob")
    race = await bob.create(SettingsRequest(private=True))
    assert race.code is not None
    screen = await lobby_with(house, "c", *"22222222", "enter")
    await screen.shows("There is no such race")
    await screen.press("c", *f"{race.code[:4].lower()}-{race.code[4:]}", "enter")
    await screen.shows("Press space when you are ready", "Bob")


async def test_a_code_is_typed_as_fast_as_keys_come(house: House) -> None:
    """Its first letters are for the question that is still to be drawn."""
    screen = await house.screen()
    for key in ("c", *"ABCD2345"):
        screen.app.post_message(events.Key(key, key))
    await screen.shows("The code of the race:", "ABCD2345")


async def test_strangers_are_matched(house: House) -> None:
    """Waiting shows, can be stopped, and ends with a race."""
    screen = await lobby_with(house, "q")
    await screen.shows("Waiting for a rival")
    await screen.press("escape")
    await screen.shows("Race a bot")
    await screen.press("q")
    await screen.shows("Waiting for a rival")
    bob = await house.player("Bob")
    await bob.queue("freecell")
    await screen.shows("The race starts in", "Bob")


async def test_the_start_closes_what_lies_over_the_countdown(house: House) -> None:
    """Who reads the rules when the race starts sees the cards at once."""
    bob = await house.player("Bob")
    race = (await bob.create(alone(seats=2))).race
    screen = await house.screen()
    await screen.connection.join(race)
    await screen.go(race)
    await screen.press("f1")
    await screen.is_as("rules")
    await bob.ready(race)
    await screen.connection.ready(race)
    await screen.shows("u undo")
