"""Boards of others at the lines, when one's own game has ended."""

from __future__ import annotations

from cellrace.messages import SettingsRequest
from cellrace_client.connection import connect
from tests.client.test_plain_person import a_house, a_person


async def test_a_board_shows_what_was_played_before_ones_own_game_had_ended(store_url: str) -> None:
    """Nobody has to move again; while one plays, no move of others is shown."""
    async with (
        a_house(store_url) as (_node, _wire, url),
        connect(url, name="Ann") as ann,
        connect(url, name="Bob") as bob,
    ):
        race = (await ann.create(SettingsRequest(variant="one-suit", deal=94, countdown=0))).race
        await bob.join(race)
        for player in (ann, bob):
            await player.ready(race)
        for player in (ann, bob):
            await player.view_where(race, lambda view: view.playing)
        await bob.move(race, "2a", "2b")
        await ann.view_where(race, lambda view: view.rivals[0].seq == 2)
        async with a_person(ann) as person:
            person.type(f"join {race}")
            person.type("board bob")
            await person.hears("No move of Bob is shown yet.")
            person.type("concede yes")
            await person.hears("You conceded with 0 cards home.")
            person.type("board bob")
            await person.hears("The board of Bob:")
            await person.hears("9 cards home")
