"""The model of the store as a server on the made-up network: it speaks RESP, publishes, replicates, and fails over."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

import hiredis

from tests.sim.loop import Process, SimLoop
from tests.sim.sources import EPOCH
from tests.sim.store.commands import COMMANDS, OK, Answer, CommandError, Status
from tests.sim.store.functions import Functions, arguments_of
from tests.sim.store.keyspace import Hash, Keyspace, WrongType

ADDRESS = "/store"
URL = f"unix://{ADDRESS}"
LIBRARIES = b"\0libraries"
"""Where the texts of the libraries are kept, beside the keys: so a replica may lack them."""
VERSION = "7.2.4"
CarriedOut: TypeAlias = Callable[[list[bytes], Answer], None]
SETTINGS = [b"maxmemory-policy", b"noeviction", b"appendonly", b"yes", b"appendfsync", b"always"]
"""Those that are asked for."""

_FUNCTIONS = Functions()


class Store:
    """A store with a replica or without."""

    def __init__(self, loop: SimLoop, chance: Random, *, replica: bool) -> None:
        self.loop = loop
        self.process = Process("store")
        self.space = Keyspace(self.now)
        self.ahead = 0
        """By how many ms its clock has jumped."""
        self.lag = 0.0
        """Until when the replica gets nothing, by the loop's time."""
        self.replica = replica
        """Whether a replica is attached."""
        self.replicated = 0
        """What the replica has, and has said so."""
        self.history = "0"
        self.published: list[tuple[float, bytes]] = []
        """Everything that was published, and when."""
        self.harm: dict[str, float] = {"lost": 0.0, "twice": 0.0, "late": 0.0}
        """How likely what is published is to be lost on its way to a subscriber, to come twice, or late."""
        self.harmed: dict[str, int] = dict.fromkeys(self.harm, 0)
        self.carried_out: CarriedOut = lambda words, answer: None
        """Hears of each command and its answer."""
        self._chance = chance
        self._commands: dict[bytes, Callable[[list[bytes]], Answer]] = {
            b"FCALL": self._fcall,
            b"FCALL_RO": self._fcall,
            b"FUNCTION": self._load,
            b"PUBLISH": lambda words: self.publish(words[1], words[2]),
            b"TIME": lambda words: [b"%d" % part for part in divmod(self._micros(), 1_000_000)],
            b"PING": lambda words: Status(b"PONG"),
            b"SELECT": lambda words: OK,
            b"CONFIG": lambda words: SETTINGS,
            b"INFO": lambda words: self._info(),
        }
        self._subscribers: dict[bytes, list[_Connection]] = {}
        self._connections: list[_Connection] = []

    def now(self) -> int:
        """Its clock, ms."""
        return self._micros() // 1000

    def _micros(self) -> int:
        return int((EPOCH + self.loop.now) * 1_000_000) + self.ahead * 1000

    # --- up and down

    def start(self) -> None:
        """Answer from now on, with all that was written."""
        self.process = Process("store")
        self.loop.current, before = self.process, self.loop.current
        self.loop.network.listen(self.loop, lambda: _Connection(self), ADDRESS)
        self.loop.current = before
        self._connections.clear()
        self._subscribers.clear()

    def die(self) -> None:
        """`kill -9`: what was written is on disk."""
        self.loop.kill(self.process)

    def fail_over(self) -> int:
        """The replica takes its place, which has what it has; says how many writes are undone."""
        self.die()
        undone = self.space.offset - self.replicated
        self.space.roll_back(self.replicated)
        self.replica = False
        self.history = str(int(self.history) + 1)
        self.start()
        return undone

    def attach_replica(self) -> None:
        """There is a replica from now on, with all that there is."""
        self.replica = True
        self._acknowledge(self.space.offset)

    def _replicate(self) -> None:
        if self.replica:
            due = max(self.lag, self.loop.now) + self._chance.uniform(0.0002, 0.002)
            self.loop.at(self.process, due, self._acknowledge, self.space.offset)

    def _acknowledge(self, offset: int) -> None:
        if self.lag > self.loop.now:
            self.loop.at(self.process, self.lag, self._acknowledge, offset)
            return
        if self.replica and offset > self.replicated:
            self.replicated = offset
            self.space.settled(offset)
            for connection in list(self._connections):
                connection.go_on()

    # --- commands

    def carry_out(self, words: list[bytes]) -> Answer:
        """One command; what it refuses is an answer too."""
        name = words[0].upper()
        try:
            own = self._commands.get(name)
            answer = own(words) if own is not None else COMMANDS[name](self.space, words)
        except (CommandError, WrongType) as error:
            answer = error
        if self.space.done():
            self._replicate()
        self.carried_out(words, answer)
        return answer

    def _fcall(self, words: list[bytes]) -> Answer:
        name, keys, arguments = arguments_of(words)
        for text in self.space.find(LIBRARIES, Hash).values():
            function = _FUNCTIONS.read(text).get(name)
            if function is not None:
                return _FUNCTIONS.call(function, keys, arguments, self.space, self.publish)
        raise CommandError("ERR Function not found")

    def _load(self, words: list[bytes]) -> Answer:
        text = words[-1]
        name = text.partition(b"name=")[2].partition(b"\n")[0]
        _FUNCTIONS.read(text)
        self.space.edit(LIBRARIES, Hash)[name] = text
        return name

    def _info(self) -> bytes:
        lines = [f"redis_version:{VERSION}", "role:master", "aof_enabled:1", f"master_replid:{self.history}"]
        lines += ["connected_slaves:0"]
        if self.replica:
            lines[-1:] = ["connected_slaves:1", "slave0:ip=replica,port=1,state=online,offset=0,lag=0"]
        return "\r\n".join(lines).encode()

    # --- publishing

    def subscribe(self, channel: bytes, connection: _Connection) -> None:
        """A connection hears a channel from now on."""
        self._subscribers.setdefault(channel, []).append(connection)

    def publish(self, channel: bytes, message: bytes) -> int:
        """To all who hear the channel; harm may befall it on the way."""
        self.published.append((self.loop.now, message))
        heard = [c for c in self._subscribers.get(channel, ()) if not c.transport.is_closing()]
        for connection in heard:
            for delay in self._deliveries(bool(message)):
                reply = encoded([b"message", channel, message])
                if delay:
                    self.loop.at(self.process, self.loop.now + delay, connection.transport.write, reply)
                else:
                    connection.transport.write(reply)
        return len(heard)

    def _deliveries(self, telling: bool) -> list[float]:
        if not telling:
            return [0.0]
        fate, harm = self._chance.random(), self.harm
        for kind, delays in (("lost", ()), ("twice", (0.0, 0.3)), ("late", (2.0,))):
            if fate < harm[kind]:
                self.harmed[kind] += 1
                return [self._chance.uniform(0, delay) for delay in delays]
            fate -= harm[kind]
        return [0.0]

    def join(self, connection: _Connection) -> None:
        """A connection is there."""
        self._connections.append(connection)

    def leave(self, connection: _Connection) -> None:
        """A connection is gone."""
        self._connections.remove(connection)
        for subscribers in self._subscribers.values():
            if connection in subscribers:
                subscribers.remove(connection)


class _Connection(asyncio.Protocol):
    """One client of the store."""

    def __init__(self, store: Store) -> None:
        self.transport: Any = None
        self._store = store
        self._reader = hiredis.Reader()
        self._written = store.space.offset
        # What waits behind a WAIT.
        self._queue: deque[list[bytes]] = deque()
        self._waits_for: tuple[int, asyncio.TimerHandle] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self._store.join(self)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._waits_for is not None:
            self._waits_for[1].cancel()
        self._store.leave(self)

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        while (words := self._reader.gets()) is not False:
            self._queue.append(words)
        self._work()

    def _work(self) -> None:
        replies: list[bytes] = []
        while self._queue and self._waits_for is None:
            words = self._queue.popleft()
            before = self._store.space.offset
            match words[0]:
                case b"WAIT":
                    self._wait(int(words[1]), int(words[2]) / 1000)
                    if self._waits_for is None:
                        replies.append(b":%d\r\n" % self._store.replica)
                case b"SUBSCRIBE":
                    self._store.subscribe(words[1], self)
                    replies.append(encoded([b"subscribe", words[1], 1]))
                case _:
                    replies.append(encoded(self._store.carry_out(words)))
                    # A message is replicated after all that was written before, by whomever.
                    if self._store.space.offset > before or words[0] == b"PUBLISH":
                        self._written = self._store.space.offset
        if replies:
            self.transport.write(b"".join(replies))

    def _wait(self, replicas: int, seconds: float) -> None:
        if replicas and not self._has_all():
            timer = self._store.loop.call_later(seconds, self.go_on, True)
            self._waits_for = self._written, timer

    def _has_all(self) -> bool:
        return self._store.replica and self._store.replicated >= self._written

    def go_on(self, over: bool = False) -> None:
        """Answer a WAIT whose time has come, or for which there is now what it waits for."""
        if self._waits_for is None or not (over or self._has_all()):
            return
        self._waits_for[1].cancel()
        self._waits_for = None
        self.transport.write(b":%d\r\n" % self._has_all())
        self._work()


def encoded(answer: Answer) -> bytes:
    """An answer as it goes over the wire (RESP 2)."""
    match answer:
        case None:
            return b"$-1\r\n"
        case int():
            return b":%d\r\n" % answer
        case Status():
            return b"+%s\r\n" % answer
        case bytes():
            return b"$%d\r\n%s\r\n" % (len(answer), answer)
        case Exception():
            return b"-%s\r\n" % str(answer).replace("\n", " ").encode()
        case _:
            return b"*%d\r\n%s" % (len(answer), b"".join(map(encoded, answer)))
