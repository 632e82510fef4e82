"""Whoever is out of a race before its end is led to the lobby, and hears there why."""

from __future__ import annotations

import pytest

from cellrace_server.administration import Administration
from tests.client.app.conftest import House, Screen, alone


async def in_open_race(house: House) -> tuple[Screen, Screen, str]:
    """A host and a guest at their screens, in an open race for three in which Bob is ready."""
    host, guest, bob = await house.screen("Ann"), await house.screen("Cy"), await house.player("Bob")
    race = (await host.connection.create(alone(seats=3))).race
    for connection in (bob, guest.connection):
        await connection.join(race)
    await bob.ready(race)
    await host.go(race)
    await guest.go(race)
    await guest.shows("3 of 3 seats taken")
    return host, guest, race


@pytest.mark.parametrize("key", ["", "f1"], ids=["the race", "the rules"])
async def test_who_is_removed_by_the_host_hears_so_in_the_lobby(house: House, key: str) -> None:
    """Whatever lay over the race."""
    host, guest, race = await in_open_race(house)
    if key:
        await guest.press(key)
    await host.connection.kick(race, guest.connection.player.id)
    await guest.shows("What now?", "You were removed by the host.")
    await host.shows("Cy was removed by the host.", "2 of 3 seats taken")


async def test_who_was_not_ready_hears_so_in_the_lobby(house: House) -> None:
    """The host has started with those who were."""
    host, guest, race = await in_open_race(house)
    await host.connection.ready(race)
    await host.press("s")
    await guest.shows("What now?", "You were removed for not being ready.")


@pytest.mark.parametrize("key", ["", "escape", "f1"], ids=["the board", "the menu", "the rules"])
async def test_whose_race_is_cancelled_hears_so_in_the_lobby(house: House, key: str) -> None:
    """Players and spectators, whatever lay over their boards."""
    bob = await house.player("Bob")
    player = await house.at_play(alone(seats=2), bob)
    race = next(iter(player.connection.races))
    watcher = await house.screen("Cy")
    await watcher.connection.watch(race)
    await watcher.go(race)
    await watcher.shows("Watching")
    if key:
        await player.press(key)
    await Administration(house.node.services.store, "olga").void(race)
    for screen in (player, watcher):
        await screen.shows("What now?", "The race is cancelled: the server's operator has ended it.")
