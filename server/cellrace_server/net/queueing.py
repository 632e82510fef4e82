"""Quick matches as a connection asks for them: into the queue and out again, and into the race that comes of it."""

from __future__ import annotations

import contextlib

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import CloseCode, MatchedPush, Queued, QueueJoin, check_variant
from cellrace_server.net.session import Session
from cellrace_server.store.errors import StoreError
from cellrace_server.store.races import LostTrack, Superseded


async def join_queue(session: Session, request: QueueJoin) -> None:
    """Wait for a rival. Raises Refused with `already_queued` or `not_found`, StoreUnavailable."""
    if session.queued is not None:
        raise Refused(ErrorCode.ALREADY_QUEUED)
    check_variant(request.variant)
    matching = session.services.matching
    async with session.queueing:
        # Repeated unchanged it is the same wish: whoever was matched by it meanwhile does not wait again.
        repeated = session.doubted is not None and session.doubted.request == request
        wish = session.doubted if session.doubted is not None and repeated else matching.wish(request)
        # Before it is on record: where the answer is lost, the player may wait all the same.
        session.queues.add(request.variant)
        session.doubted = wish
        waiting = await matching.join(session, wish)
        session.doubted, session.queued = None, wish
        session.answer(Queued(re=request.id, waiting=waiting))
    await matching.pair(request.variant)


async def wait_on(session: Session) -> None:
    """Go on waiting, under the sid that the connection has now: by another nobody is matched.

    Who has been matched meanwhile is told so, and does not wait again. Raises StoreUnavailable.
    """
    async with session.queueing:
        if session.queued is not None:
            await session.services.matching.join(session, session.queued)


async def wait_again(session: Session) -> None:
    """Wait on after this node could not be heard, for it may have been taken for dead and all who wait here with it."""
    await find_match(session)
    with contextlib.suppress(StoreError):  # Done again when there is a store to be heard.
        await wait_on(session)


async def leave_queue(session: Session) -> None:
    """Wait no more. Raises StoreUnavailable."""
    session.queued = session.doubted = None
    for variant in sorted(session.queues):
        await session.services.matching.leave(session, variant)
        session.queues.discard(variant)


async def enter_match(session: Session, race_id: str, *, told: bool = True) -> None:
    """Bring a player who has been matched into the race; whom that fails for comes back and finds it.

    Not `told` of it, a connection enters only what its player has been in on no connection yet.
    """
    if race_id in session.races:
        return
    async with session.queueing:
        pass  # What has been asked just now is answered before the match that comes of it is told.
    try:
        async with session.services.rooms.hold(race_id) as referee:
            room, player = referee.room, session.player.id
            if not await session.services.admission.is_entrant(referee, player):
                return
            if not told and player in room.presence:
                return
            session.queued = session.doubted = None
            await session.services.admission.open(referee, session)
            if race_id in session.races:
                return  # Told of and found at once.
            room.attach(session)
            session.push(MatchedPush(race=race_id))
            session.track(referee)
    except Superseded:
        session.close(CloseCode.TAKEN_OVER)
    except (StoreError, Refused, LostTrack):
        # What one was not told of may still be in the making: then it is told of in a moment.
        if told:
            session.close(CloseCode.LOST_TRACK)


async def find_match(session: Session) -> None:
    """Look whether a player has been matched while this node could not be told: it did not hear, or not know whom."""
    try:
        races = await session.services.store.players.races(session.player.id)
    except StoreError:
        return  # The subscription is then soon built anew, and this done again.
    for race_id in races:
        await enter_match(session, race_id, told=False)
