"""What the server sends by itself: facts of a race, numbered, and news, which replace what they say."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from cellrace.messages.base import (
    Card,
    Cells,
    Columns,
    Count,
    Deal,
    EpochMs,
    Fact,
    MoveText,
    Ms,
    News,
    PlayerId,
    RaceId,
)
from cellrace.messages.values import CancelReason, DelayReason, EntrantStatus, LeftReason, Player, Standing

At = Annotated[Ms, Meta(description="How long after the start, in milliseconds.")]


class JoinedPush(Fact, tag="race.joined", frozen=True, kw_only=True):
    """Somebody has entered."""

    player: Player


class LeftPush(Fact, tag="race.left", frozen=True, kw_only=True):
    """Somebody is no entrant any more."""

    player: PlayerId
    reason: Annotated[LeftReason, Meta(description="Why.")]


class ReadyPush(Fact, tag="race.ready", frozen=True, kw_only=True):
    """An entrant is ready, or not any more."""

    player: PlayerId
    ready: Annotated[bool, Meta(description="Whether the entrant is ready.")]


class CountdownPush(Fact, tag="race.countdown", frozen=True, kw_only=True):
    """Who races is settled, the deal is drawn, and the race starts at `start_at`."""

    start_at: EpochMs
    commitment: Annotated[str, Meta(description="The commitment to the deal, lowercase hex SHA-256.")]


class DonePush(Fact, tag="race.done", frozen=True, kw_only=True):
    """An entrant's game has ended."""

    player: PlayerId
    status: Annotated[EntrantStatus, Meta(description="How it ended.")]
    home: Annotated[Count, Meta(description="The cards on the foundations.")]
    time: Annotated[Ms | None, Meta(description="The winner's time in milliseconds.")] = None
    place: Annotated[Count | None, Meta(description="The place so far, provisional.")] = None


class OverPush(Fact, tag="race.over", frozen=True, kw_only=True):
    """The race is over."""

    standings: Annotated[tuple[Standing, ...], Meta(description="The standings, the best first.")]


class CancelledPush(Fact, tag="race.cancelled", frozen=True, kw_only=True):
    """The race does not take place."""

    reason: Annotated[CancelReason, Meta(description="Why.")]


class RematchPush(Fact, tag="race.rematch", frozen=True, kw_only=True):
    """The race has a successor."""

    successor: Annotated[RaceId, Meta(description="The id of the race that follows.")]


class StartedPush(News, tag="race.started", frozen=True, kw_only=True):
    """The race has started: the deal, its salt and the layout. Never before `start_at`."""

    start_at: EpochMs
    deal: Annotated[Deal | None, Meta(description="The number of the deal; absent in a daily.")] = None
    salt: Annotated[str | None, Meta(description="The salt of the commitment; absent in a daily.")] = None
    layout: Annotated[Columns, Meta(description="The columns as dealt.")]
    cells: Annotated[Cells | None, Meta(description="The cells as dealt, where some are.")] = None
    reserve: Annotated[tuple[Card, ...] | None, Meta(description="The reserve as dealt, where there is one.")] = None


class ProgressPush(News, tag="race.progress", frozen=True, kw_only=True):
    """How far an entrant's game has come."""

    player: PlayerId
    seq: Annotated[Count, Meta(description="The log entries.")]
    home: Annotated[Count, Meta(description="The cards on the foundations.")]
    moves: Annotated[Count, Meta(description="The entries other than `u` and `r…`, those taken back included.")]
    undos: Annotated[Count, Meta(description="The entries `u`.")]
    at: At


class OnlinePush(News, tag="race.online", frozen=True, kw_only=True):
    """An entrant has a connection, or none."""

    player: PlayerId
    online: Annotated[bool, Meta(description="Whether the entrant has a connection.")]


class MovedPush(News, tag="race.moved", frozen=True, kw_only=True):
    """Entries of an entrant's log, for those who may see moves."""

    player: PlayerId
    seq: Annotated[Count, Meta(description="The log entries up to and with these; a gap: `race.sync`.")]
    moves: Annotated[tuple[MoveText, ...], Meta(description="The last entries up to `seq`, each as it was sent.")]
    at: At


class DelayedPush(News, tag="race.delayed", frozen=True, kw_only=True):
    """The race is open again and nobody is ready."""

    reason: Annotated[DelayReason, Meta(description="Why.")]


class MatchedPush(News, tag="queue.matched", frozen=True, kw_only=True):
    """The queue has found a rival: one is an entrant of this race, and ready."""


FactPush = JoinedPush | LeftPush | ReadyPush | CountdownPush | DonePush | OverPush | CancelledPush | RematchPush
"""Every fact of a race."""

NewsPush = StartedPush | ProgressPush | OnlinePush | MovedPush | DelayedPush | MatchedPush
"""Every push without a version."""
