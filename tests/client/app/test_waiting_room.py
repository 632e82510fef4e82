"""The waiting room in a low window, and the way out of it."""

from __future__ import annotations

import pytest

from cellrace.messages import RaceState, SettingsRequest
from cellrace_client.language import LANGUAGES, _, speak
from tests.client.app.conftest import House, alone
from tests.client.app.test_languages import keys_without_room
from tests.waiting import eventually


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_a_host_with_company_sees_every_key(house: House, lang: str) -> None:
    """With a free seat for a bot, ready or not: the way out is the last key, and always there."""
    speak(lang)
    bob = await house.player("Bob")
    screen = await house.screen()
    race = (await screen.connection.create(SettingsRequest(seats=4))).race
    await bob.join(race)
    await screen.until(lambda view: view.seated == 2, race)
    await screen.go(race)
    for _times in range(2):
        await eventually(lambda: not keys_without_room(screen))
        assert screen.text.splitlines()[-1].endswith(f"Esc {_('leave')}")
        await screen.press("space")
    await screen.resize(40, 12)
    await screen.shows(f"Esc {_('leave')}")


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_a_low_window_shows_first_what_matters(house: House, lang: str) -> None:
    """What to press and who is there, then the countdown; the settings can be scrolled to."""
    speak(lang)
    bob = await house.player("Bob")
    screen = await house.screen(size=(40, 12))
    race = (await screen.connection.create(alone(seats=2, countdown=60))).race
    await bob.join(race)
    await screen.until(lambda view: view.seated == 2, race)
    await screen.go(race)
    await screen.shows(_("Press space when you are ready."), "Ann", "Bob")
    settings = _("deal {number}").format(number=617)
    await screen.press("pagedown", "down", "pagedown")
    await screen.shows(settings)
    await screen.press("pageup", "up", "pageup")
    await bob.ready(race)
    await screen.press("space")
    view = await screen.until(lambda view: view.state is RaceState.COUNTDOWN, race)
    house.at["Ann"] = (view.start_at or 0) - 2_001
    await screen.look()
    await screen.shows(f"{_('The race starts in')} 3", "Ann", "Bob")
    await screen.resize(80, 24)
    await screen.shows(settings, _("The race starts in"))
    await screen.shows_not(f"{_('The race starts in')} 3")
