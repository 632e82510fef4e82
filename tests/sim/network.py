"""The network of a run: bytes take a while, and a hand can hold them back, lose them, or cut the connection.

Everything that is sent goes through `Network.tap`: the trace of a run is a hash over all of it.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.sim.loop import Process, SimLoop

Factory = Callable[[], asyncio.Protocol]
Tap = Callable[["End", bytes], None]


class Mark(Enum):
    """What arrives besides bytes: the end of what the other side writes, or of the connection."""

    FIN = auto()
    RST = auto()


class End(asyncio.Transport):
    """One end of a connection; what it writes arrives at the other one, later and in order."""

    def __init__(self, network: Network, loop: SimLoop, process: Process, link: Link) -> None:
        super().__init__()
        self.process = process
        self.link = link
        self.protocol: Any = None
        self.other: End
        self.held_until = 0.0
        """Until when nothing arrives here."""
        self.deaf = False
        self._network = network
        self._loop = loop
        # As much as is under way: who writes has an outbox that watches nothing here.
        self._coming: deque[tuple[float, bytes | Mark]] = deque()
        self._pumping = False
        self._paused = False
        self._closing = False
        self._lost = False

    # --- what arrives here

    def send(self, segment: bytes | Mark) -> None:
        """Put something on its way to this end."""
        if self._lost or self.deaf:
            return
        after = self._coming[-1][0] if self._coming else 0.0
        self._coming.append((max(after, self._loop.now + self._network.latency()), segment))
        self._pump_later()

    def hold(self, seconds: float) -> None:
        """Let nothing arrive here for a while."""
        self.held_until = max(self.held_until, self._loop.now + seconds)
        self._network.held.append(self)

    def let_go(self) -> None:
        """Hold nothing back any more."""
        if self.held_until > self._loop.now:
            self.held_until = self._loop.now
            self._loop.soon(self.process, self._pump)

    def lose(self) -> None:
        """What is under way to this end never arrives."""
        self._coming.clear()

    def _pump_later(self) -> None:
        if not self._pumping and not self._paused and self._coming:
            self._pumping = True
            due = max(self._coming[0][0], self.held_until)
            self._loop.at(self.process, due, self._pump)

    def _pump(self) -> None:
        self._pumping = False
        while self._coming and not self._paused and max(self._coming[0][0], self.held_until) <= self._loop.now:
            segment = self._coming.popleft()[1]
            if self._lost:
                return
            if isinstance(segment, bytes):
                if not self._closing:
                    self.protocol.data_received(segment)
            elif segment is Mark.FIN:
                if not self._closing and not self.protocol.eof_received():
                    self.close()
            else:
                self._lose(ConnectionResetError("cut by the simulation"))
        self._pump_later()

    def _lose(self, why: Exception | None) -> None:
        if not self._lost:
            self._lost = self._closing = True
            self._coming.clear()
            self._network.forget(self.link)
            self.protocol.connection_lost(why)

    # --- what asyncio asks of a transport

    def write(self, data: Any) -> None:
        if self._closing or not data:
            return
        sent = bytes(data)
        self._network.tap(self, sent)
        self.other.send(sent)

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            self.other.send(Mark.FIN)
            self._loop.soon(self.process, self._lose, None)

    def abort(self) -> None:
        if not self._lost:
            self._closing = True
            self.other.send(Mark.RST)
            self._loop.soon(self.process, self._lose, None)

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.other.send(Mark.FIN)

    def is_closing(self) -> bool:
        return self._closing

    def pause_reading(self) -> None:
        self._paused = True

    def resume_reading(self) -> None:
        self._paused = False
        self._pump_later()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """There are none: the tests of the outbox are elsewhere."""

    def get_write_buffer_size(self) -> int:
        return 0

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("127.0.0.1", self.link.number) if name in ("peername", "sockname") else default


@dataclass(eq=False, slots=True)
class Link:
    """A connection: who has opened it, and to what address."""

    number: int
    address: str
    client: End
    server: End

    def cut(self, *, lose_requests: bool, lose_replies: bool) -> None:
        """Cut it, and lose what is under way in either direction, or let it arrive first."""
        for end, lose in ((self.server, lose_requests), (self.client, lose_replies)):
            if lose and not end.deaf:
                end.lose()
            end.send(Mark.RST)
            end.deaf = True


@dataclass(eq=False)
class Listener:
    """An address at which a process takes connections; the server object that asyncio promises."""

    network: Network
    loop: SimLoop
    address: str
    factory: Factory
    process: Process
    family = socket.AF_INET

    @property
    def sockets(self) -> tuple[Listener]:
        return (self,)

    def getsockname(self) -> tuple[str, int]:
        host, _, port = self.address.rpartition(":")
        return host, int(port)

    def get_loop(self) -> SimLoop:
        return self.loop

    def is_serving(self) -> bool:
        return self.network.listeners.get(self.address) is self

    def close(self) -> None:
        if self.is_serving():
            del self.network.listeners[self.address]

    async def wait_closed(self) -> None:
        """Whoever was connected stays."""


class Network:
    """All connections of a run."""

    def __init__(self, chance: Random, slowest: float) -> None:
        self.listeners: dict[str, Listener] = {}
        self.links: dict[int, Link] = {}
        """Those that are open, by their numbers."""
        self.tap: Tap = lambda end, data: None
        self.held: list[End] = []
        """The ends that were held, also of connections that one side has lost by now."""
        self.blocked: dict[tuple[str, str], float] = {}
        """Until when a process, by its name, finds nobody at an address."""
        self._chance = chance
        self._slowest = slowest
        self._opened = 0

    def latency(self) -> float:
        """How long something is under way now."""
        chance = self._chance.random()
        return 0.00005 + self._slowest * (chance * 10 if chance > 0.99 else chance)

    def listen(self, loop: SimLoop, factory: Factory, address: str) -> Listener:
        """Take connections from now on."""
        listener = Listener(self, loop, address, factory, loop.current)
        self.listeners[address] = listener
        return listener

    async def connect(self, loop: SimLoop, factory: Factory, address: str) -> tuple[End, asyncio.Protocol]:
        """A connection to whoever listens at an address. Raises ConnectionRefusedError."""
        mine = loop.current
        while (pause := self.blocked.get((mine.name, address), 0.0) - loop.now) > 0:  # noqa: ASYNC110 - time is made up.
            await asyncio.sleep(pause)
        await asyncio.sleep(self.latency())
        listener = self.listeners.get(address)
        if listener is None or not listener.process.alive:
            raise ConnectionRefusedError(111, f"nobody listens at {address}")
        self._opened += 1
        link = Link(self._opened, address, None, None)  # type: ignore[arg-type]  # its ends come with the next lines
        link.client = End(self, loop, mine, link)
        link.server = End(self, loop, listener.process, link)
        link.client.other, link.server.other = link.server, link.client
        self.links[link.number] = link
        protocol = link.client.protocol = factory()
        loop.soon(listener.process, self._accept, listener, link.server)
        protocol.connection_made(link.client)
        return link.client, protocol

    def _accept(self, listener: Listener, end: End) -> None:
        end.protocol = listener.factory()
        end.protocol.connection_made(end)

    def mend(self) -> None:
        """Nothing is held back any more, and nobody out of reach."""
        self.blocked.clear()
        for end in self.held:
            end.let_go()
        self.held.clear()

    def forget(self, link: Link) -> None:
        """One of its ends knows that a connection is lost."""
        self.links.pop(link.number, None)

    def lost(self, process: Process) -> None:
        """A process is dead: its connections break, and nobody listens where it did."""
        for address, listener in list(self.listeners.items()):
            if listener.process is process:
                del self.listeners[address]
        for link in list(self.links.values()):
            for end in (link.client, link.server):
                if end.process is process:
                    end.other.send(Mark.RST)
                    self.forget(link)

    def links_of(self, process: Process | None = None, address: str = "") -> list[Link]:
        """The open connections that a process has opened, or that lead to an address."""
        return [
            link
            for link in self.links.values()
            if (process is None or link.client.process is process) and (not address or link.address == address)
        ]
