"""Who comes and who goes: hello, the races that a player comes back to, and the connection that is lost."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from ipaddress import ip_address

import structlog
from msgspec import Struct

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import Hello, Player
from cellrace_server.config import Bounds
from cellrace_server.core.names import Name, parse_name
from cellrace_server.core.presence import Presence, epoch_of, is_set_back
from cellrace_server.core.race import OFFLINE_REMOVAL
from cellrace_server.marking import part_from_people
from cellrace_server.referee import Referee
from cellrace_server.room import Member
from cellrace_server.rooms import Rooms
from cellrace_server.store import Store
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.players import Credentials
from cellrace_server.store.races import LostTrack
from cellrace_server.tasks import Tasks

GUESS_WINDOW = 600
"""Within how many seconds the wrong guesses of an address are counted."""
GUESSES_AGAIN = GUESS_WINDOW * 1000
"""After how long, ms, whoever has guessed too often is heard again."""
NAME_ATTEMPTS = 20
RETRY = 1.0
HELLOS_AT_ONCE = 32
"""So many come in at the same time: when thousands do, as after a node's death, all of them at once would only wait for
the store until it seems to be gone."""
HELLO_PATIENCE = 12.0
"""How long others wait for their turn, in seconds, before they are asked to say hello again."""
HELLO_AGAIN = 2_000
"""After how long, ms."""

log = structlog.get_logger()


class Admitted(Struct, frozen=True):
    """Who says hello, and the token of a new player."""

    player: Player
    token: str | None
    sid: str


class Admission:
    """Lets players in and notes that they have gone, one node's."""

    def __init__(self, store: Store, rooms: Rooms, bounds: Bounds, tasks: Tasks) -> None:
        self._store = store
        self._rooms = rooms
        self._bounds = bounds
        self._tasks = tasks
        self._doors = asyncio.Semaphore(HELLOS_AT_ONCE)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """The turn of one hello among many. Raises Refused with `retry_later`."""
        try:
            async with asyncio.timeout(HELLO_PATIENCE):
                await self._doors.acquire()
        except TimeoutError:
            text = "Many are coming at this moment."
            raise Refused(ErrorCode.RETRY_LATER, text, retry_after=HELLO_AGAIN) from None
        try:
            yield
        finally:
            self._doors.release()

    async def admit(self, hello: Hello, address: str, newcomer: Credentials) -> Admitted:
        """The player who says hello, a new one under these credentials. Raises Refused, StoreUnavailable."""
        now = self._store.clock.now()
        name = None if hello.name is None else parse_name(hello.name, self._bounds.name_length)
        if hello.token is None:
            here = ip_address(address).is_loopback
            most = self._bounds.new_players_here if here else self._bounds.new_players
            if await self._store.players.count_guess("player", address, GUESS_WINDOW) > most:
                raise Refused(
                    ErrorCode.RATE_LIMITED,
                    "Too many new players have come from your address.",
                    retry_after=GUESSES_AGAIN,
                )
            player = await self._register(newcomer, name, hello.bot, now)
            return Admitted(player, newcomer.token, await self._store.players.take_over(player.id, now))
        try:
            identity = await self._store.players.recognise(hello.token)
        except Refused as refused:
            # A right token is let in all the same: it is too long to be guessed, and whoever plays behind the same
            # router or proxy as somebody who tries could not come back to a race otherwise.
            if refused.code == ErrorCode.BAD_TOKEN and (
                await self._store.players.count_guess("token", address, GUESS_WINDOW) > self._bounds.wrong_guesses
            ):
                raise Refused(
                    ErrorCode.RATE_LIMITED,
                    "Too many wrong tokens have come from your address.",
                    retry_after=GUESSES_AGAIN,
                ) from None
            raise
        player = await self._store.players.change(identity, name, hello.bot, now)
        if player.bot and not identity.player.bot:
            await part_from_people(self._store, player.id)
        return Admitted(player, None, await self._store.players.take_over(player.id, now))

    async def _register(self, newcomer: Credentials, name: Name | None, bot: bool, now: int) -> Player:
        if name is not None:
            return await self._store.players.register(newcomer, name, bot, now)
        for _ in range(NAME_ATTEMPTS):
            try:
                made = parse_name(f"{'Bot' if bot else 'Guest'} {secrets.randbelow(900_000) + 100_000}")
                return await self._store.players.register(newcomer, made, bot, now)
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
                room, inside = referee.room, await self.is_entrant(referee, member.player.id)
                if room.race.ended:
                    # Also one that was left half entered: it would take up a place among those one may be in.
                    await self._store.players.exit(member.player.id, race_id)
                    continue
                if not inside:
                    continue
                await self.open(referee, member)
                await referee.make_sure()
                referees.append(referee)
            answer(referees)
            for referee in referees:
                referee.room.attach(member)

    async def list_race(self, player_id: str, race_id: str, created_at: int) -> None:
        """Put a race on the list of a player who wants to be in it: before it is opened, and before it is entered.

        Raises Refused where the player is in as many others as one may be, StoreUnavailable.
        """
        # Each is told of in the welcome, read again on the way back, and kept in the store until it is over.
        most = self._bounds.player_races
        if not await self._store.players.enter_within(most, player_id, race_id, created_at):
            text = "You are in too many races that are not over; leave one of them first."
            raise Refused(ErrorCode.NOT_ALLOWED, text)

    async def is_entrant(self, referee: Referee, player_id: str) -> bool:
        """Whether a player is in a race, for whom something says so; before that is denied the record is read again.

        What was written at another node may not have been heard yet, and of what this one writes past its room, as of a
        match or a daily, the room is not told. Raises StoreUnavailable, LostTrack.
        """
        if referee.room.entrant(player_id) is None:
            referee.room.doubt()
            await referee.make_sure()
        return referee.room.entrant(player_id) is not None

    async def open(self, referee: Referee, member: Member) -> None:
        """Make a connection the one that plays in a race. Raises Superseded, StoreUnavailable."""
        player, sid, here = member.player.id, member.sid, self._store.races.node
        room = referee.room
        # Noted first: when the reply is lost the store may have it all the same.
        member.opened[room.id] = sid
        before = await self._store.races.open(room.id, player, sid)
        if before != room.presence.get(player) or (before is not None and before.node != here):
            room.doubt()  # The last moves were written at another node, and may not have been heard yet.
        room.set_presence(player, Presence(sid, here, None))

    async def renew(self, member: Member) -> str | None:
        """A new sid, above all that its races know, for a fenced connection that is its player's newest all the same.

        Raises LostTrack where the store has forgotten it, for that was set back; StoreUnavailable.
        """
        player, above = member.player.id, 0
        for race_id in member.opened:
            head = await self._store.races.head(race_id)
            if head is not None and player in head.presence:
                above = max(above, epoch_of(head.presence[player].sid))
        sid = await self._store.players.renew(player, member.sid, above)
        if sid is None:
            (holder,) = await self._store.players.holders([player])
            if is_set_back(holder.sid, member.sid):
                raise LostTrack
        return sid

    async def reopen(self, member: Member) -> None:
        """Open all races of a connection again, under its new sid. Raises Superseded, StoreUnavailable."""
        for race_id in tuple(member.opened):
            async with self._rooms.hold(race_id) as referee:
                await self.open(referee, member)

    def disconnected(self, member: Member, race_ids: Iterable[str], at: int) -> None:
        """A connection has ended: its entrants are without one since then, if it was their newest."""
        for race_id in dict.fromkeys((*race_ids, *member.opened)):
            sid = member.opened.get(race_id, member.sid)
            self._tasks.spawn(self._note_gone(member, race_id, sid, at), "race")

    def unqueued(self, member: Member, variant: str, queueing: asyncio.Lock) -> None:
        """A connection has ended that waited in the queue of a game, or is `queueing` just now."""
        self._tasks.spawn(self._note_unqueued(variant, member.player.id, member.sid, queueing), "queue")

    async def _note_unqueued(self, variant: str, player: str, sid: str, queueing: asyncio.Lock) -> None:
        while True:
            try:
                async with queueing:
                    await self._store.queue.leave(variant, player, sid)
                return
            except StoreUnavailable:
                await asyncio.sleep(RETRY)  # Until the store has it: the entry would wait for ever.

    async def _note_gone(self, member: Member, race_id: str, sid: str, at: int) -> None:
        # Repeated until the store has it: an entrant who only seems to be there would keep the others waiting.
        player = member.player.id
        while True:
            try:
                async with self._rooms.hold(race_id) as referee:
                    await self.gone(referee, player, sid, at)
                    referee.room.detach(member)
                return
            except (Refused, LostTrack):
                return
            except StoreUnavailable as error:
                log.debug("a lost connection is not on record yet", race=race_id, player=player, reason=str(error))
                await asyncio.sleep(RETRY)  # The store is away for now.

    async def gone(self, referee: Referee, player: str, sid: str, at: int) -> None:
        """Note that an entrant is without a connection, if `sid` was the newest. Raises StoreUnavailable."""
        race = referee.room.race
        if race.ended or race.entrant(player) is None:
            return
        patience = OFFLINE_REMOVAL if race.start_at is None else race.settings.grace * 1000
        await self._store.due.expect(race.id, max(at, race.start_at or 0) + patience)
        await self._store.races.gone(race.id, player, sid, at)
        presence = referee.room.presence.get(player)
        if presence is not None and presence.sid == sid:
            referee.room.set_presence(player, Presence(sid, presence.node, at))
