"""A server that leaves something unanswered while nothing is cut is told of, and so is the end of that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from cellrace_client.connection import Connection, silence
from cellrace_client.events import Back, Dropped, Event, Heard, Silent, Synced
from cellrace_client.terminal.sentences import tell_event
from tests.client.connecting import Standing, connected
from tests.client.fake_server import Peer, fake_server, running

A_WHILE = 0.5
"""Seconds that are silence, and no look that was held up."""


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Silence is told of after a moment."""
    monkeypatch.setattr(silence, "SILENT_AFTER", 0.02)


async def changes(connection: Connection) -> AsyncIterator[Event]:
    """What is told of silence."""
    async for event in connection.events():
        if isinstance(event, Silent | Heard):
            yield event


async def test_an_answer_that_does_not_come_is_told_and_so_is_that_it_has_come() -> None:
    asked, told, clock = asyncio.Event(), asyncio.Event(), Standing()

    async def script(peer: Peer) -> None:
        await peer.welcome("r1")
        await peer.answer(await peer.expect("race.sync"), "race", **running("r1"))
        move = await peer.expect("move")
        asked.set()
        await told.wait()
        await peer.answer(move, "moved", race="r1", seq=1, steps=[["1a"]], home=0, at=10, won=False)
        await peer.linger()

    async with fake_server(script) as server, connected(server, clock=clock) as c:
        moving = asyncio.create_task(c.move("r1", "1a"))
        await asked.wait()
        clock.now += A_WHILE
        heard = changes(c)
        assert await anext(heard) == Silent()
        assert not moving.done()
        told.set()
        assert await anext(heard) == Heard()
        assert (await moving).seq == 1


async def test_a_request_that_is_put_off_again_and_again_is_unanswered_too() -> None:
    """So it is when the store is away: all else is answered."""
    told = asyncio.Event()

    async def script(peer: Peer) -> None:
        await peer.welcome("r1")
        await peer.answer(await peer.expect("race.sync"), "race", **running("r1"))
        while not told.is_set():
            await peer.refuse(await peer.expect("move"), "retry_later", retry_after=1)
        move = await peer.expect("move")
        await peer.answer(move, "moved", race="r1", seq=1, steps=[["1a"]], home=0, at=10, won=False)
        await peer.linger()

    async with fake_server(script) as server, connected(server) as c:
        moving = asyncio.create_task(c.move("r1", "1a"))
        heard = changes(c)
        assert await anext(heard) == Silent()
        told.set()
        assert await anext(heard) == Heard()
        await moving


async def test_a_silence_ends_with_its_connection() -> None:
    """That it is cut, and is back, says it all."""
    asked, told, clock = asyncio.Event(), asyncio.Event(), Standing()

    async def silent(peer: Peer) -> None:
        await peer.welcome("r1")
        await peer.answer(await peer.expect("race.sync"), "race", **running("r1"))
        await peer.expect("move")
        asked.set()
        await told.wait()
        peer.socket.transport.abort()

    async def again(peer: Peer) -> None:
        await peer.welcome("r1", token=None)
        for _ in range(2):
            match (request := await peer.next())["type"]:
                case "race.sync":
                    await peer.answer(request, "race", **running("r1", version=6))
                case _:
                    await peer.answer(request, "moved", race="r1", seq=1, steps=[["1a"]], home=0, at=10, won=False)
        await peer.linger()

    async with fake_server(silent, again) as server, connected(server, clock=clock) as c:
        moving = asyncio.create_task(c.move("r1", "1a"))
        await asked.wait()
        clock.now += A_WHILE
        assert await anext(changes(c)) == Silent()
        told.set()
        await moving
        events = c.events()
        assert [type(await anext(events)) for _ in range(3)] == [Dropped, Back, Synced]


def test_a_silence_is_told_in_sentences() -> None:
    assert tell_event(Silent(), 0) == ["The server does not answer yet; what you have asked for is kept."]
    assert tell_event(Heard(), 0) == ["The server answers again."]
