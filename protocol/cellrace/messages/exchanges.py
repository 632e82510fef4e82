"""Which answers each request may get: the typed ones, and the refusals that are its own."""

from __future__ import annotations

from typing import NamedTuple

from cellrace.errors import ErrorCode as Code
from cellrace.messages import answers, requests
from cellrace.messages.answers import ServerAnswer
from cellrace.messages.requests import ClientMessage


class Exchange(NamedTuple):
    """The answers to a request, apart from the refusals in ANY_REQUEST."""

    answers: tuple[type[ServerAnswer], ...]
    refusals: tuple[Code, ...] = ()


ANY_REQUEST: tuple[Code, ...] = (
    Code.HELLO_FIRST,
    Code.BAD_MESSAGE,
    Code.RATE_LIMITED,
    Code.RETRY_LATER,
    Code.NO_SUCH_RACE,
    Code.NOT_FOUND,
    Code.INTERNAL,
)
"""Refusals that any request may get."""

_STOP = (Code.NOT_ENTRANT, Code.NOT_STARTED, Code.NOT_RUNNING, Code.ALREADY_DONE)
_HOST = (Code.NOT_HOST, Code.ALREADY_STARTED, Code.NOT_RUNNING)

EXCHANGES: dict[type[ClientMessage], Exchange] = {
    requests.Hello: Exchange(
        (answers.Welcome,), (Code.BAD_NAME, Code.NAME_TAKEN, Code.BAD_TOKEN, Code.BANNED, Code.ALREADY_HELLO)
    ),
    requests.Ping: Exchange((answers.Pong,)),
    requests.RaceCreate: Exchange((answers.RaceAnswer,), (Code.BAD_SETTINGS, Code.BOTS_NOT_ALLOWED, Code.NOT_ALLOWED)),
    requests.RaceJoin: Exchange(
        (answers.RaceAnswer,),
        (Code.RACE_FULL, Code.ALREADY_STARTED, Code.BOTS_NOT_ALLOWED, Code.NOT_RUNNING, Code.NOT_ALLOWED),
    ),
    requests.RaceLeave: Exchange((answers.Ok,), (Code.NOT_ENTRANT,)),
    requests.RaceReady: Exchange(
        (answers.Ok,), (Code.NOT_ENTRANT, Code.ALREADY_STARTED, Code.NOT_RUNNING, Code.NOT_ALLOWED)
    ),
    requests.RaceStart: Exchange((answers.Ok,), (*_HOST, Code.TOO_FEW)),
    requests.RaceKick: Exchange((answers.Ok,), _HOST),
    requests.RaceConcede: Exchange((answers.Ok,), _STOP),
    requests.RaceForfeit: Exchange((answers.Ok,), _STOP),
    requests.RaceSync: Exchange((answers.RaceAnswer, answers.RaceMissed), (Code.NOT_ALLOWED,)),
    requests.RaceWatch: Exchange((answers.RaceAnswer,), (Code.NOT_ALLOWED,)),
    requests.RaceUnwatch: Exchange((answers.Ok,)),
    requests.RaceRematch: Exchange(
        (answers.RaceAnswer,),
        (
            Code.NOT_ENTRANT,
            Code.NOT_OVER,
            Code.RACE_FULL,
            Code.ALREADY_STARTED,
            Code.BOTS_NOT_ALLOWED,
            Code.NOT_RUNNING,
            Code.NOT_ALLOWED,
        ),
    ),
    requests.RaceList: Exchange((answers.Races,)),
    requests.QueueJoin: Exchange((answers.Queued,), (Code.ALREADY_QUEUED,)),
    requests.QueueLeave: Exchange((answers.Ok,)),
    requests.PlayerGet: Exchange((answers.PlayerAnswer,)),
    requests.Move: Exchange(
        (answers.Moved,),
        (
            Code.NOT_ENTRANT,
            Code.NOT_STARTED,
            Code.NOT_RUNNING,
            Code.ALREADY_DONE,
            Code.STALE,
            Code.ILLEGAL_MOVE,
        ),
    ),
    requests.DailyGet: Exchange((answers.Daily,)),
    requests.DailyStart: Exchange((answers.RaceAnswer,), (Code.ALREADY_ATTEMPTED,)),
    requests.DailyPractice: Exchange((answers.RaceAnswer,), (Code.TOO_EARLY,)),
    requests.LeaderboardGet: Exchange((answers.Leaderboard,)),
    requests.ReplayGet: Exchange((answers.ReplayAnswer,), (Code.TOO_EARLY, Code.NOT_ENTRANT, Code.NOT_ALLOWED)),
}
"""Every request with its answers; a test holds it to the request union."""
