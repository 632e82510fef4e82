"""The form of a new race shows what the server will make of it."""

from __future__ import annotations

from cellrace.messages import RaceState
from tests.client.app.conftest import House

DOWN_TO_RANKED = ["down"] * 10


async def test_a_known_deal_is_not_ranked_in_the_form_either(house: House) -> None:
    """It cannot be chosen and a key tells why; the race that is opened is as the form said."""
    screen = await house.screen()
    await screen.press("n")
    await screen.shows("Ranked                       ‹ yes ›")
    await screen.press("down", *"617")
    await screen.shows("Ranked                         no")
    await screen.press(*DOWN_TO_RANKED, "right")
    await screen.shows("Ranked                         no", "A race on a known deal is never ranked.")
    await screen.press("enter")
    await screen.shows("deal 617, not ranked")
    view = await screen.until(lambda view: view.state is RaceState.OPEN)
    assert not view.settings.ranked


async def test_ghosts_make_a_race_unranked_in_the_form(house: House) -> None:
    """And without them it is as it was before."""
    screen = await house.screen()
    await screen.press("n", "up", *"r/p")
    await screen.shows("Ranked                         no")
    await screen.press("backspace", "backspace", "backspace")
    await screen.shows("Ranked                       ‹ yes ›")
