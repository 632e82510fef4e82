"""What the server answers; each request gets exactly one."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from cellrace.errors import BadMessage, CellraceError, ErrorCode, IllegalMove, Reason, Refused
from cellrace.messages.base import (
    Answer,
    Card,
    Cells,
    Columns,
    Count,
    Date,
    Deal,
    EpochMs,
    MoveText,
    Ms,
    PlayerId,
    RaceId,
    RequestId,
    VariantId,
)
from cellrace.messages.pushes import FactPush, NewsPush
from cellrace.messages.settings import Settings
from cellrace.messages.values import (
    BoardRow,
    DailyAttempt,
    Entrant,
    GameRecords,
    Limits,
    Log,
    OwnGame,
    Player,
    RaceKind,
    RaceRef,
    RaceState,
    Replay,
    Standing,
    Summary,
)


class Error(Answer, tag="error", frozen=True, kw_only=True):
    """The request was refused; programs use `code` and the fields, `message` is for people."""

    code: Annotated[ErrorCode, Meta(description="What kind of no it is.")]
    message: Annotated[str, Meta(description="One short English sentence.")]
    field: Annotated[str | None, Meta(description="The field to blame; in `bad_settings` the setting.")] = None
    retry_after: Annotated[Ms | None, Meta(description="Milliseconds to wait before asking again.")] = None
    index: Annotated[Count | None, Meta(description="Which of the moves sent is illegal, from 0.")] = None
    move: Annotated[MoveText | None, Meta(description="The illegal move as it was sent.")] = None
    reason: Annotated[Reason | None, Meta(description="Why the move is illegal, the first reason that applies.")] = None
    seq: Annotated[Count | None, Meta(description="The log entries that the server counts.")] = None
    race: Annotated[RaceId | None, Meta(description="The race in question, for `already_attempted`.")] = None


class Welcome(Answer, tag="welcome", frozen=True, kw_only=True):
    """The connection has its player."""

    player: Player
    token: Annotated[str | None, Meta(description="Only for a new player, shown once: brings the player back.")] = None
    node: Annotated[str, Meta(description="The name of the server node, for display.")]
    version: Annotated[Count, Meta(description="The version of the protocol, 1.")]
    server: Annotated[str, Meta(description="The server's program and version.")]
    now: EpochMs
    limits: Limits
    races: Annotated[tuple[RaceRef, ...], Meta(description="The player's races that are not over.")]


class Pong(Answer, tag="pong", frozen=True, kw_only=True):
    """The race clock."""

    now: EpochMs


class Ok(Answer, tag="ok", frozen=True, kw_only=True):
    """It is done, or it already was."""


class RaceAnswer(Answer, tag="race", frozen=True, kw_only=True):
    """A race, whole, as the receiver may see it."""

    race: RaceId
    version: Annotated[Count, Meta(description="The version of the last fact in it.")]
    state: Annotated[RaceState, Meta(description="Where the race stands.")]
    kind: Annotated[RaceKind, Meta(description="What the race is run for.")]
    settings: Settings
    code: Annotated[str | None, Meta(description="The code by which others join; for entrants only.")] = None
    commitment: Annotated[str | None, Meta(description="The commitment to the deal, from the countdown on.")] = None
    host: PlayerId
    created_at: EpochMs
    start_at: EpochMs | None = None
    now: EpochMs
    entrants: Annotated[tuple[Entrant, ...], Meta(description="Who is in it, the first to join first.")]
    parent: Annotated[RaceId | None, Meta(description="The race that this one is the rematch of.")] = None
    successor: Annotated[RaceId | None, Meta(description="The rematch of this race.")] = None
    deal: Annotated[Deal | None, Meta(description="The number of the deal, from the start on.")] = None
    salt: Annotated[str | None, Meta(description="The salt of the commitment, from the start on.")] = None
    layout: Annotated[Columns | None, Meta(description="The columns as dealt, from the start on.")] = None
    cells: Annotated[Cells | None, Meta(description="The cells as dealt, where some are, from the start on.")] = None
    reserve: Annotated[
        tuple[Card, ...] | None, Meta(description="The reserve as dealt, where there is one, from the start on.")
    ] = None
    you: Annotated[OwnGame | None, Meta(description="One's own game, for every entrant from the start on.")] = None
    logs: Annotated[tuple[Log, ...] | None, Meta(description="The logs, for those who get `race.moved`.")] = None
    standings: Annotated[tuple[Standing, ...] | None, Meta(description="The standings, when the race is over.")] = None


class RaceMissed(Answer, tag="race.missed", frozen=True, kw_only=True):
    """The facts of a race after a version."""

    race: RaceId
    version: Annotated[Count, Meta(description="The version of the last fact.")]
    events: Annotated[tuple[FactPush, ...], Meta(description="The facts after `since`, without a gap.")]


class Races(Answer, tag="races", frozen=True, kw_only=True):
    """Races, newest first."""

    races: Annotated[tuple[Summary, ...], Meta(description="A line for each race.")]


class Queued(Answer, tag="queued", frozen=True, kw_only=True):
    """One waits to be matched."""

    waiting: Annotated[Count, Meta(description="How many wait for this game, oneself included.")]


class PlayerAnswer(Answer, tag="player", frozen=True, kw_only=True):
    """What a player has done."""

    player: PlayerId
    name: Annotated[str, Meta(description="The name that others see.")]
    bot: Annotated[bool, Meta(description="Whether a program plays.")]
    since: EpochMs
    games: Annotated[GameRecords, Meta(description="By the id of the game.")]
    recent: Annotated[tuple[Summary, ...], Meta(description="The last races, newest first.")]


class Moved(Answer, tag="moved", frozen=True, kw_only=True):
    """The moves are on record: no node or store that dies after this loses them."""

    race: RaceId
    seq: Annotated[Count, Meta(description="The log entries now.")]
    steps: Annotated[
        tuple[tuple[MoveText, ...], ...],
        Meta(description="For each move: that move, then what was played home automatically."),
    ]
    home: Annotated[Count, Meta(description="The cards on the foundations.")]
    at: Annotated[Ms, Meta(description="How long after the start, in milliseconds.")]
    won: Annotated[bool, Meta(description="Whether every card is home.")]


class Daily(Answer, tag="daily", frozen=True, kw_only=True):
    """A day's challenge."""

    date: Date
    variant: VariantId
    commitment: Annotated[str, Meta(description="The commitment to the deal, public the day before.")]
    opens_at: EpochMs
    closes_at: EpochMs
    published_at: EpochMs
    now: EpochMs
    entries: Annotated[Count, Meta(description="How many have begun an attempt.")]
    deal: Annotated[Deal | None, Meta(description="The number of the deal, from `published_at` on.")] = None
    salt: Annotated[str | None, Meta(description="The salt of the commitment, from `published_at` on.")] = None
    you: Annotated[DailyAttempt | None, Meta(description="One's own attempt, where there is one.")] = None


class Leaderboard(Answer, tag="leaderboard", frozen=True, kw_only=True):
    """Rows of a leaderboard."""

    board: Annotated[str, Meta(description="Which board it is.")]
    variant: VariantId
    rows: Annotated[tuple[BoardRow, ...], Meta(description="The rows asked for, the best first.")]
    you: Annotated[BoardRow | None, Meta(description="One's own row, where there is one.")] = None
    total: Annotated[Count, Meta(description="How many rows the board has.")]


class ReplayAnswer(Answer, tag="replay", frozen=True, kw_only=True):
    """A finished game."""

    replay: Replay


ServerAnswer = (
    Error
    | Welcome
    | Pong
    | Ok
    | RaceAnswer
    | RaceMissed
    | Races
    | Queued
    | PlayerAnswer
    | Moved
    | Daily
    | Leaderboard
    | ReplayAnswer
)
"""Every answer."""

ServerMessage = ServerAnswer | FactPush | NewsPush
"""Everything that a server sends."""


def error_answer(error: CellraceError, re: RequestId | None = None, seq: int | None = None) -> Error:
    """The wire's form of an error; `seq` is the server's count of log entries, for an illegal move."""
    match error:
        case Refused():
            return Error(
                re=re,
                code=ErrorCode(error.code),
                message=str(error),
                field=error.field,
                retry_after=error.retry_after,
                index=error.index,
                move=error.move,
                reason=error.reason,
                seq=error.seq,
                race=error.race,
            )
        case IllegalMove():
            return Error(
                re=re,
                code=ErrorCode.ILLEGAL_MOVE,
                message=str(error),
                index=error.index,
                move=error.move,
                reason=error.reason,
                seq=seq,
            )
        case BadMessage():
            return Error(
                re=error.re if re is None else re, code=ErrorCode.BAD_MESSAGE, message=str(error), field=error.field
            )
        case _:
            return Error(re=re, code=ErrorCode(error.code), message=str(error))
