"""Carries out on a room what is asked of its race: decides, writes, tells; and wakes it when time has passed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Sequence
from uuid import uuid4

from cellrace.errors import Refused
from cellrace.messages import EntrantStatus, RaceState
from cellrace_server import chronicle
from cellrace_server.core.commands import Begin, Command, Delay, Wake, decide
from cellrace_server.core.facts import Cancelled, Done, Fact, Left, Over, Stamped
from cellrace_server.core.presence import FIRST_CONTACT, absences, judges
from cellrace_server.core.race import Race, all_ready, apply, deadline, starters
from cellrace_server.drawing import draw, let_go
from cellrace_server.gallery import next_ghost_move, next_reveal, play_ghosts, reveal
from cellrace_server.results import record_end, with_ratings
from cellrace_server.room import Member, Room
from cellrace_server.store import Store
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.nodes import BEAT
from cellrace_server.store.races import Behind, Guard, LostTrack, Moved, Secret, Superseded

AFTER_STORE_ERROR = 2.0
"""For how many seconds after an error of the store nobody is timed out (NODES, 4)."""
LONGEST_WAIT = 15_000
"""After how long a race is looked at in any case, since an absence may have begun with a node's death, ms."""
ROUNDS = 100
"""How often a command is decided anew because somebody else was faster."""

AT_ODDS = "This node and the store do not agree on the race."

BuildCommand = Callable[[], Command]


class _OthersReady(Exception):
    """Somebody became ready who may have had the deal that was drawn meanwhile."""


class Referee:
    """Decides on one room's race, one thing at a time."""

    def __init__(self, room: Room, store: Store) -> None:
        self.room = room
        self._store = store
        self._lock = asyncio.Lock()
        self._committing = 0
        self._calm = asyncio.Event()
        self._calm.set()

    def next_look(self, now: int) -> int | None:
        """When the race must be looked at next on this node, ms; None when it has ended."""
        race = self.room.race
        if self.room.doubtful:
            return now
        if race.ended:
            return None
        nodes = self._store.nodes.nodes
        absent = absences(race, self.room.presence, nodes, now)
        following = deadline(race, absent if judges(nodes, now) else {})
        assert following is not None
        if absent and not judges(nodes, now):
            following = min(following, max(nodes.contact_at + FIRST_CONTACT, now + round(BEAT * 1000)))
        for wanted in (next_reveal(self.room), next_ghost_move(self.room)):
            if wanted is not None:
                following = min(following, wanted)
        if not self.room.released and race.start_at is not None:
            following = min(following, race.start_at + self._store.clock.margin)
        return min(following, now + LONGEST_WAIT)

    async def ask(self, build: BuildCommand, by: Member | None = None) -> Sequence[Stamped]:
        """Carry out a command and return its facts, not yet told: the caller answers, then calls `tell`.

        The command is built anew whenever the race has moved on. `by` is the connection of the entrant who asks.
        Raises Refused, Superseded, StoreUnavailable, LostTrack.
        """
        async with self._lock:
            return await self._carry_out(build, by=by)

    async def check(self, build: BuildCommand) -> None:
        """Raises Refused where a command would be refused, StoreUnavailable, LostTrack."""
        async with self._lock:
            await self._decide(build)

    async def _decide(self, build: BuildCommand) -> Sequence[Fact]:
        """What a command makes true. It is refused by what is on record, whatever of that has been heard here yet."""
        await self._make_sure()
        race = self.room.race
        try:
            return decide(race, build(), self._store.clock.now())
        except Refused:
            if race.ended or (await self._store.races.progress(race.id))[0] <= race.version:
                raise
            await self._reload()
            return decide(self.room.race, build(), self._store.clock.now())

    async def _carry_out(
        self, build: BuildCommand, secret: Secret | None = None, by: Member | None = None
    ) -> Sequence[Stamped]:
        command_id = uuid4().hex[:16]
        for _ in range(ROUNDS):
            facts = await self._decide(build)
            race, now = self.room.race, self._store.clock.now()
            if not facts:
                return ()
            try:
                facts = await with_ratings(self._store, race, facts)
                await self._expect(race, facts, now)
                guards = self._guards(facts, by)
                stamped = await self._store.races.append(race, command_id, facts, now, guards, secret)
                chronicle.note(self._store.counts, race, [fact for fact in stamped if fact.command_id == command_id])
                await self._take_off_lists(race, facts)
                return stamped
            except Behind as behind:
                if not self.room.apply_facts(behind.newer):
                    self.room.doubt()
            except Moved:
                self.room.doubt()
            except StoreUnavailable:
                self.room.doubt()
                raise
        raise StoreUnavailable(AT_ODDS)

    async def _take_off_lists(self, race: Race, facts: Sequence[Fact]) -> None:
        # The facts are on record, whatever becomes of this; a list with too many races is put right by its reader.
        with contextlib.suppress(StoreUnavailable):
            for fact in facts:
                if isinstance(fact, Left):
                    await self._store.players.exit(fact.player, race.id)

    def tell(self, stamped: Sequence[Stamped], answer: Callable[[], None] | None = None) -> None:
        """Take facts into the room, answer whoever asked, then tell the members: in one turn, without a wait."""
        if not self.room.apply_facts(stamped, answer):
            self.room.doubt()
        if self.room.race.standings is not None:
            reveal(self.room, self._store.clock.now())

    async def make_sure(self) -> None:
        """Read the record again if an outcome is unknown, or the deal is. Raises StoreUnavailable, LostTrack."""
        async with self._lock:
            await self._make_sure()

    async def _make_sure(self) -> None:
        if self.room.doubtful or self.room.wants_deal:
            await self._reload()

    def commit_begins(self) -> None:
        """Moves are on their way into the store: until they are answered the record is not read again."""
        self._committing += 1
        self._calm.clear()

    def commit_ends(self) -> None:
        """The outcome is known here and told, or known to be unknown."""
        self._committing -= 1
        if not self._committing:
            self._calm.set()

    async def _reload(self) -> None:
        """Read the whole record again, when no moves are on their way into it (NODES, 5).

        Raises StoreUnavailable, LostTrack.
        """
        await self._calm.wait()
        self._store.counts.resyncs += 1
        before = self.room.known()
        record = await self._store.races.load(self.room.id, host=True)
        if record is None:
            raise LostTrack(self.room.id)
        if record.race.start_at is not None and self.room.secret is None:
            self.room.secret = await self._store.races.secret(self.room.id)
        if not self.room.refresh(record, before):
            raise LostTrack(self.room.id)

    async def wake(self) -> bool:
        """Do what is due now: begin, remove, end. Whether anything was done. Raises StoreUnavailable, LostTrack."""
        async with self._lock:
            await self._make_sure()
            race, now = self.room.race, self._store.clock.now()
            self.release_in_time()
            play_ghosts(self.room, now)
            reveal(self.room, now)
            if race.ended:
                return False
            if not all(map(self._store.nodes.nodes.know, self.room.presence.values())):
                await self._store.nodes.beat(now)  # A node that has only just begun is not dead.
            absent = absences(race, self.room.presence, self._store.nodes.nodes, now)
            if race.state(now) is RaceState.OPEN and all_ready(race) and not absent:
                return await self._begin(lambda secret: Begin(secret.commitment(race.settings.variant)))
            if self._store.link.seconds_since_error < AFTER_STORE_ERROR:
                return False
            stamped = await self._carry_out(self._wake_command)
            self.tell(stamped)
            return bool(stamped)

    def release_in_time(self) -> None:
        """Tell the deal if the race has started also by a clock that is behind this one."""
        start_at, clock = self.room.race.start_at, self._store.clock
        if start_at is not None and clock.now() >= start_at + clock.margin:
            self.room.release()

    def _wake_command(self) -> Command:
        now = self._store.clock.now()
        nodes = self._store.nodes.nodes
        race = self.room.race
        absent = absences(race, self.room.presence, nodes, now) if judges(nodes, now) else {}
        tallies = {entrant.player.id: self.room.tally(entrant.player.id) for entrant in race.entrants}
        return Wake(absent, tallies)

    async def start(
        self, build: Callable[[Secret], Command], answer: Callable[[], None], by: Member | None = None
    ) -> None:
        """Begin the countdown with those who are ready, as the host asks.

        Raises Refused, Superseded, StoreUnavailable, LostTrack.
        """
        async with self._lock:
            await self._decide(lambda: build(Secret(0, "")))
            await self._begin(build, answer, by)

    async def _begin(
        self, build: Callable[[Secret], Command], answer: Callable[[], None] | None = None, by: Member | None = None
    ) -> bool:
        """Draw a deal for those who are ready and begin with it; or, if there is none, say so.

        Whether the race has begun. Without an `answer` nobody has asked, and a refusal says that it has already.
        """
        for _ in range(ROUNDS):
            race = self.room.race
            players = frozenset(player.id for player in starters(race))
            secret = await draw(self._store, race, players)
            try:
                stamped = await self._carry_out(self._beginning(build, players, secret), secret, by)
            except (_OthersReady, Refused, Superseded) as no:
                await let_go(self._store, race, players, secret)
                if isinstance(no, _OthersReady):
                    continue
                if isinstance(no, Refused) and answer is None:
                    return self.room.race.start_at is not None
                raise
            if not stamped:
                await let_go(self._store, race, players, secret)
            self.tell(stamped, answer)
            if secret is None:
                self.room.tell_delay()
            else:
                await self._learn_deal(secret)
            return self.room.race.start_at is not None
        raise StoreUnavailable(AT_ODDS)

    def _beginning(
        self, build: Callable[[Secret], Command], players: Collection[str], secret: Secret | None
    ) -> BuildCommand:
        """The command that begins with the deal drawn for these players. It raises _OthersReady."""

        def begin() -> Command:
            if secret is None:
                return Delay()
            if any(player.id not in players for player in starters(self.room.race)):
                raise _OthersReady
            return build(secret)

        return begin

    async def _learn_deal(self, drawn: Secret) -> None:
        """Take in the deal that the race has begun with, be it the one drawn here or another node's."""
        race = self.room.race
        if race.start_at is None or self.room.secret is not None:
            return
        mine = race.commitment == drawn.commitment(race.settings.variant)
        secret = drawn if mine else await self._store.races.secret(race.id)
        if secret is not None:
            self.room.learn_secret(secret)

    async def finish(self) -> None:
        """The effects of an end; until all are done the race stays due (NODES, 19). Raises StoreUnavailable."""
        await record_end(self._store, self.room.race)
        await self._store.due.forget(self.room.id)

    async def _expect(self, race: Race, facts: Sequence[Fact], now: int) -> None:
        """Make sure that the race is looked at in time after these facts, before they are on record."""
        after = race
        for fact in facts:
            after = apply(after, fact, now)
        # What ends a race leaves effects behind, which a node must find if this one dies now.
        following = now if any(isinstance(fact, Over | Cancelled) for fact in facts) else deadline(after, {})
        if following is not None:
            # Not much later than now: an absence may begin at any time, with a node's death.
            await self._store.due.expect(race.id, min(max(following, now), now + LONGEST_WAIT))

    def _guards(self, facts: Sequence[Fact], by: Member | None) -> list[Guard]:
        """What facts rest on: a log as it is known, for an absence the connection judged, and who asked for them."""
        guards = [] if by is None else [Guard(by.player.id, None, by.sid)]
        for fact in facts:
            if isinstance(fact, Done) and self.room.entrant(fact.player) is not None:
                judged = self.room.presence.get(fact.player) if fact.status is EntrantStatus.ABANDONED else None
                guards.append(Guard(fact.player, fact.tally.seq, judged.sid if judged else ""))
        return guards
