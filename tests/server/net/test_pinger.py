"""Round trips: measured at once when a race needs them, and what came too early does not count."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import cast

import pytest
import pytest_asyncio
from websockets.exceptions import ConnectionClosedOK

from cellrace_server.app import Node
from cellrace_server.net.connection import Connection
from cellrace_server.net.pinger import Pinger
from tests.story.players import Table, play, start_race
from tests.waiting import eventually


class Line:
    """A connection whose pongs come when the test says so."""

    def __init__(self) -> None:
        self.pings: list[asyncio.Future[float]] = []
        self.transport = SimpleNamespace(abort=self._abort)
        self.aborted = False
        self.closed = False

    def _abort(self) -> None:
        self.aborted = True

    async def ping(self) -> asyncio.Future[float]:
        if self.closed:
            raise ConnectionClosedOK(None, None)
        self.pings.append(asyncio.get_running_loop().create_future())
        return self.pings[-1]


class Pinged:
    """A pinger at work on such a line."""

    def __init__(self, pause: float) -> None:
        self.line = Line()
        self.noted: list[int] = []
        self.pinger = Pinger(cast(Connection, self.line), pause, self.noted.append)
        self.task = asyncio.create_task(self.pinger.run())

    async def sent(self, count: int) -> None:
        """Wait until so many pings were sent."""
        await eventually(lambda: len(self.line.pings) >= count)


@pytest_asyncio.fixture
async def pinged() -> AsyncIterator[Pinged]:
    """A pinger with all the time in the world."""
    made = Pinged(60)
    await made.sent(1)
    yield made
    made.task.cancel()


async def test_each_pong_is_noted_in_milliseconds(pinged: Pinged) -> None:
    pinged.line.pings[0].set_result(0.0126)
    await eventually(lambda: pinged.noted == [13])
    assert len(pinged.line.pings) == 1


async def test_it_measures_at_once_when_asked(pinged: Pinged) -> None:
    pinged.line.pings[0].set_result(0.5)
    await eventually(lambda: pinged.noted)
    pinged.pinger.measure()
    await pinged.sent(2)


async def test_what_is_asked_for_while_a_ping_is_on_its_way_gets_a_ping_of_its_own(pinged: Pinged) -> None:
    pinged.pinger.measure()
    pinged.pinger.measure()
    pinged.line.pings[0].set_result(0.001)
    await pinged.sent(2)
    pinged.line.pings[1].set_result(0.002)
    await eventually(lambda: pinged.noted == [1, 2])
    assert len(pinged.line.pings) == 2


async def test_without_a_pong_the_connection_is_ended() -> None:
    made = Pinged(0.05)
    await asyncio.wait_for(made.task, 5)
    assert made.line.aborted
    assert not made.noted


async def test_it_ends_with_the_connection() -> None:
    made = Pinged(60)
    await made.sent(1)
    made.line.closed = True
    made.line.pings[0].set_result(0.001)
    made.pinger.measure()
    await asyncio.wait_for(made.task, 5)
    assert not made.line.aborted


@pytest.mark.parametrize("delay", [0, 400])
async def test_a_winners_time_is_less_the_measured_round_trip_and_no_more_than_a_quarter_second(
    seats: Table, node: Node, monkeypatch: pytest.MonkeyPatch, delay: int
) -> None:
    monkeypatch.setattr("cellrace_server.net.pinger.round", lambda value: int(value) + delay, raising=False)
    ann = await seats.player("Ann")
    race = await start_race(ann, variant="one-suit", deal=94)
    await eventually(lambda: any(referee.room.latency for referee in node.services.rooms))
    last = await play(ann, race, ["2a", "2b", "31v2"])
    (standing,) = (await ann.push("race.over", race=race))["standings"]
    assert standing["raw"] == last["at"]
    assert standing["latency"] in ([250] if delay else range(100))
    assert standing["time"] == max(0, standing["raw"] - standing["latency"])
