"""The boards of a race for somebody whose own game has ended, and what is said of those who are gone."""

from __future__ import annotations

from tests.client.app.conftest import House, alone

ONE_SUIT = ("2a", "2b", "31v2")
"""What wins deal 94."""


async def test_boards_show_what_was_played_before_ones_own_game_had_ended(house: House) -> None:
    """Of who plays and of who has won, though nobody moves again; and moves that follow are shown too."""
    bob, cy = await house.player("Bob"), await house.player("Cy")
    screen = await house.at_play(alone("one-suit", 94, seats=3), bob, cy)
    race = next(iter(screen.connection.races))
    await bob.move(race, *ONE_SUIT[:2])
    await cy.move(race, *ONE_SUIT)
    await screen.connection.concede(race)
    await screen.shows("█ won", "w watch")
    await screen.press("w")
    await screen.shows("Watching", "--    K♠      9♠      ▕    --      --    K♠ ")
    await bob.undo(race)
    await screen.shows("9♠        --    A♠      ▕    --      --    K♠ ")


async def test_boards_of_a_race_that_is_over_show_how_it_ended(house: House) -> None:
    """Also to whoever played to its end."""
    bob = await house.player("Bob")
    screen = await house.at_play(alone("one-suit", 94, seats=2), bob)
    race = next(iter(screen.connection.races))
    await bob.move(race, *ONE_SUIT)
    await screen.connection.concede(race)
    await screen.shows("w boards")
    await screen.press("w")
    await screen.shows("Watching", "▕         --        --     K♠ ")


async def test_who_has_forfeited_is_not_missed(house: House) -> None:
    """A game that has ended waits for nobody to come back."""
    bob, cy = await house.player("Bob"), await house.player("Cy")
    race = (await bob.create(alone(seats=2, private=False))).race
    await cy.join(race)
    for player in (bob, cy):
        await player.ready(race)
    await bob.view_where(race, lambda view: view.playing)
    screen = await house.screen()
    await screen.connection.watch(race)
    await screen.go(race)
    await bob.forfeit(race)
    await bob.close()
    await screen.until(lambda view: not view.entrants[0].online, race)
    await screen.look()
    await screen.shows("Watching", "forfeited", "playing")
    assert "offline" not in screen.text


async def test_why_games_of_a_private_race_cannot_be_seen_is_told(house: House) -> None:
    """To a stranger who asks for a replay; who was in it sees it."""
    bob = await house.player("Bob")
    race = (await bob.create(alone("one-suit", 94, private=True))).race
    await bob.ready(race)
    await bob.view_where(race, lambda view: view.playing)
    await bob.move(race, *ONE_SUIT)
    await house.settled(race)
    screen = await house.screen()
    await screen.press("r", "i", *f"{race} {bob.player.id}", "enter")
    await screen.shows("This race is private: its games are for those who were in it.")
