"""Requests on their way: sent in order, repeated where they may be."""

from __future__ import annotations

import asyncio

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import (
    ClientMessage,
    DailyPractice,
    Error,
    Move,
    Moved,
    Ok,
    RaceConcede,
    RaceCreate,
    RaceJoin,
    RaceReady,
)
from cellrace_client.connection.flight import Ask, Flight, outcome


def ask(number: int, request: ClientMessage) -> Ask:
    """A request with its number."""
    return Ask(number, request, asyncio.get_running_loop().create_future())


def move(seq: int) -> Move:
    """One move."""
    return Move(race="r1", seq=seq, moves=("1a",))


def error(code: ErrorCode) -> Error:
    """A refusal."""
    return Error(code=code, message="No.")


async def test_requests_are_taken_in_their_order_also_after_a_drop() -> None:
    """What was sent before the drop goes again before what was only waiting; what is given up goes nowhere."""
    flight = Flight()
    asks = [ask(number, RaceReady(race=f"r{number}")) for number in range(1, 6)]
    for one in asks:
        flight.add(one)
    assert [flight.take(), flight.take(), flight.take()] == asks[:3]
    asks[1].answer.cancel()
    assert flight.drop() == ([], [])
    taken = [flight.take() for _ in range(5)]
    assert taken == [asks[0], asks[2], asks[3], asks[4], None]


async def test_what_is_put_off_grows_old_until_its_connection_drops() -> None:
    """What waits to be sent for the first time, or for nobody, is not unanswered."""
    flight = Flight()
    asks = [ask(number, RaceReady(race=f"r{number}")) for number in range(1, 4)]
    for one in asks:
        flight.add(one)
    for one, at in ((flight.take(), 5.0), (flight.take(), 4.0)):
        assert one is not None
        one.asked_at = at
    assert flight.unanswered_since() == 4.0
    asks[1].answer.cancel()
    assert flight.unanswered_since() == 5.0
    assert flight.answered(1, error(ErrorCode.RETRY_LATER)) is None
    assert flight.unanswered_since() == 5.0
    flight.drop()
    assert flight.unanswered_since() is None


async def test_a_drop_sorts_out_what_could_be_done_twice() -> None:
    """A creation is in doubt, a practice is lost, the rest is repeated."""
    flight = Flight()
    create, practice = ask(1, RaceCreate()), ask(2, DailyPractice(variant="freecell", date="2025-01-01"))
    join = ask(3, RaceJoin(race="r1"))
    for one in (create, practice, join):
        flight.add(one)
        flight.take()
    assert flight.drop() == ([create], [practice])
    assert flight.take() is join


async def test_what_is_to_be_repeated_is_not_answered_yet() -> None:
    """`retry_later` and `rate_limited` put a request back, in front of later ones."""
    for code in (ErrorCode.RETRY_LATER, ErrorCode.RATE_LIMITED):
        flight = Flight()
        first, second = ask(1, RaceReady(race="r1")), ask(2, RaceReady(race="r2"))
        flight.add(first)
        assert flight.take() is first
        flight.add(second)
        assert flight.answered(1, error(code)) is None
        assert flight.take() is first
        assert flight.answered(1, Ok()) is first
        assert flight.answered(1, Ok()) is None, "an answer is for one request"


async def test_a_move_is_stale_for_itself_only_when_none_goes_before_it() -> None:
    """Behind a move that is repeated, `stale` means "too early"; alone it is the answer."""
    flight = Flight()
    first, second = ask(1, move(0)), ask(2, move(1))
    for one in (first, second):
        flight.add(one)
        flight.take()
    assert flight.answered(1, error(ErrorCode.RETRY_LATER)) is None
    assert flight.answered(2, error(ErrorCode.STALE)) is None
    assert [flight.take(), flight.take()] == [first, second]
    moved = Moved(race="r1", seq=1, steps=(("1a",),), home=0, at=1, won=False)
    assert flight.answered(1, moved) is first
    assert flight.answered(2, error(ErrorCode.STALE)) is second


async def test_moves_on_their_way_are_counted() -> None:
    """Sent or waiting, of this race, and not given up."""
    flight = Flight()
    asks = [ask(1, move(0)), ask(2, move(1)), ask(3, Move(race="r2", seq=0, moves=("1a", "u"))), ask(4, move(2))]
    for one in asks:
        flight.add(one)
    flight.take()
    asks[3].answer.cancel()
    assert (flight.moves_on_their_way("r1"), flight.moves_on_their_way("r2")) == (2, 2)


async def test_already_so_is_ok_for_a_repeated_request_only() -> None:
    """`already_done` after a repeated concede says that the first one worked."""
    concede = ask(1, RaceConcede(race="r1"))
    concede.times_sent = 1
    refused = outcome(concede, error(ErrorCode.ALREADY_DONE))
    assert isinstance(refused, Refused)
    assert refused.code == ErrorCode.ALREADY_DONE
    concede.times_sent = 2
    assert outcome(concede, error(ErrorCode.ALREADY_DONE)) == Ok()
    assert isinstance(outcome(concede, error(ErrorCode.NOT_ENTRANT)), Refused)
