"""The line client's person: another name, a place in the queue that outlives a drop, and what --name does."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import pytest

from cellrace.errors import Refused
from cellrace_client.cli.coming import Arrived, come_as
from cellrace_client.connection import Connection, connect
from cellrace_client.terminal.plain import Ending, PlainClient
from cellrace_client.terminal.typed_lines import TypedLines
from cellrace_client.tokens import TokenStore
from cellrace_server.app import Node, running
from cellrace_server.config import Config
from tests.client.app.relay import Relay, relay
from tests.waiting import eventually


class Lines(TypedLines):
    """Lines that a test types."""

    def __init__(self) -> None:
        self.typed: asyncio.Queue[str | None] = asyncio.Queue()

    async def next(self) -> str | None:
        """The next line."""
        return await self.typed.get()


class Person:
    """Somebody at the lines, and what they were told."""

    def __init__(self, connection: Connection, *, interactive: bool = True) -> None:
        self.told: list[str] = []
        self._lines = Lines()
        self.client = PlainClient(connection, self._lines, self.told.append, interactive=interactive)

    def type(self, line: str) -> None:
        """Types a line."""
        self._lines.typed.put_nowait(line)

    async def hears(self, words: str, times: int = 1) -> None:
        """Waits until something is told so many times."""
        await eventually(lambda: sum(words in line for line in self.told) >= times)


@asynccontextmanager
async def a_person(connection: Connection, *, interactive: bool = True) -> AsyncIterator[Person]:
    """A person at a connection."""
    person = Person(connection, interactive=interactive)
    running_client = asyncio.create_task(person.client.run())
    try:
        yield person
    finally:
        running_client.cancel()
        with suppress(asyncio.CancelledError):
            await running_client


@asynccontextmanager
async def a_house(store_url: str) -> AsyncIterator[tuple[Node, Relay, str]]:
    """A server, and a wire to it that can be cut."""
    async with running(Config(port=0, redis=store_url)) as node, relay(node.port) as wire:
        yield node, wire, f"ws://127.0.0.1:{wire.port}/ws"


async def test_a_place_in_the_queue_outlives_a_drop(store_url: str) -> None:
    """It is taken again, which is told, and a match comes of it; once, and not after the match."""
    async with a_house(store_url) as (node, wire, url), connect(url, name="Ann") as ann, a_person(ann) as person:
        person.type("queue one-suit")
        await person.hears("You wait for a rival; 1 waits.")
        for times in (1, 2):
            wire.cut()
            await person.hears("The connection is cut", times)
            wire.mend()
            await person.hears("You wait for a rival again; 1 waits.", times)
        async with connect(f"ws://127.0.0.1:{node.port}/ws", name="Bob") as bob:
            await bob.queue("one-suit")
            await person.hears("A rival is found")
            wire.cut()
            await person.hears("The connection is cut", 3)
            wire.mend()
            await person.hears("The connection is back", 3)
            await ann.ping()
            person.type("race")
            await person.hears("Time limit")
            assert sum("rival again" in line for line in person.told) == 2


async def test_a_match_that_was_made_at_the_drop_is_found(store_url: str) -> None:
    """Nobody waits again who is in a race already."""
    async with a_house(store_url) as (node, wire, url), connect(url, name="Ann") as ann, a_person(ann) as person:
        person.type("queue one-suit")
        await person.hears("You wait for a rival; 1 waits.")
        # What the server says from now on is not heard: the match is made, and nobody here knows.
        ann._dialogue.races.hear = lambda _push: (None, False)  # type: ignore[method-assign] # noqa: SLF001
        async with connect(f"ws://127.0.0.1:{node.port}/ws", name="Bob") as bob:
            await bob.queue("one-suit")
            await bob.race_where(lambda view: view.me is not None)
            wire.cut()
            await person.hears("The connection is cut")
            del ann._dialogue.races.hear  # noqa: SLF001
            wire.mend()
            await person.hears("The connection is back")
            await ann.ping()
            person.type("race")
            await person.hears("Time limit")
            assert not any("rival again" in line for line in person.told)


async def test_whoever_has_left_the_queue_stays_out_of_it(store_url: str) -> None:
    """Also after a drop."""
    async with a_house(store_url) as (_node, wire, url), connect(url, name="Ann") as ann, a_person(ann) as person:
        person.type("queue")
        await person.hears("You wait for a rival; 1 waits.")
        person.type("unqueue")
        await person.hears("You wait for no rival.")
        wire.cut()
        await person.hears("The connection is cut")
        wire.mend()
        await person.hears("The connection is back")
        await ann.ping()
        assert await ann.queue() == 1


async def test_the_daily_is_begun_by_whoever_says_yes(store_url: str) -> None:
    """Anything else leaves it for later, and is then done; one that has begun is gone on with unasked."""
    async with a_house(store_url) as (_node, _wire, url), connect(url, name="Ann") as ann, a_person(ann) as person:
        for times, answer in enumerate(("no", "", "name"), 1):
            person.type("daily one-suit")
            await person.hears("Type yes to begin your attempt now", times)
            assert (await ann.daily("one-suit")).you is None
            person.type(answer)
            await person.hears("Your attempt has not begun.", times)
        await person.hears("name NEW takes another name")
        person.type("daily one-suit")
        await person.hears("Type yes to begin your attempt now", 4)
        person.type("yes")
        await person.hears("0 cards of 13 home.")
        person.type("daily one-suit")
        await person.hears("your one attempt is running", 2)
        person.type("concede yes")
        await person.hears("The standings:")
        person.type("daily one-suit")
        await person.hears("Your attempt: conceded")
        assert sum("Type yes to begin" in line for line in person.told) == 4


@pytest.mark.parametrize(("interactive", "typed"), [(True, "daily one-suit yes"), (False, "daily one-suit")])
async def test_the_daily_begins_at_once_where_that_is_meant(store_url: str, interactive: bool, typed: str) -> None:
    """With the answer on the line, and in a pipe, where nobody types by mistake."""
    async with (
        a_house(store_url) as (_node, _wire, url),
        connect(url, name="Ann") as ann,
        a_person(ann, interactive=interactive) as person,
    ):
        person.type(typed)
        await person.hears("0 cards of 13 home.")
        assert not any("Type yes to begin" in line for line in person.told)


async def test_a_friend_is_told_what_to_type(store_url: str) -> None:
    """The whole command, as long as there is a seat."""
    async with a_house(store_url) as (_node, wire, url), connect(url, name="Ann") as ann, a_person(ann) as person:
        person.type("open one-suit seats=2")
        await person.hears("Others enter it with: join ")
        (view,) = ann.races.values()
        command = f"cellrace play --server 127.0.0.1:{wire.port} --code {view.code} --profile friend"
        await person.hears(f"A friend on this machine types: {command}")
        async with connect(url, name="Bob") as bob:
            await bob.join(code=view.code)
            await person.hears("Bob has joined")
            person.type("race")
            await person.hears("Time limit")
            assert sum("A friend" in line for line in person.told) == 1


async def test_what_is_unclear_is_no_success_in_a_pipe(store_url: str) -> None:
    """A person reads what was wrong and goes on; a script knows it by the exit status."""
    async with a_house(store_url) as (_node, _wire, url):
        for typed in ("join", "watch r1 r2", "leaderboard", "undo x", "open seats=x", "nosuch"):
            for interactive in (True, False):
                async with connect(url) as ann:
                    lines = Lines()
                    for line in (typed, None):
                        lines.typed.put_nowait(line)
                    ending = await PlainClient(ann, lines, lambda _sentence: None, interactive=interactive).run()
                    assert ending is (Ending.WELL if interactive else Ending.NOT_WELL), typed


async def test_a_name_is_told_and_taken(store_url: str) -> None:
    """A refusal says why; a place in the queue is kept."""
    async with (
        a_house(store_url) as (_node, _wire, url),
        connect(url, name="Bob"),
        connect(url, name="Ann") as ann,
        a_person(ann) as person,
    ):
        person.type("name")
        await person.hears("You are Ann; name NEW takes another name.")
        person.type("name bob")
        await person.hears("Another player has this name.")
        person.type("queue")
        await person.hears("You wait for a rival; 1 waits.")
        person.type("name Ann Lee")
        await person.hears("You are called Ann Lee now.")
        await person.hears("You wait for a rival again; 1 waits.")


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration directory of the test's own."""
    monkeypatch.setattr("cellrace_client.tokens.user_config_path", lambda *_names, **_more: tmp_path)
    return tmp_path


async def come(url: str, name: str | None, profile: str = "default", token: str | None = None) -> Arrived:
    """Comes and goes."""
    async with AsyncExitStack() as stack:
        return await come_as(stack, url, name, token, profile, None)


@pytest.mark.usefixtures("configured")
async def test_a_name_for_somebody_who_is_known_is_told(store_url: str) -> None:
    """The one that there is already needs no word, and neither does a new player's."""
    async with a_house(store_url) as (_node, _wire, url):
        assert (await come(url, "Ann")).told == []
        assert (await come(url, None)).told == []
        assert (await come(url, "Ann")).told == []
        arrived = await come(url, "Anna")
        assert arrived.told == ["You were Ann here, and are Anna from now on; --profile plays as another player."]
        assert arrived.store is not None
        remembered = arrived.store.load(url)
        assert remembered is not None
        assert remembered.name == "Anna"
        assert (await come(url, "Ann", "other")).told == []
        with pytest.raises(Refused):
            await come(url, "Ann")


async def test_a_player_who_is_kept_already_is_not_kept_again(store_url: str, configured: Path) -> None:
    """On a full disk it would be told that this cannot be done, though there is nothing to do."""
    async with a_house(store_url) as (_node, _wire, url):
        await come(url, "Ann")
        (path,) = (configured / "tokens").iterdir()
        before = path.stat().st_ino
        arrived = await come(url, None)
        assert arrived.told == []
        assert path.stat().st_ino == before
        arrived.store, arrived.connection.token = TokenStore(configured / "other"), "another"
        assert arrived.keep() is None
        assert len(list((configured / "other").iterdir())) == 1


@pytest.mark.usefixtures("configured")
async def test_another_name_is_kept_with_its_player(store_url: str) -> None:
    """And not at all for a token that was given."""
    async with a_house(store_url) as (_node, _wire, url), AsyncExitStack() as stack:
        arrived = await come_as(stack, url, "Ann", None, "default", None)
        assert await arrived.rename("Anna") is None
        assert (await come(url, None)).connection.player.name == "Anna"
        by_token = await come(url, None, "other", arrived.connection.token)
        assert by_token.store is None
        assert by_token.keep() is None


async def test_whoever_is_forgotten_is_somebody_new_of_the_same_name(store_url: str, configured: Path) -> None:
    """Unless somebody else has it by now, or another one is asked for."""
    async with a_house(store_url) as (_node, _wire, url):
        ann = await come(url, "Ann")
        assert ann.store is not None
        for before, asked, there in (("Ben", None, "Ben"), ("Ann", None, "Guest"), ("Cy", "Dee", "Dee")):
            ann.store.save(ann.url, before, "no-such-token", before)
            arrived = await come(url, asked, before)
            assert arrived.told == [f"The server no longer knows {before}; you play as somebody new."]
            assert arrived.connection.player.name.startswith(there)
        assert len(list((configured / "tokens").iterdir())) == 4


async def test_a_player_whose_file_cannot_be_read_is_somebody_new_and_nothing_is_lost(
    store_url: str, configured: Path
) -> None:
    """The token in it may be all that there is of that player: it is told where it is."""
    async with a_house(store_url) as (_node, _wire, url):
        ann = await come(url, "Ann")
        assert ann.store is not None
        kept = ann.store.path(ann.url)
        spoilt = kept.read_bytes()[:-1]
        kept.write_bytes(spoilt)
        (told,) = (await come(url, "Ben")).told
        (aside,) = (path for path in (configured / "tokens").iterdir() if path != kept)
        assert aside.read_bytes() == spoilt
        assert told == (f"Your player here cannot be read: you play as somebody new, and what was kept is {aside} now.")
        assert (await come(url, None)).told == []


@pytest.mark.skipif(os.name == "nt", reason="needs a directory that is a file")
async def test_a_player_who_cannot_be_kept_plays_all_the_same(store_url: str, configured: Path) -> None:
    """And is told."""
    (configured / "tokens").write_bytes(b"")
    async with a_house(store_url) as (_node, _wire, url):
        told = (await come(url, "Ann")).told
        assert len(told) == 1
        assert told[0].startswith("Your player cannot be kept for the next time: ")
