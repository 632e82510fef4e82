"""The requests that wait to be sent or answered, in order, and what becomes of them when the connection drops."""

from __future__ import annotations

import asyncio
from bisect import insort
from dataclasses import dataclass, field

from msgspec import structs

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import (
    ClientMessage,
    DailyPractice,
    Error,
    Move,
    Ok,
    RaceConcede,
    RaceCreate,
    RaceForfeit,
    RaceKick,
    RaceStart,
    ServerAnswer,
)

LONGEST_PATIENCE = 10_000
"""Milliseconds for which a client that goes too fast waits unasked; where it is to wait longer, its user is told."""

_ALREADY_SO: dict[type[ClientMessage], tuple[ErrorCode, ...]] = {
    RaceStart: (ErrorCode.ALREADY_STARTED, ErrorCode.NOT_RUNNING),
    RaceKick: (ErrorCode.NOT_ENTRANT,),
    RaceConcede: (ErrorCode.ALREADY_DONE, ErrorCode.NOT_RUNNING),
    RaceForfeit: (ErrorCode.ALREADY_DONE, ErrorCode.NOT_RUNNING),
}
"""Refusals of a repeated request that say that it was carried out the first time: they are taken for `ok`."""


@dataclass(eq=False, slots=True)
class Ask:
    """One request on its way; `number` is its `id` on the wire.

    `refreshes` names the race that the connection asks for by itself; `known_races` are those known at the asking.
    `sent_at` is when it was sent last, `asked_at` when it was sent first on this connection.
    """

    number: int
    request: ClientMessage
    answer: asyncio.Future[ServerAnswer]
    known_races: frozenset[str] = frozenset()
    refreshes: str | None = None
    sent_at: float = 0.0
    asked_at: float | None = None
    times_sent: int = 0

    @property
    def given_up(self) -> bool:
        """Whether nobody waits for the answer any more."""
        return self.answer.cancelled()

    def fail(self, why: Exception) -> None:
        """Tells whoever still waits that there is no answer."""
        if not self.answer.done():
            self.answer.set_exception(why)
            self.answer.exception()  # Looked at here: one that nobody reads is no error of its own.


@dataclass(slots=True)
class Flight:
    """Requests in the order in which they were asked: first those that wait, then those that were sent."""

    waiting: list[Ask] = field(default_factory=list)
    sent: dict[int, Ask] = field(default_factory=dict)

    def add(self, ask: Ask) -> None:
        """Puts a request where its number says: a repeated one goes before all that were asked later."""
        insort(self.waiting, ask, key=_number)

    def take(self) -> Ask | None:
        """The next request to be sent, which then waits for its answer; None when there is none."""
        while self.waiting:
            ask = self.waiting.pop(0)
            if not ask.given_up:
                ask.times_sent += 1
                self.sent[ask.number] = ask
                return ask
        return None

    def answered(self, number: int, answer: ServerAnswer) -> Ask | None:
        """The request that an answer is for, None where nobody asked or where it is to be sent again."""
        ask = self.sent.pop(number, None)
        if ask is None:
            return None
        if isinstance(answer, Error) and (holds_back(answer) or self._overtook(ask, answer)):
            self.add(ask)
            return None
        return ask

    def _overtook(self, ask: Ask, error: Error) -> bool:
        """Whether a move is refused only because an earlier one is to be sent again."""
        move = ask.request
        return (
            isinstance(move, Move)
            and error.code is ErrorCode.STALE
            and any(
                isinstance(other.request, Move)
                and other.request.race == move.race
                and other.number < ask.number
                and not other.given_up
                for other in (*self.waiting, *self.sent.values())
            )
        )

    def drop(self) -> tuple[list[Ask], list[Ask]]:
        """After a drop what was sent waits again; given back are creations in doubt, and what is not repeated."""
        doubtful: list[Ask] = []
        lost: list[Ask] = []
        for ask in (*self.waiting, *self.sent.values()):
            ask.asked_at = None
        for ask in self.sent.values():
            if ask.given_up or ask.refreshes:
                # The next `welcome` says anew which races to ask for.
                continue
            match ask.request:
                case RaceCreate():
                    doubtful.append(ask)
                case DailyPractice():
                    lost.append(ask)
                case _:
                    self.add(ask)
        self.sent.clear()
        return doubtful, lost

    def clear(self) -> list[Ask]:
        """Everything that is not answered, which is then forgotten."""
        left = [*self.sent.values(), *self.waiting]
        self.sent.clear()
        self.waiting.clear()
        return left

    def unanswered_since(self) -> float | None:
        """When what waits longest for its answer was sent, refused for now or not; None where nothing was."""
        asks = (*self.sent.values(), *self.waiting)
        return min((ask.asked_at for ask in asks if ask.asked_at is not None and not ask.given_up), default=None)

    def moves_on_their_way(self, race: str) -> int:
        """How many log entries of a race wait for their answer."""
        requests = (ask.request for ask in (*self.sent.values(), *self.waiting) if not ask.given_up)
        return sum(len(request.moves) for request in requests if isinstance(request, Move) and request.race == race)


def numbered(request: ClientMessage, number: int) -> ClientMessage:
    """The request with the id by which its answer is known."""
    return structs.replace(request, id=number)


def holds_back(refused: Error) -> bool:
    """Whether a request is to be asked again by itself, after a while in which nothing is asked."""
    if refused.code == ErrorCode.RATE_LIMITED:
        return (refused.retry_after or 0) <= LONGEST_PATIENCE
    return refused.code == ErrorCode.RETRY_LATER


def outcome(ask: Ask, answer: ServerAnswer) -> ServerAnswer | Refused:
    """What the asker gets: the answer, or the refusal that it is."""
    if not isinstance(answer, Error):
        return answer
    if ask.times_sent > 1 and answer.code in _ALREADY_SO.get(type(ask.request), ()):
        return Ok(re=answer.re)
    return refusal(answer)


def refusal(answer: Error) -> Refused:
    """The refusal that the server tells."""
    return Refused(
        answer.code,
        answer.message,
        field=answer.field,
        retry_after=answer.retry_after,
        index=answer.index,
        move=answer.move,
        reason=answer.reason,
        seq=answer.seq,
        race=answer.race,
    )


def _number(ask: Ask) -> int:
    return ask.number
