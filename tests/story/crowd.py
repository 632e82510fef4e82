"""A crowd in one race: entrants and spectators over several nodes, and how far apart they see it begin.

    python -m tests.story.crowd --entrants 250 --spectators 500 --nodes 3

Prints the figures. Nodes, store and crowd share this machine, so that what is measured is more than the nodes' part.
The crowd is light: each connection notes when a frame came, and reads only what it needs.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import gc
import os
import struct
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import msgpack
import uvloop

from cellrace_server.store.embedded import EmbeddedStore
from tests.story.servers import STARTING, servers
from tests.story.solved_games import stocked_game

Map = dict[str, Any]

VARIANT = "one-suit"
COUNTDOWN = 2
"""Seconds in which everything that was told before is read."""
PATIENCE = 60.0
"""Seconds within which each step of the whole crowd must be done."""
AT_ONCE = 25
"""So many come in at a time: the crowd of a real race does not fall in through one door at one instant."""
_LOOKED_AT = (b"race.started", b"race.over", b"race.cancelled", b"race.delayed")
"""Pushes that are read; of the others, hundreds for each connection, only the number is."""


class Rider(asyncio.Protocol):
    """One player's connection, on a bare socket: WebSocket and MessagePack by hand."""

    def __init__(self, port: int) -> None:
        self.id = ""
        self.pushes: dict[str, tuple[float, Map]] = {}
        """By type, the first push and when it came."""
        self.unread = 0
        self.transport: asyncio.WriteTransport | None = None
        self._port = port
        self._buffer = b""
        self._come: list[tuple[float, bytes]] = []
        self._open = asyncio.get_running_loop().create_future()
        self._answers: dict[int, asyncio.Future[Map]] = {}
        self._awaited: dict[str, asyncio.Future[None]] = {}
        self._asked = 0

    async def connect(self) -> None:
        """Connect and say hello."""
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: self, "127.0.0.1", self._port)
        await self._open
        self.id = str((await self.ask("hello"))["player"]["id"])

    async def ask(self, kind: str, **fields: Any) -> Map:
        """The answer to a request."""
        self._asked += 1
        answer = self._answers[self._asked] = asyncio.get_running_loop().create_future()
        self._send(0x82, msgpack.packb({"type": kind, "id": self._asked, **fields}))
        message: Map = await answer
        assert message["type"] != "error", message
        return message

    async def push(self, kind: str) -> Map:
        """The first push of a type."""
        if kind not in self.pushes:
            await self._awaited.setdefault(kind, asyncio.get_running_loop().create_future())
        return self.pushes[kind][1]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.WriteTransport, transport)  # uvloop's own is no subclass of it.
        key = base64.b64encode(os.urandom(16)).decode()
        self.transport.write(
            "GET /ws HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Protocol: cellrace.v1.msgpack\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        # Only noted: all that has come in this pass of the loop is noted before any of it is read.
        self._come.append((time.monotonic(), data))
        if len(self._come) == 1:
            asyncio.get_running_loop().call_soon(self._read)

    def _read(self) -> None:
        come, self._come = self._come, []
        for now, data in come:
            self._buffer += data
            if not self._open.done():
                head, found, rest = self._buffer.partition(b"\r\n\r\n")
                if not found:
                    continue
                assert head.startswith(b"HTTP/1.1 101"), head
                self._buffer = rest
                self._open.set_result(None)
            self._read_frames(now)

    def connection_lost(self, exc: Exception | None) -> None:
        lost = exc or ConnectionResetError("the node has closed the connection")
        for waiting in (self._open, *self._answers.values(), *self._awaited.values()):
            if not waiting.done():
                waiting.set_exception(lost)

    def _read_frames(self, now: float) -> None:
        buffer, place = self._buffer, 0
        while len(buffer) >= place + 2:
            opcode, size, start = buffer[place] & 15, buffer[place + 1], place + 2
            if size == 126:
                if len(buffer) < start + 2:
                    break
                size, start = int.from_bytes(buffer[start : start + 2], "big"), start + 2
            elif size == 127:
                if len(buffer) < start + 8:
                    break
                size, start = int.from_bytes(buffer[start : start + 8], "big"), start + 8
            if len(buffer) < start + size:
                break
            self._take(opcode, buffer[start : start + size], now)
            place = start + size
        self._buffer = buffer[place:]

    def _take(self, opcode: int, payload: bytes, now: float) -> None:
        if opcode == 9:
            self._send(0x8A, payload)
        elif opcode == 2:
            head = payload[:40]
            # Pushes name their type first; answers may be anything, and are few.
            if b"race." in head and not any(kind in head for kind in _LOOKED_AT):
                self.unread += 1
                return
            self._hear(msgpack.unpackb(payload), now)

    def _hear(self, message: Map, now: float) -> None:
        if "re" in message:
            self._answers.pop(message["re"]).set_result(message)
            return
        kind = message["type"]
        self.pushes.setdefault(kind, (now, message))
        if kind in self._awaited:
            awaited = self._awaited.pop(kind)
            if not awaited.done():
                awaited.set_result(None)

    def _send(self, first: int, payload: bytes) -> None:
        assert self.transport is not None
        size = len(payload)
        head = bytes((first, 0x80 | size)) if size < 126 else bytes((first, 0xFE)) + struct.pack(">H", size)
        self.transport.write(head + b"\0\0\0\0" + payload)


@dataclass(frozen=True)
class Figures:
    """What was measured, in seconds: how long each step took, and how far apart a push came, from the first one on."""

    steps: dict[str, float]
    begin: list[float]
    """After the first of them each saw the race begin, in order."""
    after_start: float
    """From the start on the race clock to the first of them."""
    end: list[float]

    def told(self) -> str:
        """The figures for people."""
        lines = [f"{name}: {seconds:.2f} s" for name, seconds in self.steps.items()]
        for name, spread in (("begin", self.begin), ("end", self.end)):
            middle, most, last = (quantile(spread, share) * 1000 for share in (0.5, 0.99, 1.0))
            lines.append(f"{name}, after the first: p50 {middle:.1f} ms, p99 {most:.1f} ms, last {last:.1f} ms")
        lines.append(f"the first begins {self.after_start * 1000:.1f} ms after the start")
        return "\n".join(lines)


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which that share of them lies."""
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


class Crowd:
    """Entrants and spectators, spread evenly over the nodes."""

    def __init__(self, ports: Sequence[int], entrants: int, spectators: int) -> None:
        self.entrants = [Rider(ports[number % len(ports)]) for number in range(entrants)]
        self.spectators = [Rider(ports[number % len(ports)]) for number in range(spectators)]
        self.steps: dict[str, float] = {}

    @property
    def all(self) -> list[Rider]:
        """Everybody."""
        return [*self.entrants, *self.spectators]

    async def race(self) -> Figures:
        """One race from the first connection to the standings, the same for all."""
        await self._step("connected", self.all, lambda rider: rider.connect())
        host = self.entrants[0]
        settings = {"variant": VARIANT, "seats": len(self.entrants), "countdown": COUNTDOWN, "spectate": "live"}
        race = (await host.ask("race.create", settings=settings))["race"]
        await self._step("spectators watch", self.spectators, lambda rider: rider.ask("race.watch", race=race))
        await self._step("entrants joined", self.entrants[1:], lambda rider: rider.ask("race.join", race=race))
        gc.collect()
        gc.freeze()
        await self._step("all ready", self.entrants, lambda rider: rider.ask("race.ready", race=race))
        await self._step("begun", self.all, lambda rider: rider.push("race.started"))
        started = [rider.pushes["race.started"] for rider in self.all]
        assert len({msgpack.packb(push) for _, push in started}) == 1, "the same start and the same layout for all"
        moves = stocked_game(VARIANT, started[0][1]["deal"])
        await self._step("played", self.entrants, lambda rider: rider.ask("move", race=race, seq=0, moves=moves))
        await self._step("ended", self.all, lambda rider: rider.push("race.over"))
        over = [rider.pushes["race.over"] for rider in self.all]
        assert len({msgpack.packb(push["standings"]) for _, push in over}) == 1, "one standings list"
        standings = over[0][1]["standings"]
        assert {row["player"]["id"] for row in standings} == {rider.id for rider in self.entrants}
        assert all(row["status"] == "won" for row in standings)
        since = time.monotonic() - time.time()  # The nodes' clock is this machine's.
        first = min(at for at, _ in started)
        return Figures(self.steps, _spread(started), first - (started[0][1]["start_at"] / 1000 + since), _spread(over))

    async def _step(self, name: str, riders: Sequence[Rider], do: Callable[[Rider], Any]) -> None:
        began = time.monotonic()
        doors = asyncio.Semaphore(AT_ONCE)

        async def one(rider: Rider) -> None:
            async with doors:
                await do(rider)

        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*map(one, riders))
        self.steps[name] = time.monotonic() - began

    def leave(self) -> None:
        """Everybody goes."""
        for rider in self.all:
            if rider.transport is not None:
                rider.transport.abort()


def _spread(pushes: Sequence[tuple[float, Map]]) -> list[float]:
    first = min(at for at, _ in pushes)
    return sorted(at - first for at, _ in pushes)


async def measure(folder: Path, entrants: int, spectators: int, nodes: int) -> Figures:
    """Start a store and nodes of its own, race, and end them."""
    async with AsyncExitStack() as stack:
        house = await stack.enter_async_context(servers(folder))
        store = await stack.enter_async_context(await EmbeddedStore.open(folder / "store", patience=STARTING))
        started = [await house.start("--redis", store.url) for _ in range(nodes)]
        crowd = Crowd([node.port for node in started], entrants, spectators)
        stack.callback(crowd.leave)
        return await crowd.race()


def main() -> None:
    """Measure once and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--entrants", type=int, default=250)
    parser.add_argument("--spectators", type=int, default=500)
    parser.add_argument("--nodes", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cellrace-crowd-") as folder:
        figures = uvloop.run(measure(Path(folder), asked.entrants, asked.spectators, asked.nodes))
    print(figures.told())


if __name__ == "__main__":
    main()
