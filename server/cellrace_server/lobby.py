"""What players ask for outside the moves: who they are, which races there are, and getting in and out of them."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from contextlib import AsyncExitStack

import structlog
from msgspec import Struct

from cellrace.errors import ErrorCode, Refused, UnknownVariant
from cellrace.messages import (
    Hello,
    Player,
    RaceCreate,
    RaceJoin,
    RaceKind,
    RaceList,
    RaceState,
    settle,
)
from cellrace.variants import find_variant
from cellrace_server.config import Bounds
from cellrace_server.core.commands import Command, Concede, Forfeit, Join, Kick, Leave, SetReady, Start
from cellrace_server.core.names import Name, parse_name
from cellrace_server.core.presence import Presence
from cellrace_server.core.race import OFFLINE_REMOVAL, Race
from cellrace_server.moves import Superseded
from cellrace_server.referee import Referee
from cellrace_server.room import Member, Room
from cellrace_server.rooms import Rooms
from cellrace_server.store import Store
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.players import new_id
from cellrace_server.store.races import Head, LostTrack, Secret
from cellrace_server.tasks import Tasks

GUESS_WINDOW = 600
"""Within how many seconds the wrong guesses of an address are counted."""
CODE_LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
CODE_LENGTH = 8
NAME_ATTEMPTS = 20
RETRY = 1.0
SCANNED = 100
"""How many races of a list are read at once while those that fit are sought."""

log = structlog.get_logger()

Answer = Callable[[Room], None]
"""Called in one turn with the change: answers whoever asked, before anybody is told."""


class Admitted(Struct, frozen=True):
    """Who says hello, and the token of a new player."""

    player: Player
    token: str | None
    sid: str


class Lobby:
    """Carries out requests of members, one node's."""

    def __init__(self, store: Store, rooms: Rooms, bounds: Bounds, tasks: Tasks) -> None:
        self._store = store
        self._rooms = rooms
        self._bounds = bounds
        self._tasks = tasks

    async def admit(self, hello: Hello, address: str) -> Admitted:
        """The player who says hello, under a new sid. Raises Refused, StoreUnavailable."""
        now = self._store.clock.now()
        name = None if hello.name is None else parse_name(hello.name)
        if hello.token is None:
            await self._count(address, "player", self._bounds.new_players)
            player, token = await self._register(name, hello.bot, now)
            return Admitted(player, token, await self._store.players.take_over(player.id))
        try:
            if await self._store.players.guesses("token", address) >= self._bounds.wrong_guesses:
                raise Refused(ErrorCode.RATE_LIMITED, retry_after=GUESS_WINDOW * 1000)
            identity = await self._store.players.recognise(hello.token)
        except Refused as refused:
            if refused.code == ErrorCode.BAD_TOKEN:
                await self._store.players.count_guess("token", address, GUESS_WINDOW)
            raise
        player = await self._store.players.change(identity, name, hello.bot, now)
        return Admitted(player, None, await self._store.players.take_over(player.id))

    async def _count(self, address: str, kind: str, most: int) -> None:
        if await self._store.players.count_guess(kind, address, GUESS_WINDOW) > most:
            raise Refused(ErrorCode.RATE_LIMITED, retry_after=GUESS_WINDOW * 1000)

    async def _register(self, name: Name | None, bot: bool, now: int) -> tuple[Player, str]:
        if name is not None:
            return await self._store.players.register(name, bot, now)
        for _ in range(NAME_ATTEMPTS):
            try:
                made = parse_name(f"{'Bot' if bot else 'Guest'} {secrets.randbelow(900_000) + 100_000}")
                return await self._store.players.register(made, bot, now)
            except Refused:
                continue
        raise Refused(ErrorCode.NAME_TAKEN)

    async def resume(self, member: Member, answer: Callable[[list[Referee]], None]) -> None:
        """Bring a player's connection into all the races that are not over; answers before anything else is pushed.

        Raises Superseded, StoreUnavailable.
        """
        async with AsyncExitStack() as stack:
            referees: list[Referee] = []
            for race_id in await self._store.players.races(member.player.id):
                try:
                    referee = await stack.enter_async_context(self._rooms.hold(race_id))
                except Refused:
                    await self._store.players.exit(member.player.id, race_id)
                    continue
                race = referee.room.race
                if race.ended or race.entrant(member.player.id) is None:
                    continue
                await self._open(referee, member)
                referees.append(referee)
            answer(referees)
            for referee in referees:
                referee.room.attach(member)

    async def _open(self, referee: Referee, member: Member) -> None:
        player, sid = member.player.id, member.sid
        if await self._store.races.open(referee.room.id, player, sid) is None:
            raise Superseded
        referee.room.set_presence(player, Presence(sid, self._store.races.node, None))

    async def reopen(self, member: Member, race_ids: list[str]) -> bool:
        """A fenced connection asks whether it is the player's newest all the same, and opens its races again."""
        if await self._store.players.current_sid(member.player.id) != member.sid:
            return False
        for race_id in race_ids:
            async with self._rooms.hold(race_id) as referee:
                await self._open(referee, member)
        return True

    async def create(self, member: Member, request: RaceCreate, answer: Answer) -> Referee:
        """A new race, the asking player in it. Raises Refused, StoreUnavailable."""
        settings = settle(request.settings)
        if member.player.bot and not settings.bots:
            raise Refused(ErrorCode.BOTS_NOT_ALLOWED)
        now = self._store.clock.now()
        code = "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))
        race = Race(
            id=new_id(),
            kind=RaceKind.RACE,
            settings=settings,
            created_at=now,
            created_by=member.player.id,
            code=code,
            changed_at=now,
        )
        await self._store.lists.add(race)
        await self._rooms.create(race)
        return await self._enter(member, race.id, answer)

    async def join(self, member: Member, request: RaceJoin, address: str, answer: Answer) -> Referee:
        """Into a race by its id or code. Raises Refused, StoreUnavailable."""
        if request.race is not None:
            return await self._enter(member, request.race, answer, by_code=False)
        if await self._store.players.guesses("code", address) >= self._bounds.wrong_guesses:
            raise Refused(ErrorCode.RATE_LIMITED, retry_after=GUESS_WINDOW * 1000)
        race_id = await self._store.lists.by_code(request.code or "")
        if race_id is None:
            await self._store.players.count_guess("code", address, GUESS_WINDOW)
            raise Refused(ErrorCode.NO_SUCH_RACE)
        return await self._enter(member, race_id, answer)

    async def _enter(self, member: Member, race_id: str, answer: Answer, *, by_code: bool = True) -> Referee:
        async with self._rooms.hold(race_id) as referee:
            room = referee.room
            inside = room.race.entrant(member.player.id) is not None
            if not inside and room.race.settings.private and not by_code:
                raise Refused(ErrorCode.NO_SUCH_RACE)
            if not room.race.ended:
                await self._store.players.enter(member.player.id, race_id, room.race.created_at)
                await self._open(referee, member)
            try:
                stamped = await referee.ask(lambda: Join(member.player))
            except Refused:
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
        await self._ask(race_id, lambda _: SetReady(member.player.id, ready), answer)

    async def kick(self, member: Member, race_id: str, player: str, answer: Answer) -> None:
        """The host removes an entrant. Raises Refused, StoreUnavailable."""
        await self._ask(race_id, lambda _: Kick(member.player.id, player), answer)

    async def concede(self, member: Member, race_id: str, answer: Answer) -> None:
        """An entrant stops playing. Raises Refused, StoreUnavailable."""
        player = member.player.id
        await self._ask(race_id, lambda room: Concede(player, room.tally(player)), answer)

    async def forfeit(self, member: Member, race_id: str, answer: Answer) -> None:
        """An entrant gives up. Raises Refused, StoreUnavailable."""
        player = member.player.id
        await self._ask(race_id, lambda room: Forfeit(player, room.tally(player)), answer)

    async def leave(self, member: Member, race_id: str, answer: Answer) -> None:
        """An entrant goes, and hears no more of the race. Raises Refused, StoreUnavailable."""
        player = member.player.id

        def depart(room: Room) -> None:
            room.detach(member)
            answer(room)

        await self._ask(race_id, lambda room: Leave(player, room.tally(player)), depart)
        await self._store.players.exit(player, race_id)
        await self._store.races.gone(race_id, player, member.sid, self._store.clock.now())

    async def start(self, member: Member, race_id: str, answer: Answer) -> None:
        """The host starts with those who are ready. Raises Refused, StoreUnavailable."""
        async with self._rooms.hold(race_id) as referee:

            def build(secret: Secret) -> Command:
                return Start(member.player.id, secret.commitment(referee.room.race.settings.variant))

            await referee.start(build, lambda: answer(referee.room))

    async def _ask(self, race_id: str, build: Callable[[Room], Command], answer: Answer) -> None:
        async with self._rooms.hold(race_id) as referee:
            room = referee.room
            stamped = await referee.ask(lambda: build(room))
            referee.tell(stamped, lambda: answer(room))

    async def look(self, member: Member, race_id: str, answer: Answer) -> None:
        """Answer about a race to somebody who may see it, as it is on record now. Raises Refused, StoreUnavailable."""
        async with self._rooms.hold(race_id) as referee:
            await referee.make_sure()
            room = referee.room
            if room.race.entrant(member.player.id) is None and member not in room.spectators:
                raise Refused(ErrorCode.NOT_ALLOWED)
            answer(room)

    async def list_races(self, player: str, request: RaceList) -> list[Head]:
        """Races that fit a request, newest first. Raises Refused, StoreUnavailable."""
        if request.variant is not None:
            _check_variant(request.variant)
        now = self._store.clock.now()
        found: list[Head] = []

        async def take(race_ids: tuple[str, ...]) -> None:
            for race_id in race_ids:
                if len(found) == request.limit:
                    return
                head = await self._store.races.head(race_id)
                if head is None:
                    await self._store.lists.drop(race_id)
                elif _fits(head.race, request, now) and (not request.mine or head.race.entrant(player)):
                    found.append(head)

        if request.mine:
            await take(await self._store.players.races(player))
            await take(await self._store.players.recent_races(player))
            return found
        ended = {RaceState.OVER: (True,), RaceState.CANCELLED: ()}.get(request.state or RaceState.OPEN, (False,))
        for which in ended if request.state is not None else (False, True):
            offset = 0
            while len(found) < request.limit and (page := await self._store.lists.newest(which, offset, SCANNED)):
                await take(page)
                offset += SCANNED
        found.sort(key=lambda head: -head.race.created_at)
        return found

    def disconnected(self, member: Member, race_ids: list[str]) -> None:
        """A connection has ended: its entrants are without one from now on, if it was their newest."""
        now = self._store.clock.now()
        for race_id in race_ids:
            self._tasks.spawn(self._note_gone(member, race_id, now), "race")

    async def _note_gone(self, member: Member, race_id: str, at: int) -> None:
        # Repeated until the store has it: an entrant who only seems to be there would keep the others waiting.
        player = member.player.id
        while True:
            try:
                async with self._rooms.hold(race_id) as referee:
                    await self._gone(referee, player, member.sid, at)
                    referee.room.detach(member)
                return
            except (Refused, LostTrack):
                return
            except StoreUnavailable as error:
                log.debug("a lost connection is not on record yet", race=race_id, player=player, reason=str(error))
                await asyncio.sleep(RETRY)

    async def _gone(self, referee: Referee, player: str, sid: str, at: int) -> None:
        race = referee.room.race
        presence = referee.room.presence.get(player)
        if race.ended or race.entrant(player) is None or presence is None or presence.sid != sid:
            return
        patience = OFFLINE_REMOVAL if race.start_at is None else race.settings.grace * 1000
        await self._store.due.expect(race.id, max(at, race.start_at or 0) + patience)
        await self._store.races.gone(race.id, player, sid, at)
        if referee.room.presence.get(player) == presence:
            referee.room.set_presence(player, Presence(sid, presence.node, at))


def _fits(race: Race, request: RaceList, now: int) -> bool:
    variant_fits = request.variant is None or race.settings.variant == request.variant
    return variant_fits and (request.state is None or race.state(now) is request.state)


def _check_variant(variant: str) -> None:
    try:
        find_variant(variant)
    except UnknownVariant as unknown:
        raise Refused(ErrorCode.NOT_FOUND, str(unknown), field="variant") from None
