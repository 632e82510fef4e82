"""Moves by letters, arrows and mouse: they show at once, and the server has them."""

from __future__ import annotations

import pytest
from textual import events

from cellrace.board import dealt_board
from cellrace.deals import deal
from cellrace.messages import EntrantStatus
from cellrace.notation import FIRST_CELL, HOME
from cellrace.solver import solve
from cellrace.variants import find_variant
from cellrace_client.terminal.app import own_game
from cellrace_client.terminal.app.screens.board import BoardScreen
from cellrace_client.terminal.app.widgets import board_view
from cellrace_client.terminal.app.widgets.entrants_view import EntrantsView
from tests.client.app.conftest import House, Screen, alone
from tests.client.app.relay import relay
from tests.story.solved_games import golden_game
from tests.waiting import eventually


async def log_is(screen: Screen, *moves: str) -> None:
    """Waits until the server has exactly these entries."""
    await screen.until(lambda view: view.log == moves)


def board_screen(screen: Screen) -> BoardScreen:
    """The board's screen."""
    return next(shown for shown in reversed(screen.app.screen_stack) if isinstance(shown, BoardScreen))


def burst(screen: Screen, *keys: str) -> None:
    """Presses keys before any of them is dealt with, as they come over a slow line."""
    for key in keys:
        screen.app.post_message(events.Key(key, key if len(key) == 1 else None))


@pytest.mark.parametrize("variant", ["freecell", "one-suit"])
async def test_a_solved_game_is_typed_to_a_win(house: House, variant: str) -> None:
    """Key by key, as fast as they come; the standings follow."""
    number = {"freecell": 617, "one-suit": 94}[variant]
    screen = await house.at_play(alone(variant, number))
    await screen.type(" ".join(golden_game(variant, number, "safe")))
    await screen.shows("The race is over", "You brought all cards home")
    view = await screen.until(lambda view: view.ended)
    assert view.standings is not None
    assert view.standings[0].status is EntrantStatus.WON


async def test_every_game_can_be_typed_to_a_win(house: House) -> None:
    """Also one with a reserve to be laid out, and without cards going home by themselves."""
    variant = find_variant("marseille")
    solution = solve(dealt_board(variant, deal(variant, 1)))
    assert solution is not None
    screen = await house.at_play(alone("marseille", 1, autoplay="none"))
    await screen.type(" ".join(solution.moves))
    await screen.shows("You brought all cards home")


async def test_an_illegal_move_is_told_and_costs_nothing(house: House) -> None:
    """In one sentence, with its reason."""
    screen = await house.at_play(alone())
    await screen.type("12")
    await screen.shows("12 is not possible. Nothing from column 1 fits on ")
    await screen.type("9")
    await screen.shows("This game has no such column, cell or reserve.")
    await screen.type("a")
    await screen.shows("There is no card to move.")
    await screen.type("r")
    await screen.shows("This game has no such column, cell or reserve.")
    await screen.type("h")
    await screen.shows("Cards that are home stay there.")
    await screen.type("58")
    await screen.shows_not("Cards that are home")
    await log_is(screen, "58")


async def test_moves_are_taken_back(house: House) -> None:
    """With u, whatever was held meanwhile."""
    screen = await house.at_play(alone())
    before = screen.text.splitlines()[4:12]
    await screen.type("58 4a")
    await screen.type("4u u")
    await screen.shows("Taken back.", "2 moves")
    await log_is(screen, "58", "4a", "u", "u")
    assert screen.text.splitlines()[4:12] == before
    await screen.type("u")
    await screen.shows("There is no move left to take back.")


async def test_a_cyrillic_layout_types_the_same_places(house: House) -> None:
    """4ф is 4a, г is u."""
    screen = await house.at_play(alone())
    await screen.press("4", "ф", "г")
    await log_is(screen, "4a", "u")


async def test_a_count_after_the_move_carries_more(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """26v3 typed as it is written; one entry, not a move and another, for whoever types soon enough."""
    monkeypatch.setattr(own_game, "GROWING", 60.0)
    screen = await house.at_play(alone(autoplay="none"))
    moves = golden_game("freecell", 617, "none")
    at = moves.index("85v2")
    await screen.type(" ".join(moves[:at]))
    await screen.type("85")
    await screen.type("v2")
    await screen.type(moves[at + 1])
    await log_is(screen, *moves[: at + 2])


async def test_a_count_that_comes_late_takes_the_move_back_for_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cards lie as they were meant to."""
    monkeypatch.setattr(own_game, "GROWING", 0.0)
    screen = await house.at_play(alone("one-suit", 94))
    await screen.type("1h 2a 2b 31")
    await log_is(screen, "1h", "2a", "2b", "31")
    await screen.type("v2")
    await log_is(screen, "1h", "2a", "2b", "31", "u", "31v2")


async def test_a_move_that_might_carry_more_is_sent_all_the_same(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even when nothing is typed after it."""
    monkeypatch.setattr(own_game, "GROWING", 0.05)
    screen = await house.at_play(alone(autoplay="none"))
    moves = golden_game("freecell", 617, "none")
    at = moves.index("85v2")
    await screen.type(" ".join([*moves[:at], "85"]))
    await log_is(screen, *moves[:at], "85")


async def test_arrows_and_space_play(house: House) -> None:
    """Pick up, drop; h sends home, Esc lets go, plus and minus hold more cards."""
    screen = await house.at_play(alone())
    await screen.press("right", "right", "right", "right", "right", "space")
    assert "[J♣ >" in screen.text
    await screen.press("escape")
    assert "[J♣ ]" in screen.text
    await screen.press("space", "right", "right", "right", "space")
    await log_is(screen, "58")
    await screen.press("left", "left", "left", "left", "space", "up", "left", "space")
    await screen.until(lambda view: len(view.log) == 2)
    await screen.press("up", "down", "down")
    board = board_screen(screen)
    board.hand.cursor = 7
    await screen.press("space", "plus")
    assert board.hand.held is not None
    assert board.hand.held.cards == 2
    await screen.press("minus", "minus")
    assert board.hand.held.cards == 1


async def test_keys_that_come_at_once_keep_their_order(house: House) -> None:
    """As over a slow line: arrows and letters, a menu and the choice in it."""
    screen = await house.at_play(alone())
    burst(screen, "right", "right", "right", "right", "space", "a", "5", "8")
    await log_is(screen, "4a", "58")
    burst(screen, "left", "space", "escape", "escape", "down", "enter")
    await screen.shows("Stop playing?")
    assert board_screen(screen).hand.held is None


async def test_the_mouse_clicks_drags_and_sends_home(house: House) -> None:
    """A click picks up and drops, a drag does both, a double click sends home."""
    screen = await house.at_play(alone(autoplay="none"))
    await screen.click(4, 5)
    assert "<J♣ >" in screen.text
    await screen.click(7, 5)
    await log_is(screen, "58")
    await screen.drag((3, 6), FIRST_CELL)
    await log_is(screen, "58", "4a")
    await screen.click(0, 2)
    await screen.shows("Those cards are not an ordered run.")
    await screen.click(7, 6)
    await screen.click(7, 6)
    assert board_screen(screen).hand.held is None
    await screen.click(HOME)
    assert board_screen(screen).hand.held is None


async def test_a_double_click_sends_a_card_home(house: House) -> None:
    """Whatever else a single click would do."""
    screen = await house.at_play(alone("one-suit", 94, autoplay="none"))
    await screen.click(0, 4, times=2)
    await log_is(screen, "1h")


async def test_the_mouse_lays_the_reserve_out(house: House) -> None:
    """A click on a column is all it takes."""
    screen = await house.at_play(alone("marseille", 1))
    for column in (4, 1, 5):
        await screen.click(column)
    await log_is(screen, "r5", "r2", "r6")


async def test_moves_are_shown_before_the_server_answers(house: House) -> None:
    """The board is ahead while the answer is on its way."""
    async with relay(house.port) as wire:
        house.url = f"ws://127.0.0.1:{wire.port}/ws"
        screen = await house.at_play(alone())
        view = screen.connection.view(next(iter(screen.connection.races)))
        wire.hold()
        await screen.type("58 4a")
        assert "4♥" in screen.text.splitlines()[2]
        assert screen.connection.view(view.race).log == ()
        wire.mend()
        await log_is(screen, "58", "4a")


async def test_steps_are_shown_and_never_hold_a_key_up(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cards go home one by one, until the next key."""
    monkeypatch.setattr(board_view, "pause", lambda _: 60.0)  # No key of the test comes too late.
    screen = await house.at_play(alone("one-suit", 94))
    screen.app.desk.taste.steps = True
    await screen.type("2a 2b")
    board = board_screen(screen)
    assert board.board_view.stepping
    await screen.type("3")
    assert not board.board_view.stepping
    assert "K♠" in screen.text.splitlines()[2]
    assert "9/13" in screen.text
    await screen.press("escape", "f4")
    await screen.type("u 2b")
    assert not board.board_view.stepping


async def test_a_hint_leads_on_where_the_race_is_not_ranked(house: House) -> None:
    """Told and marked; in a ranked race there is none."""
    screen = await house.at_play(alone("one-suit", 94))
    await screen.press("f2")
    await screen.shows("Try ", "♠ from column ")
    assert "{" in screen.text
    ranked = await house.at_play(alone(deal=None, ranked=True), name="Bob")
    await ranked.press("f2")
    await ranked.shows("There are no hints in a ranked race.")


async def test_conceding_asks_first(house: House) -> None:
    """Only a yes is a yes."""
    screen = await house.at_play(alone())
    for answer in ("n", "escape", "enter"):
        await screen.press("escape", "down", "enter")
        await screen.shows("Stop playing?")
        await screen.press(answer)
        await screen.shows("u undo")
    await screen.press("escape", "down", "down", "enter")
    await screen.shows("Give this race up?")
    await screen.press("down", "enter")
    await screen.until(lambda view: view.me is not None and view.me.status is EntrantStatus.FORFEITED)


async def test_the_screen_follows_its_size(house: House) -> None:
    """Smaller and larger again, in the middle of a game."""
    screen = await house.at_play(alone())
    await screen.type("58 4a")
    small = screen.text
    await screen.resize(120, 40)
    await screen.resize(80, 24)
    await eventually(lambda: screen.text == small)


async def test_the_bars_never_take_the_boards_room(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in the first frame either, before anything is known to have been laid out."""
    widths: list[int] = []
    resized = EntrantsView._on_resize  # noqa: SLF001 - what the app calls

    def seen(view: EntrantsView, event: events.Resize) -> None:
        widths.append(event.size.width)
        resized(view, event)

    monkeypatch.setattr(EntrantsView, "_on_resize", seen)
    screen = await house.at_play(alone())
    await screen.shows("0/52")
    assert len(set(widths)) == 1


async def test_what_a_key_changes_about_the_looks_is_told(house: House) -> None:
    screen = await house.at_play(alone())
    for key, told in (("f3", "Deck: two colours."), ("f4", "Moves are shown step by step."), ("f4", "shown at once.")):
        await screen.press(key)
        await screen.shows(told)


async def test_whose_game_has_ended_is_told_that_the_race_goes_on(house: House) -> None:
    """Also after looking at others' boards, when nothing else is left to be said."""
    bob = await house.player("Bob")
    screen = await house.at_play(alone(seats=2), bob)
    await screen.connection.concede(next(iter(screen.connection.races)))
    await screen.shows("w watch")
    await screen.press("w")
    await screen.shows("Watching")
    await screen.press("escape")
    await screen.shows("Your game has ended; the race goes on for the others.")
