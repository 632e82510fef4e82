"""A client that reads slowly gets news merged; one that does not read is let go; nobody else waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import cast
from unittest.mock import patch

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.streams import StreamReader

from cellrace_server.config import Bounds
from cellrace_server.net.connection import Connection
from cellrace_server.net.outbox import NewsKey, Outbox, frame_bytes

BOUNDS = Bounds(merge_bytes=100, evict_bytes=1000, evict_seconds=5.0)


class Transport:
    """A transport whose buffer holds what was written until the test reads it."""

    def __init__(self) -> None:
        self.unread: list[bytes] = []
        self.read_frames: list[bytes] = []

    def write(self, frame: bytes) -> None:
        self.unread.append(frame)

    def get_write_buffer_size(self) -> int:
        return sum(map(len, self.unread))

    def read(self) -> None:
        """The client reads all that waits."""
        self.read_frames += self.unread
        self.unread = []


class Clock:
    """An event loop's timers, moved on by the test."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[tuple[float, Callable[[], None], SimpleNamespace]] = []

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, callback: Callable[[], None]) -> SimpleNamespace:
        handle = SimpleNamespace(cancelled=False)
        handle.cancel = lambda: setattr(handle, "cancelled", True)
        self.timers.append((self.now + delay, callback, handle))
        return handle

    def advance(self, seconds: float) -> None:
        """Let time pass, and every timer ring that is due."""
        end = self.now + seconds
        while due := sorted((t for t in self.timers if t[0] <= end), key=lambda t: t[0])[:1]:
            self.timers.remove(due[0])
            self.now = due[0][0]
            if not due[0][2].cancelled:
                due[0][1]()
        self.now = end


class Line:
    """An outbox with its transport, its clock, and whether the client was let go."""

    def __init__(self, bounds: Bounds = BOUNDS) -> None:
        self.clock = Clock()
        self.transport = Transport()
        self.connection = SimpleNamespace(transport=self.transport, state=State.OPEN)
        self.let_go = 0
        self.outbox = Outbox(cast(Connection, self.connection), bounds, self._evict)

    def _evict(self) -> None:
        self.let_go += 1

    def catch_up(self) -> list[bytes]:
        """Let the client read until nothing comes any more; all that it has read."""
        for _ in range(3):
            self.transport.read()
            self.clock.advance(0.2)
        return self.transport.read_frames


@pytest.fixture
def line() -> Iterator[Line]:
    """A line at rest."""
    with Opened() as line:
        yield line


class Opened:
    """A line whose outbox sees the test's clock."""

    def __init__(self, bounds: Bounds = BOUNDS) -> None:
        self.line = Line(bounds)
        self._patch = patch.object(asyncio, "get_running_loop", lambda: self.line.clock)

    def __enter__(self) -> Line:
        self._patch.start()
        return self.line

    def __exit__(self, *_: object) -> None:
        self._patch.stop()


def news(subject: str) -> NewsKey:
    return ("race.progress", "r1", subject)


def test_a_client_that_reads_gets_all_at_once(line: Line) -> None:
    line.outbox.send(b"fact")
    line.outbox.send_news(news("ann"), b"news 1")
    line.outbox.send_news(news("ann"), b"news 2")
    assert line.transport.unread == [b"fact", b"news 1", b"news 2"]


def test_above_the_merging_mark_news_replace_each_other(line: Line) -> None:
    line.outbox.send(b"x" * 101)
    for number in range(50):
        line.outbox.send_news(news("ann"), b"ann %d" % number)
        line.outbox.send_news(news("bob"), b"bob %d" % number)
    assert line.transport.unread == [b"x" * 101]
    assert line.catch_up()[1:] == [b"ann 49", b"bob 49"]


def test_facts_are_never_merged_and_come_after_the_news_before_them(line: Line) -> None:
    line.outbox.send(b"x" * 101)
    line.outbox.send_news(news("ann"), b"old")
    line.outbox.send_news(news("ann"), b"new")
    line.outbox.send(b"done")
    line.outbox.send(b"over")
    assert line.catch_up()[1:] == [b"new", b"done", b"over"]


def test_a_client_with_too_much_unread_is_let_go_at_once(line: Line) -> None:
    for _ in range(11):
        line.outbox.send(b"x" * 100)
    assert not line.let_go
    line.outbox.send(b"x")
    assert line.let_go == 1


def test_a_large_answer_alone_lets_nobody_go(line: Line) -> None:
    """Nor what follows while it is read; who does not read it is let go as always."""
    line.outbox.send(b"x" * 5000)
    line.outbox.send(b"y" * 1000)
    assert not line.let_go
    line.transport.read()
    line.outbox.send(b"x" * 5000)
    line.outbox.send(b"y" * 1001)
    assert line.let_go == 1


def test_a_large_answer_that_was_read_counts_no_more(line: Line) -> None:
    line.outbox.send(b"x" * 5000)
    line.transport.read()
    for _ in range(12):
        line.outbox.send(b"x" * 100)
    assert line.let_go == 1


def test_a_client_that_stays_slow_for_five_seconds_is_let_go(line: Line) -> None:
    line.outbox.send(b"x" * 101)
    line.clock.advance(4.8)
    assert not line.let_go
    line.clock.advance(0.4)
    assert line.let_go == 1


def test_a_client_that_catches_up_in_time_gets_its_patience_back(line: Line) -> None:
    for _ in range(3):
        line.outbox.send(b"x" * 101)
        line.clock.advance(4.5)
        line.transport.read()
        line.clock.advance(0.2)
    assert not line.let_go


def test_nothing_is_written_after_the_client_was_let_go(line: Line) -> None:
    line.outbox.send(b"x" * 1001)
    line.outbox.send(b"x" * 1001)
    written = list(line.transport.unread)
    line.outbox.send(b"fact")
    line.outbox.send_news(news("ann"), b"news")
    line.clock.advance(10)
    assert line.transport.unread == written
    assert line.let_go == 1


def test_nothing_follows_a_close_frame(line: Line) -> None:
    line.connection.state = State.CLOSING
    line.outbox.send(b"fact")
    assert not line.transport.unread


def test_a_closed_outbox_keeps_no_timer(line: Line) -> None:
    line.outbox.send(b"x" * 101)
    line.outbox.close()
    assert all(handle.cancelled for _, _, handle in line.clock.timers)


steps = st.lists(
    st.tuples(st.just("fact"), st.integers(1, 60))
    | st.tuples(st.sampled_from(["ann", "bob"]), st.integers(1, 60))
    | st.tuples(st.just("read"), st.just(0))
    | st.tuples(st.just("wait"), st.integers(1, 5)),
    max_size=60,
)


@given(steps)
def test_a_slow_client_misses_no_fact_and_ends_with_the_latest_news(sequence: list[tuple[str, int]]) -> None:
    """However it reads: every fact in order, and at each fact the latest news from before it."""
    with Opened(Bounds(merge_bytes=100, evict_bytes=10**6, evict_seconds=10**6)) as line:
        sent: list[tuple[str, int]] = []
        for number, (kind, size) in enumerate(sequence):
            if kind == "read":
                line.transport.read()
            elif kind == "wait":
                line.clock.advance(size / 10)
            else:
                frame = msgpack.packb([kind, number, "x" * size])
                sent.append((kind, number))
                if kind == "fact":
                    line.outbox.send(frame)
                else:
                    line.outbox.send_news(news(kind), frame)
        got = [tuple(msgpack.unpackb(frame)[:2]) for frame in line.catch_up()]
        assert [entry for entry in got if entry[0] == "fact"] == [entry for entry in sent if entry[0] == "fact"]
        for upto in [number for kind, number in sent if kind == "fact"] + [len(sequence)]:
            for subject in ("ann", "bob"):
                latest = max((n for kind, n in sent if kind == subject and n < upto), default=None)
                known = max((n for kind, n in _before(got, upto) if kind == subject), default=None)
                assert known == latest


def _before(got: list[tuple[str, int]], fact: int) -> list[tuple[str, int]]:
    """What the client had read when it read a fact, or all where there is none of that number."""
    place = next((i for i, entry in enumerate(got) if entry == ("fact", fact)), len(got))
    return got[:place]


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("size", [0, 125, 126, 65535, 65536, 70000])
def test_a_frame_is_one_that_websockets_reads(size: int, text: bool) -> None:
    """Each form of the length, for text and binary."""
    reader = StreamReader()
    reader.feed_data(frame_bytes(b"x" * size, text))
    reader.feed_eof()
    parsing = Frame.parse(reader.read_exact, mask=False, max_size=None)
    with pytest.raises(StopIteration) as result:
        next(parsing)
    frame: Frame = result.value.value
    assert (frame.opcode, frame.fin, len(frame.data)) == (Opcode.TEXT if text else Opcode.BINARY, True, size)
