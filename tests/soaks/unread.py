"""A spectator who never reads is let go, and nobody else is slower for it.

In a race of four, twenty spectators read each move. In every other window two guests watch too, ask for the whole race
again and again, read nothing, and come again as soon as they are let go. What is measured: from the request with whose
answer 256 KiB wait for such a guest, without what the system holds for it, to when its connection is gone; and how long
a move takes from its player to the spectators who read, at the 99th percentile, in the windows with guests against the
windows without.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import msgpack

from tests.soaks.figures import Figure, Tell, quantile
from tests.story.crowd import Rider
from tests.story.players import Player, play, start_race, table
from tests.story.servers import servers

SIZE = 12
COUNTS = "pairs of windows"

WINDOW = 6.0
"""Seconds."""
MOVERS = 4
READERS = 20
GUESTS = 2
PACE = 0.1
"""Seconds between two moves of a player."""
ASKING = 0.05
"""Seconds between two requests of a guest."""
KNOWN = 1_000
"""Entries in each log from the start, so that the whole race is a large answer."""
BOUND = 256 * 1024
MERGED = 64 * 1024
"""So much of what waits may be news, which nobody has asked for."""
MOST_UNTIL_GONE = 2.0
MOST_RATIO = 1.2


@dataclass
class Delays:
    """How long moves took to those who read, in seconds."""

    sent_at: dict[tuple[str, int], float] = field(default_factory=dict)
    beside: dict[bool, list[float]] = field(default_factory=lambda: {False: [], True: []})
    """Without guests, and beside them."""
    guests: bool = False
    """Whether there are guests now."""


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
            self._delays.beside[self._delays.guests].append(now - sent_at)


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
        await self.ask("hello")

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.gone.set()

    async def sulk(self, race: str, answer: int, held: int) -> float:
        """Watch, ask, and read nothing, until let go; how long that took after 256 KiB waited beside what is held."""
        await self.ask("race.watch", race=race)
        self._read_nothing()
        told, enough_at = 0, float("inf")
        while not self.gone.is_set():
            self._ask_on(race)
            told += answer
            if told >= BOUND - MERGED + held:
                enough_at = min(enough_at, time.monotonic())
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.gone.wait(), ASKING)
        return time.monotonic() - enough_at

    async def held(self, race: str) -> int:
        """How much the system holds for one who reads nothing, on both sides; 0 where it does not tell."""
        await self.ask("race.watch", race=race)
        here = self._read_nothing()
        most = 0
        while not self.gone.is_set():
            self._ask_on(race)
            most = max(most, _held(self._port, here))
            await asyncio.sleep(ASKING)
        return most

    def _read_nothing(self) -> int:
        assert isinstance(self.transport, asyncio.Transport)
        self.transport.pause_reading()
        return int(self.transport.get_extra_info("sockname")[1])

    def _ask_on(self, race: str) -> None:
        self._send(0x82, msgpack.packb({"type": "race.sync", "race": race}))


def _held(there: int, here: int) -> int:
    """How many bytes from the port there to the port here have been sent and not read."""
    held = 0
    with contextlib.suppress(OSError), Path("/proc/net/tcp").open() as lines:
        for line in lines:
            words = line.split()
            ends = words[1].rpartition(":")[2], words[2].rpartition(":")[2]
            sent, received = words[4].split(":") if ":" in words[4] else ("0", "0")
            if ends == (f"{there:04X}", f"{here:04X}"):
                held += int(sent, 16)
            elif ends == (f"{here:04X}", f"{there:04X}"):
                held += int(received, 16)
    return held


async def run(folder: Path, size: int, tell: Tell, window: float = WINDOW) -> list[Figure]:
    """So many windows without guests, and as many with them, by turns."""
    async with servers(folder) as house, AsyncExitStack() as stack:
        server = await house.start("--new-players-here", "1000000", "--burst", "200")
        seats = await stack.enter_async_context(table(server.url))
        movers = [await seats.player(f"Mover {number}") for number in range(MOVERS)]
        race = await start_race(*movers, deal=617, autoplay="none", spectate="live")
        for mover in movers:
            await play(mover, race, ["1a", "u"] * (KNOWN // 2), at_once=50)
        delays = Delays()
        for _ in range(READERS):
            reader = Reader(server.port, delays)
            await reader.connect()
            assert reader.transport is not None
            stack.callback(reader.transport.abort)
            answer = len(msgpack.packb(await reader.ask("race.watch", race=race)))
        first = Guest(server.port)
        await first.connect()
        held = await first.held(race)
        tell(f"{MOVERS} movers, {READERS} readers; the race is {answer:,} bytes, and {held:,} are held by the system")
        moving = [asyncio.create_task(_move(mover, race, delays)) for mover in movers]
        gone: list[float] = []
        try:
            for pair in range(size):
                delays.guests = False
                await asyncio.sleep(window)
                delays.guests = True
                guests = (_visit(server.port, race, window, answer, held) for _ in range(GUESTS))
                for taken in await asyncio.gather(*guests):
                    gone += taken
                tell(f"pair {pair + 1} of {size}: {len(gone)} guests let go; {_told(delays)}")
        finally:
            for task in moving:
                task.cancel()
            await asyncio.gather(*moving, return_exceptions=True)
    without, beside = (quantile(delays.beside[guests], 0.99) * 1000 for guests in (False, True))
    return [
        Figure("guests who read nothing, let go", len(gone), least=size),
        Figure("let go after 256 KiB: median", quantile(gone, 0.5), "s"),
        Figure("let go after 256 KiB: slowest", max(gone, default=float("inf")), "s", most=MOST_UNTIL_GONE),
        Figure("moves read by the others", sum(map(len, delays.beside.values()))),
        Figure("p99 of a move to the others, without such guests", without, "ms"),
        Figure("p99 of a move to the others, beside them", beside, "ms"),
        Figure("the second to the first", beside / without, most=MOST_RATIO),
    ]


def _told(delays: Delays) -> str:
    without, beside = (quantile(delays.beside[guests], 0.99) * 1000 for guests in (False, True))
    return f"p99 {without:.1f} ms without such guests, {beside:.1f} ms beside them"


async def _move(mover: Player, race: str, delays: Delays) -> None:
    seq = KNOWN
    while True:
        delays.sent_at[mover.id, seq + 1] = time.monotonic()
        await mover.ask("move", race=race, seq=seq, moves=["u" if seq % 2 else "1a"])
        seq += 1
        mover.pushes.clear()
        mover.frames.clear()
        await asyncio.sleep(PACE)


async def _visit(port: int, race: str, seconds: float, answer: int, held: int) -> list[float]:
    """One guest after the other for so long; how soon each was let go."""
    end = time.monotonic() + seconds
    gone: list[float] = []
    while time.monotonic() < end:
        guest = Guest(port)
        await guest.connect()
        try:
            gone.append(await guest.sulk(race, answer, held))
        finally:
            assert guest.transport is not None
            guest.transport.abort()
    return gone
