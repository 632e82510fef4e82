"""Who one is and how one likes the screen: changed with a key, and kept."""

from __future__ import annotations

from pathlib import Path

from cellrace_client.connection import connect
from cellrace_client.terminal.app.app import CellraceApp
from cellrace_client.terminal.app.deck import DECKS
from cellrace_client.terminal.app.desk import Taste
from cellrace_client.terminal.app.liking import Liking, LikingStore
from tests.client.app.conftest import House, Screen, alone, shown


async def test_another_name_is_taken_in_the_lobby(house: House) -> None:
    """A refusal says why and changes nothing; who waits for a race goes on waiting."""
    await house.player("Bob")
    screen = await house.screen("Ann")
    await screen.shows("you are Ann", "F2 Name: Ann")
    for typed, told in (("Bob", "Another player has this name."), ("x", "2 to 20 characters")):
        await screen.press("f2")
        await screen.shows("What do you want to be called?")
        await screen.press(*typed, "enter")
        await screen.shows(told, "you are Ann")
    await screen.press("f2", "escape")
    await screen.press("f2", *"Anna", "enter")
    await screen.shows("you are Anna", "F2 Name: Anna", "You are called Anna now.")


async def test_a_name_that_cannot_be_kept_is_told(house: House) -> None:
    """It is taken all the same."""
    connection = await house.player("Ann")
    asked = []

    async def rename(name: str) -> str:
        asked.append(name)
        await connection.rename(name)
        return "It is kept nowhere."

    app = CellraceApp(connection, rename=rename)
    house.stack.push_async_callback(app.desk.close)
    screen = Screen(app, await house.stack.enter_async_context(shown(app, (80, 24))), connection)
    await screen.pause()
    await screen.press("f2", *"Anna", "enter")
    await screen.shows("you are Anna", "It is kept nowhere.")
    assert asked == ["Anna"]


async def test_a_rename_in_a_race_is_seen_by_its_player(house: House) -> None:
    """The game goes on where it was."""
    screen = await house.at_play(alone())
    await screen.type("58")
    await screen.connection.rename("Anna")
    await screen.shows("You are called Anna now.")
    await screen.type("4a")
    await screen.until(lambda view: view.log == ("58", "4a"))


async def test_what_is_to_be_told_first_is_told(house: House, tmp_path: Path) -> None:
    """In the lobby and in a race, also that a file could not be read."""
    path = tmp_path / "screen.json"
    path.write_text("{")
    store = LikingStore(path)
    store.load()
    for race in (None, alone()):
        connection = await house.stack.enter_async_context(connect(house.url))
        view = await connection.create(race) if race else None
        if view is not None:
            await connection.ready(view.race)
            await connection.view_where(view.race, lambda view: view.playing)
        app = CellraceApp(
            connection, race=view.race if view else None, taste=Taste(store=store), told=["You were Ann here."]
        )
        house.stack.push_async_callback(app.desk.close)
        screen = Screen(app, await house.stack.enter_async_context(shown(app, (80, 24))), connection)
        await screen.shows("You were Ann here.", "cannot be read")


async def test_what_is_chosen_by_keys_is_kept(house: House, tmp_path: Path) -> None:
    """Deck, letters and steps; what was only said on the command line is not."""
    store = LikingStore(tmp_path / "screen.json")
    screen = await house.at_play(alone(), taste=Taste(deck=DECKS["two"], store=store))
    await screen.press("f5")
    await screen.shows("KD")
    assert store.load() == Liking(letters=True)
    await screen.press("f5")
    await screen.shows("K♦")
    await screen.press("f3", "f4")
    assert store.load() == Liking("contrast", letters=False, steps=False)


async def test_a_terminal_without_suits_has_letters(house: House) -> None:
    """And says so when signs are asked for."""
    screen = await house.at_play(alone(), taste=Taste(letters=True, suits=False))
    await screen.press("f5")
    await screen.shows("KD", "This terminal has no signs for suits.")


async def test_what_cannot_be_kept_is_told(house: House, tmp_path: Path) -> None:
    """The deck changes all the same."""
    (tmp_path / "file").write_bytes(b"")
    taste = Taste(store=LikingStore(tmp_path / "file" / "screen.json"))
    screen = await house.at_play(alone(), taste=taste)
    await screen.press("f3")
    await screen.shows("This cannot be kept for the next time: ")
    assert taste.deck is DECKS["two"]
