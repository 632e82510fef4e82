"""A spectator who never reads is let go, and nobody else is slower for it.

Guests watch a race of four, ask for all of it again and again, and read nothing. What is measured: at a node in this
process, from when more than 256 KiB wait for such a guest, beyond what the system holds for it, to when it is cut off;
and at a node of its own, how long a move takes from its player to twenty spectators who read, at the 99th percentile,
in windows with two guests, who come again as soon as they are let go, each against the window without them before it:
the median of these ratios, for what else the machine does falls into few of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import msgpack

from cellrace_server.app import Node, running
from cellrace_server.config import Bounds, Config
from tests.soaks.figures import Figure, Tell, quantile
from tests.story.crowd import Rider
from tests.story.players import Player, Table, play, start_race, table
from tests.story.servers import servers
from tests.waiting import eventually

SIZE = 12
COUNTS = "guests, and as many pairs of windows"

WINDOW = 6.0
"""Seconds."""
MOVERS = 4
READERS = 20
GUESTS = 2
AT_ONCE = 4
"""Guests of whom it is measured how soon they are let go."""
PACE = 0.1
"""Seconds between two moves of a player."""
ASKING = 0.1
"""Seconds between two requests of a guest."""
KNOWN = 1_000
"""Entries in each log from the start, so that the whole race is a large answer."""
BOUND = 256 * 1024
MOST_UNTIL_GONE = 2.0
MOST_RATIO = 1.2


@dataclass
class Delays:
    """How long moves took to those who read, in seconds."""

    sent_at: dict[tuple[str, int], float] = field(default_factory=dict)
    window: list[float] = field(default_factory=list)
    """In the window that is open."""

    def close_window(self) -> list[float]:
        """This window; the next one begins."""
        window, self.window = self.window, []
        return window


class Reader(Rider):
    """A spectator who reads everything."""

    def __init__(self, port: int, delays: Delays) -> None:
        super().__init__(port)
        self._delays = delays

    def _take(self, opcode: int, payload: bytes, now: float) -> None:
        if opcode != 2 or b"race.moved" not in payload[:40]:
            super()._take(opcode, payload, now)
            return
        push = msgpack.unpackb(payload)
        sent_at = self._delays.sent_at.get((push["player"], push["seq"]))
        if sent_at is not None:
            self._delays.window.append(now - sent_at)


class Guest(Rider):
    """A spectator who asks for much, and reads none of it."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.gone = asyncio.Event()

    async def connect(self) -> None:
        """Connect so that the system holds little for it, and say hello."""
        loop = asyncio.get_running_loop()
        line = socket.socket()
        line.setblocking(False)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
        await loop.sock_connect(line, ("127.0.0.1", self._port))
        await loop.create_connection(lambda: self, sock=line)
        await self._open
        self.id = str((await self.ask("hello"))["player"]["id"])

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.gone.set()

    async def sulk(self, race: str) -> None:
        """Watch, ask, and read nothing, until let go."""
        await self.ask("race.watch", race=race)
        assert isinstance(self.transport, asyncio.Transport)
        self.transport.pause_reading()
        while not self.gone.is_set():
            self._send(0x82, msgpack.packb({"type": "race.sync", "race": race}))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.gone.wait(), ASKING)


async def run(folder: Path, size: int, tell: Tell, window: float = WINDOW) -> list[Figure]:
    """So many guests at a node here; at another, so many windows without guests, and as many with them, by turns."""
    gone = await _let_go(folder, size, tell)
    async with servers(folder) as house, AsyncExitStack() as stack:
        server = await house.start("--new-players-here", "1000000", "--burst", "200")
        seats = await stack.enter_async_context(table(server.url))
        movers, race = await _begin(seats)
        delays = Delays()
        windows: list[list[float]] = []
        without: list[float] = []
        beside: list[float] = []
        for _ in range(READERS):
            reader = Reader(server.port, delays)
            await reader.connect()
            assert reader.transport is not None
            stack.callback(reader.transport.abort)
            answer = len(msgpack.packb(await reader.ask("race.watch", race=race)))
        tell(f"{MOVERS} movers, {READERS} readers; the whole race is {answer:,} bytes")
        moving = [asyncio.create_task(_move(mover, race, delays)) for mover in movers]
        try:
            delays.close_window()
            for pair in range(size):
                await asyncio.sleep(window)
                windows.append(delays.close_window())
                without.append(quantile(windows[-1], 0.99))
                await asyncio.gather(*(_visit(server.port, race, window) for _ in range(GUESTS)))
                windows.append(delays.close_window())
                beside.append(quantile(windows[-1], 0.99))
                tell(f"pair {pair + 1} of {size}: p99 {without[-1] * 1000:.1f} ms, beside them {beside[-1] * 1000:.1f}")
        finally:
            for task in moving:
                task.cancel()
            await asyncio.gather(*moving, return_exceptions=True)
    told = min(map(len, windows))
    ratios = [with_guests / alone for alone, with_guests in zip(without, beside, strict=True)]
    return [
        Figure("guests who read nothing, let go", len(gone), least=size),
        Figure("let go after 256 KiB: median", quantile(gone, 0.5), "s"),
        Figure("let go after 256 KiB: slowest", max(gone, default=float("inf")), "s", most=MOST_UNTIL_GONE),
        Figure("p99 of a move to the others, without such guests", median(without) * 1000, "ms"),
        Figure("p99 of a move to the others, beside them", median(beside) * 1000, "ms"),
        Figure("the second to the first, median of the pairs", median(ratios), most=MOST_RATIO),
        Figure("moves told to the others, in any window at least", told, least=1),
    ]


async def _move(mover: Player, race: str, delays: Delays) -> None:
    seq = KNOWN
    while True:
        delays.sent_at[mover.id, seq + 1] = time.monotonic()
        await mover.ask("move", race=race, seq=seq, moves=["u" if seq % 2 else "1a"])
        seq += 1
        mover.pushes.clear()
        mover.frames.clear()
        await asyncio.sleep(PACE)


async def _begin(seats: Table) -> tuple[list[Player], str]:
    """A race that is told at length."""
    movers = [await seats.player(f"Mover {number}") for number in range(MOVERS)]
    race = await start_race(*movers, deal=617, autoplay="none", spectate="live")
    for mover in movers:
        await play(mover, race, ["1a", "u"] * (KNOWN // 2), at_once=50)
    return movers, race


async def _let_go(folder: Path, size: int, tell: Tell) -> list[float]:
    """How long guests were there after more than 256 KiB waited for each."""
    config = Config(port=0, data_dir=folder / "here", bounds=Bounds(burst=200))
    async with running(config) as node, table(f"ws://127.0.0.1:{node.port}/ws") as seats:
        _, race = await _begin(seats)
        gone: list[float] = []
        while len(gone) < size:
            gone += await asyncio.gather(*(_one(node, race) for _ in range(min(AT_ONCE, size))))
            tell(f"{len(gone)} guests let go, the slowest after {max(gone):.2f} s")
        return gone


async def _one(node: Node, race: str) -> float:
    guest = Guest(node.port)
    await guest.connect()
    (outbox,) = [session.outbox for session in node.sessions if session.player.id == guest.id]
    sulking = asyncio.create_task(guest.sulk(race))
    await eventually(lambda: outbox.unread > BOUND, 60)
    enough_at = time.monotonic()
    await sulking
    return time.monotonic() - enough_at


async def _visit(port: int, race: str, seconds: float) -> None:
    """One guest after the other for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        guest = Guest(port)
        await guest.connect()
        try:
            await guest.sulk(race)
        finally:
            assert guest.transport is not None
            guest.transport.abort()
