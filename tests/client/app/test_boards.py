"""The board of each main game as a player sees it, at both sizes."""

from __future__ import annotations

import pytest

from cellrace_client.terminal.app.deck import DECKS
from cellrace_client.terminal.app.desk import Taste
from tests.client.app.conftest import House, alone

SIZES = [(80, 24), (120, 40)]
GAMES = {
    "freecell": (617, "58 4a 46 2b"),
    "marseille": (1, "r5 r2 r6 1a"),
    "six-by-six": (1, "1a 2b"),
    "six-by-six-down": (1, "1a 2b"),
    "two-suit": (1, "1a"),
    "one-suit": (94, "2a"),
    "eight-off": (1, "1e 2f"),
    "seahaven": (1, "1c"),
}


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
@pytest.mark.parametrize("variant", GAMES)
async def test_the_board_of_a_game(house: House, variant: str, size: tuple[int, int]) -> None:
    """After a few moves, with the last column picked up."""
    deal, moves = GAMES[variant]
    screen = await house.at_play(alone(variant, deal), size=size)
    await screen.shows("0:07")
    await screen.type(moves)
    await screen.type("3")
    await screen.is_as(f"board-{variant}")


async def test_letters_where_the_terminal_has_no_suits(house: House) -> None:
    """Every sign on every screen is in ASCII, so that any terminal shows it."""
    screen = await house.at_play(alone(), taste=Taste(letters=True, steps=False))
    await screen.type("58")
    await screen.is_as("board-letters")
    assert screen.text.isascii()
    for keys, words in ((("escape",), "Play on"), (("down", "down", "down", "enter"), "What now?"), (("n",), "Deal")):
        await screen.press(*keys)
        await screen.shows(words)
        assert screen.text.isascii(), screen.text


@pytest.mark.parametrize("size", [(20, 8), (41, 12), (60, 20), (250, 70)])
async def test_no_window_is_too_small_or_too_large(house: House, size: tuple[int, int]) -> None:
    """What there is no room for is left out."""
    screen = await house.at_play(alone(), size=size)
    await screen.type("58")
    await screen.until(lambda view: view.log == ("58",))
    await screen.press("escape", "escape", "f1", "escape")
    assert len(screen.text.splitlines()) == size[1]


async def test_a_click_on_a_key_does_what_the_key_does(house: House) -> None:
    """The line of keys is for the mouse too."""
    screen = await house.at_play(alone())
    await screen.type("58")
    await screen.shows("undo")
    at = screen.text.splitlines()[-1].index("undo")
    await screen.click_at("#keys", at)
    await screen.until(lambda view: view.log == ("58", "u"))


@pytest.mark.parametrize("deck", DECKS)
async def test_every_deck_is_told_apart_without_its_colours(house: House, deck: str) -> None:
    """What is picked up and where it may go stands in marks, whatever the deck."""
    screen = await house.at_play(alone())
    screen.app.desk.taste.deck = DECKS[deck]
    await screen.press("5")
    await screen.is_as("board-picked")


async def test_the_keys_take_the_next_deck(house: House) -> None:
    """F3, round and round; without colours none is left on the screen."""
    screen = await house.at_play(alone())
    for deck in ("two", "contrast", "none", "four"):
        await screen.press("f3")
        assert screen.app.desk.taste.deck.id == deck
        strips = screen.app.screen._compositor.render_strips()  # noqa: SLF001 - what is drawn is private
        filters = screen.app.get_line_filters()
        assert bool(screen.app.no_color) is (deck == "none")
        assert len(strips) == 24
        assert filters
