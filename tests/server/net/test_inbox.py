"""An inbox: one request after the other, no more of them than are allowed; what came too fast is only told so."""

from __future__ import annotations

import asyncio
import time

import pytest

from cellrace.codec import JSON
from cellrace.errors import BadMessage
from cellrace.messages import CloseCode, Ping
from cellrace_server.config import Bounds
from cellrace_server.net.inbox import Arrived, Inbox
from tests.waiting import eventually


class Desk:
    """Takes requests up, and is done with one whenever it is told to go on."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.taken: list[Arrived] = []
        self.closes: list[CloseCode] = []
        self.go_on = asyncio.Semaphore(0)
        self.began = time.monotonic()
        self.inbox = Inbox(JSON, bounds or Bounds(), self._take_up, self.closes.append)

    async def _take_up(self, arrived: Arrived) -> None:
        self.taken.append(arrived)
        await self.go_on.acquire()
        if isinstance(arrived.request, Ping) and arrived.request.id == "broken":
            raise RuntimeError("The test says so.")

    def send(self, *ids: str, later: float = 1.0) -> None:
        """Pings with these ids, all read at one instant."""
        for name in ids:
            self.receive(JSON.encode_request(Ping(id=name)), later)

    def receive(self, frame: bytes, later: float = 1.0) -> None:
        """A frame that was read so many seconds after the beginning."""
        self.inbox.receive(frame, True, self.began + later)

    @property
    def ids(self) -> list[str | int | None]:
        """The ids of what was taken up."""
        return [arrived.request.id for arrived in self.taken if isinstance(arrived.request, Ping)]


async def test_requests_are_taken_up_in_order_and_each_when_the_last_is_done() -> None:
    desk = Desk()
    desk.send("1", "2", "3")
    for number in (1, 2, 3):
        await eventually(lambda number=number: len(desk.taken) == number)
        assert len(desk.inbox) == 3 - number
        desk.go_on.release()
    await eventually(lambda: not desk.inbox.busy)
    assert desk.ids == ["1", "2", "3"]


async def test_what_waits_is_forgotten_and_what_is_under_way_is_waited_for() -> None:
    desk = Desk()
    desk.send("1", "2")
    await eventually(lambda: desk.taken)
    desk.inbox.clear()
    settled = asyncio.create_task(desk.inbox.settle())
    await asyncio.sleep(0)
    assert not settled.done()
    desk.go_on.release()
    await settled
    assert desk.ids == ["1"]
    assert not desk.inbox.busy


async def test_one_who_sends_more_than_may_wait_is_closed() -> None:
    desk = Desk(Bounds(inbox=2))
    desk.send("1", "2")
    assert desk.closes == []
    desk.send("3")
    assert desk.closes == [CloseCode.RATE_LIMITED]
    assert len(desk.inbox) == 2
    desk.inbox.clear()


async def test_a_mistake_in_the_middle_of_a_request_closes() -> None:
    desk = Desk()
    desk.send("broken")
    desk.go_on.release()
    await eventually(lambda: desk.closes == [CloseCode.LOST_TRACK])
    assert not desk.inbox.busy


async def test_what_finds_the_bucket_empty_says_when_to_come_again() -> None:
    desk = Desk(Bounds(burst=1, per_second=10))
    desk.go_on = asyncio.Semaphore(9)
    desk.send("1", "2")
    desk.send("3", later=1.2)
    await eventually(lambda: len(desk.taken) == 3)
    assert [arrived.retry_after for arrived in desk.taken] == [0, pytest.approx(101, abs=1), 0]


async def test_a_frame_that_is_no_message_waits_its_turn_and_costs_more() -> None:
    desk = Desk(Bounds(burst=6, per_second=0.1, bad_frame_cost=5))
    desk.go_on = asyncio.Semaphore(9)
    desk.receive(b"{")
    desk.send("1", "2")
    await eventually(lambda: len(desk.taken) == 3)
    assert isinstance(desk.taken[0].request, BadMessage)
    assert [arrived.retry_after > 0 for arrived in desk.taken] == [False, False, True]


def test_so_many_within_a_minute_are_too_many() -> None:
    inbox = Inbox(JSON, Bounds(rate_limited_per_minute=3), _nobody, lambda code: None)
    assert [inbox.note_too_fast(at) for at in (0.0, 30.0, 60.0, 61.0, 121.5)] == [False, False, False, True, False]


async def _nobody(arrived: Arrived) -> None:
    raise AssertionError("nothing is taken up")
