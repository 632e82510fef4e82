"""Another name while connected: refused at no cost, or heard on a connection that takes over."""

from __future__ import annotations

import asyncio

import pytest

from cellrace.errors import Refused
from cellrace.messages import SettingsRequest
from cellrace_client.connection import connect
from cellrace_client.errors import Closed, Unreachable
from cellrace_client.events import Back, Renamed, Synced
from cellrace_server.app import running as running_node
from cellrace_server.config import Config
from tests.client.connecting import connected
from tests.client.fake_server import ANN, Peer, fake_server, running
from tests.waiting import eventually


async def test_a_name_that_is_taken_changes_nothing() -> None:
    """The connection that there is goes on, with its name and its requests."""
    over = asyncio.Event()

    async def first(peer: Peer) -> None:
        await peer.welcome("r1")
        await peer.answer(await peer.expect("race.sync"), "race", **running("r1"))
        move = await peer.expect("move")
        await over.wait()
        await peer.answer(move, "moved", race="r1", seq=1, steps=[["1a"]], home=0, at=10, won=False)
        await peer.linger()

    async def second(peer: Peer) -> None:
        hello = await peer.expect("hello")
        assert (hello["token"], hello["name"]) == ("t0", "Bob")
        await peer.refuse(hello, "name_taken")
        await peer.linger()

    async with fake_server(first, second) as server, connected(server) as c:
        moving = asyncio.create_task(c.move("r1", "1a"))
        with pytest.raises(Refused, match="name_taken"):
            await c.rename("Bob")
        assert c.connected
        assert c.player.name == "Ann"
        over.set()
        assert (await moving).seq == 1


@pytest.mark.parametrize("first_closed", [True, False], ids=["old-first", "new-first"])
async def test_a_name_is_heard_on_a_connection_that_takes_over(first_closed: bool) -> None:
    """What was not answered is asked again there, and nothing is told of a drop."""
    taken, closed = asyncio.Event(), asyncio.Event()

    async def first(peer: Peer) -> None:
        await peer.welcome("r1")
        await peer.answer(await peer.expect("race.sync"), "race", **running("r1"))
        await peer.expect("move")
        await taken.wait()
        await peer.close(4100)
        closed.set()

    async def second(peer: Peer) -> None:
        if first_closed:
            taken.set()
            await closed.wait()
        await peer.welcome("r1", token=None, player=ANN | {"name": "Anna"})
        requests = {}
        for _ in range(2):
            request = await peer.next()
            requests[request["type"]] = request
        await peer.answer(requests["move"], "moved", race="r1", seq=1, steps=[["1a"]], home=0, at=10, won=False)
        await peer.answer(requests["race.sync"], "race", **running("r1", "1a", version=7))
        await peer.linger()

    async with fake_server(first, second) as server, connected(server) as c:
        moving = asyncio.create_task(c.move("r1", "1a"))
        await asyncio.gather(c.rename("Anna"), moving)
        assert moving.result().seq == 1
        assert c.player.name == "Anna"
        kinds = []
        async for event in c.events():
            kinds.append(type(event))
            if isinstance(event, Synced) and event.view.version == 7:
                break
        assert kinds == [Renamed, Synced]
        taken.set()


async def test_an_outcome_that_is_not_known_ends_nothing() -> None:
    """The server has taken over and says no more: that is as good as a drop, and what has become of it shows then."""

    async def first(peer: Peer) -> None:
        await peer.welcome()
        await closed.wait()
        await peer.close(4100)

    async def second(peer: Peer) -> None:
        await peer.expect("hello")
        closed.set()
        peer.socket.transport.abort()

    async def third(peer: Peer) -> None:
        assert "name" not in await peer.welcome(token=None, player=ANN | {"name": "Anna"})
        await peer.linger()

    closed = asyncio.Event()
    async with fake_server(first, second, third) as server, connected(server) as c:
        with pytest.raises(Unreachable):
            await c.rename("Anna")
        async for event in c.events():
            if isinstance(event, Back):
                break
        assert c.player.name == "Anna"


async def test_a_wish_ends_with_the_connection() -> None:
    """Nobody waits for ever, and nobody can wish any more."""

    async def first(peer: Peer) -> None:
        await peer.welcome()
        await peer.linger()

    async def second(peer: Peer) -> None:
        await peer.expect("hello")
        await peer.linger()

    async with fake_server(first, second) as server, connected(server) as c:
        wishing = asyncio.create_task(c.rename("Anna"))
        await eventually(lambda: server.connections == 2)
        await c.close()
        with pytest.raises(Closed):
            await wishing
        with pytest.raises(Closed):
            await c.rename("Anna")


async def test_a_real_server_gives_another_name_in_the_middle_of_a_race(store_url: str) -> None:
    """The race goes on; the old name is free, and a name that somebody has is refused."""
    async with (
        running_node(Config(port=0, redis=store_url)) as node,
        connect(f"ws://127.0.0.1:{node.port}/ws", name="Ann") as ann,
        connect(f"ws://127.0.0.1:{node.port}/ws", name="Bob"),
    ):
        race = (await ann.create(SettingsRequest(deal=617, seats=1, countdown=0))).race
        await ann.ready(race)
        await ann.view_where(race, lambda view: view.playing)
        await ann.move(race, "58")
        for refused, code in (("Bob", "name_taken"), ("x", "bad_name")):
            with pytest.raises(Refused) as told:
                await ann.rename(refused)
            assert told.value.code == code
        await ann.rename("Anna")
        assert (await ann.player_record()).name == "Anna"
        assert (await ann.move(race, "4a")).seq == 2
        async with connect(f"ws://127.0.0.1:{node.port}/ws", name="Ann") as other:
            assert other.player.name == "Ann"
