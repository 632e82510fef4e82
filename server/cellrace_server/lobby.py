"""What players ask for outside the moves: opening a race, getting into one and out again, watching."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable
from hashlib import sha256
from weakref import WeakKeyDictionary, WeakValueDictionary

from msgspec.structs import replace

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import (
    RaceCreate,
    RaceJoin,
    RaceKind,
    RaceWatch,
    Settings,
    settle,
)
from cellrace_server.admission import GUESS_WINDOW, GUESSES_AGAIN, Admission
from cellrace_server.config import Bounds
from cellrace_server.core.addresses import caller_of
from cellrace_server.core.commands import Command, Concede, Forfeit, Join, Kick, Leave, Rematch, SetReady, Start
from cellrace_server.core.ghosts import GhostGame
from cellrace_server.core.race import Race
from cellrace_server.gallery import reveal
from cellrace_server.ghosts import summon
from cellrace_server.referee import Referee
from cellrace_server.room import Member, Room
from cellrace_server.rooms import Rooms
from cellrace_server.store import Store
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.players import new_id
from cellrace_server.store.races import Secret

CODE_LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
CODE_LENGTH = 8
LOOKED_UP_AT_ONCE = 8
"""So many codes of one address; the others wait."""

DOUBTFUL_FOR = 60_000
"""For how long a race is remembered whose creation was answered with `retry_later`, ms; repeats come in a second."""
DOUBTFUL_KEPT = 8
"""How many of them for each connection; the oldest gives way."""
REMATCHES = 100
"""How many successors of one race may be cancelled, one after the other."""

Answer = Callable[[Room], None]
"""Called in one turn with the change: answers whoever asked, before anybody is told."""


class Lobby:
    """Carries out requests of members, one node's."""

    def __init__(self, store: Store, rooms: Rooms, admission: Admission, bounds: Bounds) -> None:
        self._store = store
        self._rooms = rooms
        self._admission = admission
        self._bounds = bounds
        self._doubtful: WeakKeyDictionary[Member, list[tuple[RaceCreate, Race]]] = WeakKeyDictionary()
        self._turns = WeakValueDictionary[str, asyncio.Semaphore]()
        """Of callers whose codes are looked up, for as long as they are; at most one waits for each connection."""

    async def create(self, member: Member, request: RaceCreate, answer: Answer) -> Referee:
        """A new race, the asking player in it; the same one where its creation is asked for again, unchanged.

        Raises Refused, StoreUnavailable (then it may be there, and is remembered).
        """
        race = self._remembered(member, request) or await self._race_to_create(member, request)
        try:
            await self._admission.list_race(member.player.id, race.id, race.created_at)
            await self._store.lists.add(race)
            await self._rooms.create(race)
            return await self._enter(member, race.id, answer, listed=True)
        except StoreUnavailable:
            doubtful = self._doubtful.setdefault(member, [])
            doubtful.append((request, race))
            del doubtful[:-DOUBTFUL_KEPT]
            raise

    def _remembered(self, member: Member, request: RaceCreate) -> Race | None:
        doubtful, now = self._doubtful.get(member, []), self._store.clock.now()
        for place, (asked, race) in enumerate(doubtful):
            if asked == request and now < race.created_at + DOUBTFUL_FOR:
                del doubtful[place]
                return race
        return None

    async def _race_to_create(self, member: Member, request: RaceCreate) -> Race:
        ghosts, deal = await summon(self._store, request.settings, member.player.id)
        settings = settle(request.settings, deal)
        if member.player.bot and not settings.bots:
            raise Refused(ErrorCode.BOTS_NOT_ALLOWED)
        return self._new_race(member.player.id, new_id(), settings, ghosts=ghosts)

    def _new_race(
        self,
        player: str,
        race_id: str,
        settings: Settings,
        parent: str | None = None,
        ghosts: tuple[GhostGame, ...] = (),
    ) -> Race:
        now = self._store.clock.now()
        return Race(
            id=race_id,
            kind=RaceKind.RACE,
            settings=settings,
            created_at=now,
            created_by=player,
            code="".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH)),
            changed_at=now,
            parent=parent,
            ghosts=ghosts,
        )

    async def join(self, member: Member, request: RaceJoin, address: str, answer: Answer) -> Referee:
        """Into a race by its id or code. Raises Refused, StoreUnavailable."""
        if request.race is not None:
            return await self._enter(member, request.race, answer, by_code=False)
        return await self._enter(member, await self._find_by_code(request.code or "", address), answer)

    async def _find_by_code(self, code: str, address: str) -> str:
        too_many = Refused(
            ErrorCode.RATE_LIMITED,
            "Too many wrong codes have come from your address.",
            retry_after=GUESSES_AGAIN,
        )
        # Whether those under way are wrong is not known before they are looked up: that many more may be, and of these
        # nobody is told that they are.
        async with self._turns.setdefault(caller_of(address), asyncio.Semaphore(LOOKED_UP_AT_ONCE)):
            if await self._store.players.guesses("code", address) >= self._bounds.wrong_guesses:
                raise too_many
            race_id = await self._store.lists.by_code(code)
            if race_id is not None:
                return race_id
            if await self._store.players.count_guess("code", address, GUESS_WINDOW) > self._bounds.wrong_guesses:
                raise too_many
            raise Refused(ErrorCode.NO_SUCH_RACE)

    async def _enter(
        self, member: Member, race_id: str, answer: Answer, *, by_code: bool = True, listed: bool = False
    ) -> Referee:
        async with self._rooms.hold(race_id) as referee:
            room = referee.room
            inside = room.entrant(member.player.id) is not None
            if not inside and room.race.settings.private and not by_code:
                raise Refused(ErrorCode.NO_SUCH_RACE)
            if not room.race.ended:
                if not listed:
                    await self._admission.list_race(member.player.id, race_id, room.race.created_at)
                await self._admission.open(referee, member)
            try:
                stamped = await referee.ask(lambda: Join(member.player), member)
            except Refused:
                member.opened.pop(race_id, None)
                await self._store.players.exit(member.player.id, race_id)
                raise

            def enter() -> None:
                if not room.race.ended:
                    room.attach(member)
                answer(room)

            referee.tell(stamped, enter)
            return referee

    async def ready(self, member: Member, race_id: str, ready: bool, answer: Answer) -> None:
        """An entrant is ready, or not. Raises Refused, StoreUnavailable."""
        await self._ask(member, race_id, lambda _: SetReady(member.player.id, ready), answer)

    async def kick(self, member: Member, race_id: str, player: str, answer: Answer) -> None:
        """The host removes an entrant. Raises Refused, StoreUnavailable."""
        await self._ask(member, race_id, lambda _: Kick(member.player.id, player), answer)

    async def concede(self, member: Member, race_id: str, answer: Answer) -> None:
        """An entrant stops playing. Raises Refused, StoreUnavailable."""
        player = member.player.id
        await self._ask(member, race_id, lambda room: Concede(player, room.tally(player)), answer)

    async def forfeit(self, member: Member, race_id: str, answer: Answer) -> None:
        """An entrant gives up. Raises Refused, StoreUnavailable."""
        player = member.player.id
        await self._ask(member, race_id, lambda room: Forfeit(player, room.tally(player)), answer)

    async def leave(self, member: Member, race_id: str, answer: Answer) -> None:
        """An entrant goes, and hears no more of the race. Raises Refused, StoreUnavailable."""
        player = member.player.id

        def depart(room: Room) -> None:
            room.detach(member)
            answer(room)

        async with self._rooms.hold(race_id) as referee:
            room = referee.room
            stamped = await referee.ask(lambda: Leave(player, room.tally(player)), member)
            referee.tell(stamped, lambda: depart(room))
            # It has been answered by now, and cannot be refused any more.
            with contextlib.suppress(StoreUnavailable):
                await self._store.players.exit(player, race_id)
                await self._admission.gone(referee, player, member.sid, self._store.clock.now())

    async def start(self, member: Member, race_id: str, answer: Answer) -> None:
        """The host starts with those who are ready. Raises Refused, StoreUnavailable."""
        async with self._rooms.hold(race_id) as referee:

            def build(secret: Secret) -> Command:
                return Start(member.player.id, secret.commitment(referee.room.race.settings.variant))

            await referee.start(build, lambda: answer(referee.room), member)

    async def _ask(self, member: Member, race_id: str, build: Callable[[Room], Command], answer: Answer) -> None:
        async with self._rooms.hold(race_id) as referee:
            room = referee.room
            stamped = await referee.ask(lambda: build(room), member)
            referee.tell(stamped, lambda: answer(room))

    async def look(self, member: Member, race_id: str, answer: Answer) -> Referee | None:
        """Answer about a race to somebody who may see it, as it is on record now.

        Who plays in it and was not connected to it, for the answer to an earlier request was lost, is from now on.
        Raises Refused, Superseded, StoreUnavailable.
        """
        async with self._rooms.hold(race_id) as referee:
            await referee.make_sure()
            room, player = referee.room, member.player.id
            entrant = room.entrant(player)
            if entrant is None and member not in room.spectators:
                raise Refused(ErrorCode.NOT_ALLOWED)
            plays = entrant is not None and entrant.done is None and not room.race.ended
            missed = plays and room.entrants_here.get(player) is not member
            if missed:
                await self._admission.open(referee, member)
                room.attach(member)
            answer(room)
            return referee if missed else None

    async def watch(self, member: Member, request: RaceWatch, address: str, answer: Answer) -> Referee:
        """A spectator from now on. Raises Refused, StoreUnavailable."""
        race_id = request.race
        if race_id is None:
            race_id = await self._find_by_code(request.code or "", address)
        async with self._rooms.hold(race_id) as referee:
            await referee.make_sure()
            room = referee.room
            entrant = room.entrant(member.player.id)
            if room.race.kind is RaceKind.DAILY:
                raise Refused(ErrorCode.NOT_ALLOWED)
            if entrant is None and room.race.settings.private and request.code is None:
                raise Refused(ErrorCode.NO_SUCH_RACE)
            if entrant is not None and entrant.done is None:
                raise Refused(ErrorCode.NOT_ALLOWED)
            reveal(room, self._store.clock.now())
            room.attach(member)
            answer(room)
            return referee

    async def rematch(self, member: Member, race_id: str, answer: Answer) -> Referee:
        """Into the one successor of a race that is over, which the first to ask opens.

        Its id follows from the parent, so two nodes open the same one (NODES, 23). Raises Refused, StoreUnavailable.
        """
        async with self._rooms.hold(race_id) as referee:
            # Nobody who may not ask opens a successor.
            await referee.check(lambda: Rematch(member.player.id, ""))
            successor = await self._open_successor(member, referee.room.race)
            stamped = await referee.ask(lambda: Rematch(member.player.id, successor), member)

            def answer_first(room: Room) -> None:
                answer(room)
                referee.tell(stamped)

            try:
                return await self._enter(member, successor, answer_first, listed=True)
            finally:
                # On record also where nobody could enter; what has been told already is passed over.
                referee.tell(stamped)

    async def _open_successor(self, member: Member, parent: Race) -> str:
        for attempt in range(REMATCHES):
            race_id = _successor_id(parent.id, attempt)
            head = await self._store.races.head(race_id)
            if head is not None and head.race.cancelled is not None:
                continue
            settings = replace(parent.settings, deal=None, ghosts=())
            race = self._new_race(member.player.id, race_id, settings, parent.id) if head is None else head.race
            if not race.ended:
                await self._admission.list_race(member.player.id, race_id, race.created_at)
            if head is None:
                await self._store.lists.add(race)
                await self._rooms.create(race)
            return race_id
        raise Refused(ErrorCode.RACE_FULL, "This race has been rematched too often; create a new one.")


def _successor_id(parent: str, attempt: int) -> str:
    return sha256(f"rematch:{parent}:{attempt}".encode()).hexdigest()[:12]
