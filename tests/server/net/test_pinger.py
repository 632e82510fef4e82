"""Round trips: measured at once when a race needs them, and what came too early does not count."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import cast

import pytest
import pytest_asyncio

from cellrace_server.app import Node
from cellrace_server.net import pinger
from cellrace_server.net.connection import Connection
from cellrace_server.net.pinger import Pinger
from tests.story.players import Table, play, start_race
from tests.waiting import eventually


class Line:
    """A connection whose pongs come when the test says so."""

    def __init__(self) -> None:
        self.pings: list[bytes] = []
        self.pong: Callable[[bytes], None] = self._nobody
        self.transport = SimpleNamespace(abort=self._abort)
        self.aborted = False
        self.closing = False
        self.answers = False
        """Whether a pong comes by itself, as soon as may be."""

    @staticmethod
    def _nobody(_payload: bytes) -> None:
        raise AssertionError("nobody waits for a pong")

    def _abort(self) -> None:
        self.aborted = True

    def when_pong(self, then: Callable[[bytes], None]) -> None:
        self.pong = then

    def send_ping(self, payload: bytes) -> bool:
        if not self.closing:
            self.pings.append(payload)
            if self.answers:
                asyncio.get_running_loop().call_soon(lambda: self.pong(payload))
        return not self.closing


class Clock:
    """Time that passes when the test says so."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


class Pinged:
    """A pinger at work on such a line."""

    def __init__(self, pause: float, clock: Clock | None = None, *, answers: bool = False) -> None:
        self.line = Line()
        self.line.answers = answers
        self.noted: list[int] = []
        self.clock = clock or Clock()
        self.pinger = Pinger(cast(Connection, self.line), pause, self.noted.append)
        self.pinger.start()

    def pong(self, payload: bytes, after: float = 0.0) -> None:
        """A pong comes so many seconds after the last ping."""
        self.clock.now += after
        self.line.pong(payload)


@pytest_asyncio.fixture
async def pinged(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Pinged]:
    """A pinger with all the time in the world; it passes when the test says so."""
    clock = Clock()
    monkeypatch.setattr(pinger, "time", clock)
    made = Pinged(60, clock)
    yield made
    made.pinger.stop()


async def test_each_pong_is_noted_in_milliseconds(pinged: Pinged) -> None:
    pinged.pong(pinged.line.pings[0], after=0.0126)
    assert pinged.noted == [13]
    assert len(pinged.line.pings) == 1


async def test_a_pong_that_nobody_asked_for_says_nothing(pinged: Pinged) -> None:
    """Neither one that a client makes up, nor the same one again."""
    pinged.pong(b"")
    pinged.pong(bytes(4) if pinged.line.pings[0] != bytes(4) else b"1234")
    assert not pinged.noted
    pinged.pong(pinged.line.pings[0])
    pinged.pong(pinged.line.pings[0])
    assert len(pinged.noted) == 1


async def test_it_measures_at_once_when_asked(pinged: Pinged) -> None:
    pinged.pong(pinged.line.pings[0])
    pinged.pinger.measure()
    assert len(set(pinged.line.pings)) == 2


async def test_what_is_asked_for_while_a_ping_is_on_its_way_gets_a_ping_of_its_own(pinged: Pinged) -> None:
    pinged.pinger.measure()
    pinged.pinger.measure()
    assert len(pinged.line.pings) == 1
    pinged.pong(pinged.line.pings[0], after=0.001)
    assert len(pinged.line.pings) == 2
    pinged.pong(pinged.line.pings[1], after=0.002)
    assert pinged.noted == [1, 2]
    assert len(pinged.line.pings) == 2


async def test_it_pings_again_after_each_pause_while_pongs_come() -> None:
    made = Pinged(0.02, answers=True)
    await eventually(lambda: len(made.line.pings) >= 4)
    assert not made.line.aborted
    made.pinger.stop()


async def test_without_a_pong_the_connection_is_ended() -> None:
    made = Pinged(0.05)
    await eventually(lambda: made.line.aborted)
    assert not made.noted


async def test_a_client_that_has_said_goodbye_and_does_not_go_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pinger, "LEAVE", 0.01)
    made = Pinged(60)
    made.pong(made.line.pings[0])
    made.line.closing = True
    made.pinger.measure()
    await eventually(lambda: made.line.aborted)


@pytest.mark.parametrize("measured", [37, 400])
async def test_a_winners_time_is_less_the_measured_round_trip_and_no_more_than_a_quarter_second(
    seats: Table, node: Node, monkeypatch: pytest.MonkeyPatch, measured: int
) -> None:
    monkeypatch.setattr("cellrace_server.net.pinger.round", lambda _: measured, raising=False)
    ann = await seats.player("Ann")
    race = await start_race(ann, variant="one-suit", deal=94)
    await eventually(lambda: any(referee.room.latency for referee in node.services.rooms))
    last = await play(ann, race, ["2a", "2b", "31v2"])
    (standing,) = (await ann.push("race.over", race=race))["standings"]
    assert standing["raw"] == last["at"]
    assert standing["latency"] == min(measured, 250)
    assert standing["time"] == max(0, standing["raw"] - standing["latency"])
