"""Requests to answers: what each message of a client asks of the lobby, of a race, of the board."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import (
    MAX_MOVES,
    PROTOCOL_VERSION,
    ClientMessage,
    DailyGet,
    DailyPractice,
    DailyStart,
    Hello,
    LeaderboardGet,
    Limits,
    Move,
    Ok,
    Ping,
    PlayerGet,
    Pong,
    QueueJoin,
    QueueLeave,
    RaceConcede,
    RaceCreate,
    RaceForfeit,
    RaceJoin,
    RaceKick,
    RaceLeave,
    RaceList,
    RaceMissed,
    RaceReady,
    RaceRef,
    RaceRematch,
    Races,
    RaceStart,
    RaceSync,
    RaceUnwatch,
    RaceWatch,
    ReplayAnswer,
    ReplayGet,
    Request,
    Welcome,
)
from cellrace_server.admission import Admitted
from cellrace_server.config import Bounds
from cellrace_server.moves import Arrival
from cellrace_server.net import views
from cellrace_server.net.queueing import find_match, join_queue, leave_queue, wait_on
from cellrace_server.net.session import Session
from cellrace_server.net.sessions import Sessions
from cellrace_server.referee import Referee
from cellrace_server.room import Room
from cellrace_server.store.errors import StoreError
from cellrace_server.store.races import LostTrack, Superseded


async def carry_out(sessions: Sessions, session: Session, request: ClientMessage, arrived: float) -> None:
    """Carry out one request that was read at a monotonic time, and answer it.

    Raises Refused and its kin, StoreError, LostTrack, Superseded.
    """
    if isinstance(request, Hello):
        await _hello(sessions, session, request)
        return
    if not session.known:
        raise Refused(ErrorCode.HELLO_FIRST)
    session.services.draining.check(request)
    try:
        await _carry_out(session, request, arrived)
    except Superseded:
        # Unless somebody else has connected, the store was set back, and this connection may open anew.
        if not await _renewed(session):
            raise
        await _carry_out(session, request, arrived)


async def _renewed(session: Session) -> bool:
    """Whether a fenced connection was its player's newest all the same; then it opens its races again (NODES, 12)."""
    sid = await session.services.admission.renew(session)
    if sid is None:
        return False
    session.become(session.player, sid)
    await session.services.admission.reopen(session)
    await wait_on(session)
    return True


async def _carry_out(session: Session, request: ClientMessage, arrived: float) -> None:
    assert not isinstance(request, Hello)
    services = session.services
    lobby = services.lobby
    ok = _ok(session, request)
    match request:
        case Move():
            await _move(session, request, arrived)
        case Ping():
            session.answer(Pong(re=request.id, now=services.store.clock.now()))
        case RaceCreate():
            session.track(await lobby.create(session, request, _whole(session, request)))
        case RaceJoin():
            session.track(await lobby.join(session, request, session.address, _whole(session, request)))
        case RaceLeave():
            await lobby.leave(session, request.race, ok)
            session.untrack(request.race)
        case RaceReady():
            await lobby.ready(session, request.race, request.ready, ok)
        case RaceStart():
            await lobby.start(session, request.race, ok)
        case RaceKick():
            await lobby.kick(session, request.race, request.player, ok)
        case RaceConcede():
            await lobby.concede(session, request.race, ok)
        case RaceForfeit():
            await lobby.forfeit(session, request.race, ok)
        case RaceSync():
            missed = await lobby.look(session, request.race, _synced(session, request))
            if missed is not None:
                session.track(missed)
        case RaceWatch():
            session.track(await lobby.watch(session, request, session.address, _whole(session, request)))
        case RaceUnwatch():
            referee = session.races.get(request.race)
            if referee is None:
                await services.listing.check(session.player.id, request.race)
            elif referee.room.entrant(session.player.id) is None:
                session.untrack(request.race)
            session.answer(Ok(re=request.id))
        case RaceRematch():
            session.track(await lobby.rematch(session, request.race, _whole(session, request)))
        case QueueJoin():
            await join_queue(session, request)
        case QueueLeave():
            await leave_queue(session)
            session.answer(Ok(re=request.id))
        case DailyGet():
            session.answer(await services.challenges.get(session.player, request))
        case DailyStart():
            session.track(await services.challenges.start(session, request, _whole(session, request)))
        case DailyPractice():
            session.track(await services.challenges.practise(session, request, _whole(session, request)))
        case LeaderboardGet():
            session.answer(await services.competition.leaderboard(session.player.id, request))
        case PlayerGet():
            profile = await services.competition.profile(session.player.id, request)
            session.answer(views.player_answer(profile, services.store.clock.now(), request.id))
        case RaceList():
            heads = await services.listing.races(session.player.id, request)
            now = services.store.clock.now()
            session.answer(Races(re=request.id, races=tuple(views.summary(head, now) for head in heads)))
        case ReplayGet():
            replay = await services.replays.get(session.player.id, request.race, request.player)
            session.answer(ReplayAnswer(re=request.id, replay=replay))
        case _:
            assert_never(request)


def limits(bounds: Bounds) -> Limits:
    """The bounds that a client should know."""
    return Limits(
        frame_bytes=bounds.frame_bytes,
        depth=bounds.depth,
        moves=MAX_MOVES,
        log_entries=bounds.log_entries,
        burst=bounds.burst,
        per_second=int(bounds.per_second),
        bad_frame_cost=bounds.bad_frame_cost,
        rate_limited_per_minute=bounds.rate_limited_per_minute,
        hello_within=int(bounds.hello_seconds * 1000),
    )


async def _hello(sessions: Sessions, session: Session, request: Hello) -> None:
    if session.known:
        raise Refused(ErrorCode.ALREADY_HELLO)
    async with session.services.admission.turn():
        # Whoever has gone meanwhile may be back already: this would take the player over from the newer connection.
        if session.closing is None:
            await _let_in(sessions, session, request)


async def _let_in(sessions: Sessions, session: Session, request: Hello) -> None:
    services = session.services
    with sessions.coming(session) as banned:
        admitted = await services.admission.admit(request, session.address, session.newcomer)
    if admitted.player.id in banned:
        raise Refused(ErrorCode.BANNED)
    session.become(admitted.player, admitted.sid)

    def welcome(referees: list[Referee]) -> None:
        if not sessions.is_newest(session):
            raise Superseded
        session.answer(_welcome(session, request, admitted, referees))
        sessions.take_over(session)
        for referee in referees:
            session.track(referee)
            session.resumed.add(referee.room.id)

    try:
        await sessions.halt_older(session)
        await services.admission.resume(session, welcome)
    except StoreError:
        session.forget()
        raise
    # A match that was made while this connection was on its way in could be told to nobody.
    await find_match(session)


def _welcome(session: Session, request: Hello, admitted: Admitted, referees: list[Referee]) -> Welcome:
    services = session.services
    now = services.store.clock.now()
    return Welcome(
        re=request.id,
        player=admitted.player,
        token=admitted.token,
        node=services.node,
        version=PROTOCOL_VERSION,
        server=services.version,
        now=now,
        limits=limits(services.bounds),
        races=tuple(
            RaceRef(race=r.room.id, state=views.shown_state(r.room.race, r.room.released, now)) for r in referees
        ),
    )


async def _move(session: Session, request: Move, arrived: float) -> None:
    arrival = Arrival(session.services.store.clock.at(arrived), arrived)
    referee = session.races.get(request.race)
    if referee is not None:
        await _play(session, referee, request, arrival)
    else:
        async with session.services.rooms.hold(request.race) as held:
            await _play(session, held, request, arrival)


async def _play(session: Session, referee: Referee, request: Move, arrival: Arrival) -> None:
    rooms = session.services.rooms
    version = referee.room.race.version
    try:
        await session.services.mover.play(session, referee, request, arrival, session.answer)
    except LostTrack:
        rooms.lose(referee)
        raise
    except StoreError:
        rooms.doubt(referee)
        raise
    if referee.room.race.version != version or referee.room.spectators:
        rooms.attend(referee)


def _ok(session: Session, request: Request) -> Callable[[Room], None]:
    return lambda _: session.answer(Ok(re=request.id))


def _whole(session: Session, request: Request) -> Callable[[Room], None]:
    """Answers with the race as it is in that very turn."""

    def answer(room: Room) -> None:
        now = session.services.store.clock.now()
        session.answer(views.race_answer(room, session.player.id, now, request.id))
        session.resumed.discard(room.id)

    return answer


def _synced(session: Session, request: RaceSync) -> Callable[[Room], None]:
    whole = _whole(session, request)

    def answer(room: Room) -> None:
        # Who comes back has missed more than facts: what was played meanwhile is none.
        if request.since is None or request.since > room.race.version or room.id in session.resumed:
            whole(room)
            return
        now = session.services.store.clock.now()
        session.answer(
            RaceMissed(
                re=request.id,
                race=room.id,
                version=room.race.version,
                events=tuple(views.fact_push(room.race, fact, now) for fact in room.facts[request.since :]),
            )
        )

    return answer
