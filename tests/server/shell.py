"""One node's store and rooms without sockets, on a real store, with a link whose requests and replies a test holds."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from cellrace.autoplay import Autoplay
from cellrace.messages import CloseCode, Move, Moved, Player, Settings
from cellrace_server import store as store_package
from cellrace_server.admission import Admission
from cellrace_server.config import Bounds
from cellrace_server.core.facts import CountdownBegan, Fact, Joined, ReadySet, Stamped
from cellrace_server.core.ghosts import GhostGame
from cellrace_server.core.race import Race, evolve
from cellrace_server.listing import Listing
from cellrace_server.lobby import Lobby
from cellrace_server.moves import Arrival, Mover
from cellrace_server.referee import Referee
from cellrace_server.room import Room
from cellrace_server.rooms import Rooms
from cellrace_server.stock import load_stock
from cellrace_server.store import Store, open_store
from cellrace_server.store.connect import client_for
from cellrace_server.store.library import Answer, Argument, Link
from cellrace_server.store.players import new_id
from cellrace_server.store.races import Entry, RaceStore, Secret
from cellrace_server.tasks import Tasks
from cellrace_server.upkeep import Upkeep
from tests.server.races import new_race

SHORT = Settings(variant="one-suit", autoplay=Autoplay.NONE, seats=4)
"""The settings of the races that are made here: a game that is won within one message."""
DEAL = load_stock(SHORT.variant).numbers[0]
WIN = tuple(load_stock(SHORT.variant).proof(DEAL) or ())
"""Moves that win the deal of these races."""
SECRET = Secret(DEAL, "0" * 32)


class Gate:
    """Where one command waits: `reached` tells that it is there, `open` lets it go on."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self._open = asyncio.Event()

    def open(self) -> None:
        """Let it go on."""
        self._open.set()

    async def wait(self) -> None:
        """Be there, and wait."""
        self.reached.set()
        await self._open.wait()


class GatedLink(Link):
    """A link to a real store that holds or loses the next request or reply of a function or command."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._ahead: dict[str, Gate | None] = {}
        self._behind: dict[str, Gate | None] = {}
        self._twice: set[str] = set()
        self.down = False
        """Whether the store cannot be reached from here."""
        self.sent: list[str] = []
        """What was sent, by name."""
        self.answered: list[str] = []
        """What the store has answered."""

    def hold_request(self, name: str) -> Gate:
        """The next one waits before the store has it."""
        gate = self._ahead[name] = Gate()
        return gate

    def hold_reply(self, name: str) -> Gate:
        """The store carries the next one out; its reply waits."""
        gate = self._behind[name] = Gate()
        return gate

    def lose_request(self, name: str) -> None:
        """The next one never comes to the store."""
        self._ahead[name] = None

    def lose_reply(self, name: str) -> None:
        """The store carries the next one out, and nobody is told."""
        self._behind[name] = None

    def resend(self, name: str) -> None:
        """The next one is sent twice, as redis-py does when the first reply is lost; the second reply counts."""
        self._twice.add(name)

    async def _send(self, commands: Sequence[Sequence[Argument]], lasting: bool) -> list[Answer]:
        words = commands[0]
        name = str(words[1]).rpartition("_")[0] if words[0] == "FCALL" else str(words[0])
        self.sent.append(name)
        if self.down:
            self._ahead[name] = None
        await self._pass(self._ahead, name)
        answers = await super()._send(commands, lasting)
        if name in self._twice:
            self._twice.remove(name)
            answers = await super()._send(commands, lasting)
        self.answered.append(name)
        await self._pass(self._behind, name)
        return answers

    async def _pass(self, gates: dict[str, Gate | None], name: str) -> None:
        if name not in gates:
            return
        gate = gates.pop(name)
        if gate is None:
            async with self.answering():
                raise ConnectionError("lost by the test")
        await gate.wait()


class Recorder:
    """An announcer that notes what was told, in order."""

    def __init__(self) -> None:
        self.told: list[tuple[str, object]] = []

    def facts(self, room: Room, stamped: Sequence[Stamped]) -> None:
        self.told += [(type(fact.fact).__name__, fact.version) for fact in stamped]

    def started(self, room: Room) -> None:
        self.told.append(("started", room.id))

    def moved(self, room: Room, player: str, entries: Sequence[Entry]) -> None:
        self.told.append(("moved", (player, [entry.move for entry in entries])))

    def shown(self, room: Room, player: str, seq: int, entries: Sequence[Entry]) -> None:
        self.told.append(("shown", (player, seq)))

    def online(self, room: Room, player: str, online: bool) -> None:
        self.told.append(("online", (player, online)))

    def delayed(self, room: Room) -> None:
        self.told.append(("delayed", room.id))

    @property
    def kinds(self) -> list[str]:
        """The kinds of what was told."""
        return [kind for kind, _ in self.told]


class FakeMember:
    """A connection of which only the ends are looked at."""

    def __init__(self, player: Player, sid: str = "1.s") -> None:
        self.player = player
        self.sid = sid
        self.opened: dict[str, str] = {}
        self.closed: CloseCode | None = None
        self.measured = 0

    def close(self, code: CloseCode) -> None:
        self.closed = self.closed or code

    def measure(self) -> None:
        self.measured += 1


class Shell:
    """The parts of one node that put core and store together."""

    def __init__(self, store: Store) -> None:
        assert isinstance(store.link, GatedLink)
        self.store = store
        self.link = store.link
        self.recorder = Recorder()
        self.tasks = Tasks()
        self.rooms = Rooms(store, self.recorder, self.tasks)
        self.admission = Admission(store, self.rooms, Bounds(), self.tasks)
        self.lobby = Lobby(store, self.rooms, self.admission, Bounds())
        self.listing = Listing(store)
        self.mover = Mover(store, Bounds().log_entries)
        self.upkeep = Upkeep(store, self.rooms)

    def now(self) -> int:
        """The race clock."""
        return self.store.clock.now()

    async def race(
        self,
        *players: Player,
        start_in: int | None = None,
        settings: Settings | None = None,
        ghosts: tuple[GhostGame, ...] = (),
    ) -> Race:
        """A race on record that these have joined; with `start_in` (ms, may be negative) its countdown has begun."""
        now = self.now()
        born = new_race(settings or SHORT, race_id=new_id())
        race = replace(born, created_at=now - 20_000, changed_at=now - 20_000, ghosts=ghosts)
        await self.rooms.create(race)
        facts: list[Fact] = [Joined(player) for player in players]
        if start_in is not None:
            variant = race.settings.variant
            facts += [ReadySet(player.id, True) for player in players]
            facts.append(CountdownBegan(now + start_in, SECRET.commitment(variant)))
        return await self.append(race, *facts, secret=SECRET if start_in is not None else None)

    async def append(self, race: Race, *facts: Fact, secret: Secret | None = None, at: int | None = None) -> Race:
        """The race after facts that are put on record by another node."""
        if not facts:
            return race
        races = RaceStore(self.link, "elsewhere")
        moment = self.now() if at is None else at
        for fact in await races.append(race, new_id(), facts, moment, secret=secret):
            race = evolve(race, fact)
        return race

    async def open(self, race: Race, player: Player, sid: str = "1.s") -> None:
        """The player's connection is the one that plays."""
        await self.store.races.open(race.id, player.id, sid)

    @asynccontextmanager
    async def attended(self, race: Race, *members: FakeMember) -> AsyncIterator[Referee]:
        """The referee of a race with these members in its room: nobody but the test wakes it."""
        record = await self.store.races.load(race.id, host=True)
        assert record is not None
        secret = await self.store.races.secret(race.id)
        referee = Referee(Room(record, secret, self.recorder), self.store)
        start_at = record.race.start_at
        referee.room.released = start_at is not None and start_at <= self.now() and record.race.cancelled is None
        for member in members:
            await self.admission.open(referee, member)
            referee.room.attach(member)
        yield referee

    async def held(self, race: Race, *members: FakeMember) -> Referee:
        """The same of a race that is held by the rooms of this node, which wake it when it is due."""
        async with self.rooms.hold(race.id) as referee:
            for member in members:
                await self.admission.open(referee, member)
                referee.room.attach(member)
        return referee

    async def move(
        self, referee: Referee, player: Player, seq: int, *moves: str, sid: str = "1.s", at: int | None = None
    ) -> Moved:
        """Carry out moves that have just arrived, and return the answer."""
        answers: list[Moved] = []
        request = Move(race=referee.room.id, seq=seq, moves=moves)
        arrival = Arrival(self.now() if at is None else at, time.monotonic())
        await self.mover.play(FakeMember(player, sid), referee, request, arrival, answers.append)
        (answer,) = answers
        return answer


@asynccontextmanager
async def shell(url: str, node: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Shell]:
    """A node's shell on the store at a URL, whose link a test can hold."""
    client = client_for(url)
    with monkeypatch.context() as patched:
        patched.setattr(store_package, "Link", GatedLink)
        store = await open_store(client, node)
    await store.nodes.beat(store.clock.now())
    made = Shell(store)
    made.tasks.spawn(store.committer.run(), "committer")
    try:
        yield made
    finally:
        await made.tasks.close()
        await store.clock.close()
        await client.aclose()
