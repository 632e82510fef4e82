"""The daily challenge: what a day is, the one attempt, practice on days that are published (protocol, section 6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import (
    Daily,
    DailyAttempt,
    DailyGet,
    DailyPractice,
    DailyStart,
    EntrantStatus,
    Player,
    RaceKind,
    Settings,
    Spectate,
)
from cellrace.variants import MAIN_VARIANTS
from cellrace_server.admission import Admission
from cellrace_server.core.daily import TIME_LIMIT, closes_at, day_of, opens_at, parse_day, published_at
from cellrace_server.core.effects import daily_board
from cellrace_server.core.facts import CountdownBegan, Fact, Joined
from cellrace_server.core.race import Race
from cellrace_server.referee import Referee
from cellrace_server.room import Member, Room
from cellrace_server.rooms import Rooms
from cellrace_server.store import Store
from cellrace_server.store.daily import Attempt
from cellrace_server.store.deals import new_secret
from cellrace_server.store.players import new_id
from cellrace_server.store.races import Behind, Secret

Answer = Callable[[Room], None]

AHEAD = timedelta(days=1)
"""How long before it opens a day's commitment is public."""
PREPARING = 60.0
"""Seconds between two looks whether the deals of today and tomorrow are drawn."""


class Challenges:
    """Carries out the requests about days, one node's."""

    def __init__(self, store: Store, rooms: Rooms, admission: Admission) -> None:
        self._store = store
        self._rooms = rooms
        self._admission = admission
        self._prepared: set[tuple[date, str]] = set()

    async def prepare(self) -> None:
        """Draw the deals of today and tomorrow, so that a commitment stands the day before also if nobody has asked.

        Raises StoreUnavailable.
        """
        today = day_of(self._store.clock.now())
        wanted = {(day, variant) for day in (today, today + AHEAD) for variant in MAIN_VARIANTS}
        for day, variant in sorted(wanted - self._prepared):
            await self._store.daily.secret(day, variant)
        self._prepared = wanted

    async def get(self, player: Player | None, request: DailyGet) -> Daily:
        """What a player may know of a day, or a stranger. Raises Refused, StoreUnavailable."""
        _check_game(request.variant)
        now = self._store.clock.now()
        today = day_of(now)
        day = today if request.date is None else parse_day(request.date)
        if day > today + AHEAD or (day < today and not await self._store.daily.exists(day, request.variant)):
            raise Refused(ErrorCode.NOT_FOUND, f"There is no daily challenge of {day}.", field="date")
        secret = await self._store.daily.secret(day, request.variant)
        published = now >= published_at(day)
        return Daily(
            re=request.id,
            date=day.isoformat(),
            variant=request.variant,
            commitment=secret.commitment(request.variant),
            opens_at=opens_at(day),
            closes_at=closes_at(day),
            published_at=published_at(day),
            now=now,
            entries=await self._store.daily.entries(day, request.variant),
            deal=secret.deal if published else None,
            salt=secret.salt if published else None,
            you=None if player is None else await self._own_attempt(day, request.variant, player),
        )

    async def _own_attempt(self, day: date, variant: str, player: Player) -> DailyAttempt | None:
        attempt = await self._store.daily.attempt(day, variant, player.id)
        if attempt is None:
            return None
        await self._open_attempt(player, day, variant, attempt)
        head = await self._store.races.head(attempt.race)
        entrant = None if head is None else head.race.entrant(player.id)
        if head is None or entrant is None or entrant.finish is None:
            playing = None if head is None else head.tallies.get(player.id)
            home = playing.home if playing else 0
            return DailyAttempt(race=attempt.race, status=EntrantStatus.PLAYING, home=home)
        board = await self._store.boards.rows(daily_board(day, variant), 0, 0, player.id, around=False, bots=True)
        return DailyAttempt(
            race=attempt.race,
            status=entrant.finish.status,
            home=entrant.finish.home,
            time=entrant.finish.time,
            place=board.own.place if board.own else None,
        )

    async def start(self, member: Member, request: DailyStart, answer: Answer) -> Referee:
        """A player's one attempt at today, on record before the layout is told (NODES, 21).

        Raises Refused with `already_attempted`, StoreUnavailable.
        """
        _check_game(request.variant)
        player, now = member.player, self._store.clock.now()
        day = day_of(now)
        new, attempt = await self._store.daily.claim(day, request.variant, player.id, new_id(), now)
        made = await self._open_attempt(player, day, request.variant, attempt)
        # Claimed and not made, by a node that died: nobody has seen the layout, and this is that attempt's start.
        if not new and not made:
            raise Refused(ErrorCode.ALREADY_ATTEMPTED, race=attempt.race)
        return await self._enter(member, attempt.race, answer)

    async def _open_attempt(self, player: Player, day: date, variant: str, attempt: Attempt) -> bool:
        """The race of an attempt, if whoever claimed it did not come to make it; whether it was missing."""
        if attempt.made:
            return False
        head = await self._store.races.head(attempt.race)
        missing = head is None or not head.race.version
        if missing:
            await self._open_missing(player, day, variant, attempt)
        await self._store.daily.made(day, variant, player.id, attempt)
        return missing

    async def _open_missing(self, player: Player, day: date, variant: str, attempt: Attempt) -> None:
        settings = Settings(
            variant=variant,
            seats=1,
            private=True,
            time_limit=TIME_LIMIT,
            countdown=0,
            grace=TIME_LIMIT,
            ranked=False,
            spectate=Spectate.AFTER,
        )
        secret = await self._store.daily.secret(day, variant)
        await self._open(player, attempt.race, RaceKind.DAILY, settings, secret, attempt.start_at)

    async def practise(self, member: Member, request: DailyPractice, answer: Answer) -> Referee:
        """A published day's deal once more; it never counts. Raises Refused with `too_early`, StoreUnavailable."""
        _check_game(request.variant)
        now, day = self._store.clock.now(), parse_day(request.date)
        if now < published_at(day):
            raise Refused(ErrorCode.TOO_EARLY)
        if not await self._store.daily.exists(day, request.variant):
            raise Refused(ErrorCode.NOT_FOUND, f"There was no daily challenge of {day}.", field="date")
        deal = (await self._store.daily.secret(day, request.variant)).deal
        settings = Settings(
            variant=request.variant, deal=deal, seats=1, private=True, time_limit=TIME_LIMIT, countdown=0, ranked=False
        )
        race_id = new_id()
        await self._open(member.player, race_id, RaceKind.RACE, settings, new_secret(deal), now)
        return await self._enter(member, race_id, answer)

    async def _open(
        self, player: Player, race_id: str, kind: RaceKind, settings: Settings, secret: Secret, start_at: int
    ) -> None:
        """A race of one that runs at once; doing it twice makes one race."""
        race = Race(
            id=race_id,
            kind=kind,
            settings=settings,
            created_at=start_at,
            created_by=player.id,
            changed_at=start_at,
        )
        await self._store.players.enter(player.id, race_id, start_at)
        await self._rooms.create(race)
        facts: Sequence[Fact] = (
            Joined(player),
            CountdownBegan(start_at, secret.commitment(settings.variant)),
        )
        await self._store.due.expect(race_id, start_at + settings.time_limit * 1000)
        try:
            await self._store.races.append(race, f"open-{race_id}", facts, start_at, (), secret)
        except Behind:
            return  # Another node has opened it.

    async def _enter(self, member: Member, race_id: str, answer: Answer) -> Referee:
        async with self._rooms.hold(race_id) as referee:
            await self._admission.is_entrant(referee, member.player.id)
            await self._admission.open(referee, member)
            # Nobody else waits for this start: there is nothing to be told too early.
            referee.room.release()
            referee.room.attach(member)
            answer(referee.room)
            return referee


def _check_game(variant: str) -> None:
    if variant not in MAIN_VARIANTS:
        raise Refused(
            ErrorCode.NOT_FOUND, f"There is a daily challenge of {', '.join(MAIN_VARIANTS)}.", field="variant"
        )
