"""The values inside messages: players, entrants, standings, boards, summaries, replays."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, UnsetType

from cellrace.autoplay import Autoplay
from cellrace.messages.base import (
    LATENCY_CAP,
    Card,
    Cells,
    Columns,
    Count,
    Deal,
    EpochMs,
    MoveText,
    Ms,
    PlayerId,
    RaceId,
    Value,
    VariantId,
)
from cellrace.messages.settings import Placement


class RaceState(StrEnum):
    """Where a race stands."""

    OPEN = "open"
    COUNTDOWN = "countdown"
    RUNNING = "running"
    OVER = "over"
    CANCELLED = "cancelled"


class EntrantStatus(StrEnum):
    """Where an entrant stands."""

    JOINED = "joined"
    READY = "ready"
    PLAYING = "playing"
    WON = "won"
    CONCEDED = "conceded"
    TIMED_OUT = "timed_out"
    FORFEITED = "forfeited"
    ABANDONED = "abandoned"


class RaceKind(StrEnum):
    """What a race is run for."""

    RACE = "race"
    DAILY = "daily"


class LeftReason(StrEnum):
    """Why somebody is no entrant of a race any more."""

    LEFT = "left"
    KICKED = "kicked"
    OFFLINE = "offline"
    NOT_READY = "not_ready"


class CancelReason(StrEnum):
    """Why a race does not take place."""

    EMPTY = "empty"
    UNCHANGED = "unchanged"
    ALL_FORFEITED = "all_forfeited"
    VOID = "void"


class DelayReason(StrEnum):
    """Why a race is open again."""

    NO_DEAL = "no_deal"


class Player(Value, frozen=True, kw_only=True):
    """Somebody who races, person or bot."""

    id: PlayerId
    name: Annotated[str, Meta(description="The name that others see.")]
    bot: Annotated[bool, Meta(description="Whether a program plays.")]


class Limits(Value, frozen=True, kw_only=True):
    """What the server allows this connection."""

    frame_bytes: Annotated[Count, Meta(description="The largest frame of a client.")]
    depth: Annotated[Count, Meta(description="How deep a client's frame may be nested.")]
    moves: Annotated[Count, Meta(description="The most moves of one `move`.")]
    log_entries: Annotated[Count, Meta(description="The most log entries of one game.")]
    burst: Annotated[Count, Meta(description="The messages that the token bucket holds.")]
    per_second: Annotated[Count, Meta(description="The messages with which the bucket is refilled each second.")]
    bad_frame_cost: Annotated[Count, Meta(description="What a frame that is not accepted costs.")]
    rate_limited_per_minute: Annotated[
        Count, Meta(description="So many `rate_limited` within a minute close the connection with 4102.")
    ]
    hello_within: Annotated[Ms, Meta(description="How long `hello` is waited for, in milliseconds.")]


class RaceRef(Value, frozen=True, kw_only=True):
    """A race that the player is in."""

    race: RaceId
    state: Annotated[RaceState, Meta(description="Where the race stands.")]


class Entrant(Value, frozen=True, kw_only=True):
    """Somebody in a race, with what everybody may know of the game."""

    player: Player
    ghost: Annotated[bool, Meta(description="True for a finished game that runs again; absent for all others.")] = False
    status: Annotated[EntrantStatus, Meta(description="Where the entrant stands.")]
    online: Annotated[bool, Meta(description="Whether the entrant has a connection.")]
    seq: Annotated[Count, Meta(description="The log entries.")]
    home: Annotated[Count, Meta(description="The cards on the foundations.")]
    moves: Annotated[Count, Meta(description="The entries other than `u` and `r…`, those taken back included.")]
    undos: Annotated[Count, Meta(description="The entries `u`.")]
    time: Annotated[Ms | None, Meta(description="The winner's time in milliseconds.")] = None
    place: Annotated[Count | None, Meta(description="The place, provisional while the race runs.")] = None


class Summary(Value, frozen=True, kw_only=True):
    """A race in one line of a list."""

    race: RaceId
    state: Annotated[RaceState, Meta(description="Where the race stands.")]
    kind: Annotated[RaceKind, Meta(description="What the race is run for.")]
    variant: VariantId
    seats: Annotated[Count, Meta(description="How many may enter.")]
    entrants: Annotated[tuple[Entrant, ...], Meta(description="Who is in it, as in `race`.")]
    host: PlayerId
    created_at: EpochMs


class RatingChange(Value, frozen=True, kw_only=True):
    """What a ranked race did to a rating."""

    before: Annotated[Count, Meta(description="The rating before the race.")]
    after: Annotated[Count, Meta(description="The rating after the race.")]


class Standing(Value, frozen=True, kw_only=True):
    """One line of the standings."""

    player: Player
    place: Annotated[Count, Meta(description="1 + the number of those who are strictly better.")]
    status: Annotated[EntrantStatus, Meta(description="How the game ended.")]
    home: Annotated[Count, Meta(description="The cards on the foundations.")]
    moves: Annotated[Count, Meta(description="The entries other than `u` and `r…`, those taken back included.")]
    undos: Annotated[Count, Meta(description="The entries `u`.")]
    time: Annotated[Ms | None, Meta(description="max(0, `raw` − `latency`), for a win only.")] = None
    raw: Annotated[Ms | None, Meta(description="From the start to the winning move's arrival, for a win only.")] = None
    latency: Annotated[
        Ms | None,
        Meta(description=f"The smallest round trip measured in this race, at most {LATENCY_CAP}; for a win only."),
    ] = None
    rating: Annotated[RatingChange | None, Meta(description="For ranked races that were rated.")] = None


class Homes(Value, rename={"clubs": "C", "diamonds": "D", "hearts": "H", "spades": "S"}, frozen=True, kw_only=True):
    """The foundations: each suit of the pack with its top card, or null; other suits are absent."""

    clubs: Annotated[Card | UnsetType | None, Meta(description="The top card of ♣.")] = UNSET
    diamonds: Annotated[Card | UnsetType | None, Meta(description="The top card of ♦.")] = UNSET
    hearts: Annotated[Card | UnsetType | None, Meta(description="The top card of ♥.")] = UNSET
    spades: Annotated[Card | UnsetType | None, Meta(description="The top card of ♠.")] = UNSET


class BoardMap(Value, frozen=True, kw_only=True):
    """Where every card of a game lies."""

    columns: Annotated[Columns, Meta(description="Each column from its buried end to its exposed end.")]
    cells: Annotated[Cells, Meta(description="Each cell: its card, or null.")]
    homes: Annotated[Homes, Meta(description="The top card of each foundation.")]
    reserve: Annotated[tuple[Card, ...], Meta(description="The cards still to be laid out, the first first.")]


class OwnGame(Value, frozen=True, kw_only=True):
    """One's own game."""

    moves: Annotated[tuple[MoveText, ...], Meta(description="The log, each entry as it was sent.")]
    seq: Annotated[Count, Meta(description="The log entries.")]
    board: Annotated[BoardMap, Meta(description="The board after them.")]


class Log(Value, frozen=True, kw_only=True):
    """An entrant's log, as far as the receiver may see it."""

    player: PlayerId
    seq: Annotated[Count, Meta(description="The log entries up to here.")]
    moves: Annotated[tuple[MoveText, ...], Meta(description="The entries, each as it was sent.")]


class GameRecord(Value, frozen=True, kw_only=True):
    """What a player has done in one game."""

    played: Annotated[Count, Meta(description="Races finished.")]
    won: Annotated[Count, Meta(description="Games brought home.")]
    streak: Annotated[Count, Meta(description="Games won in a row, now.")]
    best_streak: Annotated[Count, Meta(description="The longest such streak.")]
    best_time: Annotated[Ms | None, Meta(description="The fastest win of a ranked race.")] = None
    rating: Annotated[Count | None, Meta(description="The rating, a whole number.")] = None


GameRecords = Mapping[str, GameRecord]


class BoardRow(Value, frozen=True, kw_only=True):
    """One row of a leaderboard; which value it is ranked by depends on the board."""

    place: Annotated[Count, Meta(description="The place; equal values share one.")]
    player: Player
    time: Annotated[Ms | None, Meta(description="The time of the win.")] = None
    home: Annotated[Count | None, Meta(description="The cards on the foundations.")] = None
    moves: Annotated[Count | None, Meta(description="The moves of the game.")] = None
    streak: Annotated[Count | None, Meta(description="Days or games won in a row.")] = None
    rating: Annotated[Count | None, Meta(description="The rating, a whole number.")] = None
    race: Annotated[RaceId | None, Meta(description="The race it was done in.")] = None


class DailyAttempt(Value, frozen=True, kw_only=True):
    """One's own attempt at a day's deal."""

    race: RaceId
    status: Annotated[EntrantStatus, Meta(description="Where the attempt stands.")]
    home: Annotated[Count, Meta(description="The cards on the foundations.")]
    time: Annotated[Ms | None, Meta(description="The winner's time in milliseconds.")] = None
    place: Annotated[Count | None, Meta(description="The place so far.")] = None


class ReplayResult(Value, frozen=True, kw_only=True):
    """How a replayed game ended."""

    status: Annotated[EntrantStatus, Meta(description="How the game ended.")]
    home: Annotated[Count, Meta(description="The cards on the foundations.")]
    time: Annotated[Ms | None, Meta(description="As in standings, for a win only.")] = None
    raw: Annotated[Ms | None, Meta(description="As in standings, for a win only.")] = None
    latency: Annotated[Ms | None, Meta(description="As in standings, for a win only.")] = None


REPLAY_FORMAT: Final = "cellrace-replay/1"


class Replay(Value, frozen=True, kw_only=True):
    """One finished game, complete in itself: anyone can play it again and verify it offline."""

    format: Annotated[Literal["cellrace-replay/1"], Meta(description="Names this form.")]
    race: RaceId
    kind: Annotated[RaceKind, Meta(description="What the race was run for.")]
    variant: VariantId
    deal: Deal
    salt: Annotated[str, Meta(description="The salt of the commitment.")]
    commitment: Annotated[str, Meta(description="The commitment to the deal.")]
    layout: Annotated[Columns, Meta(description="The columns as dealt.")]
    cells: Annotated[Cells | None, Meta(description="The cells as dealt, where some are.")] = None
    reserve: Annotated[tuple[Card, ...], Meta(description="The reserve as dealt.")]
    autoplay: Annotated[Autoplay, Meta(description="What went home by itself.")]
    placement: Annotated[Placement, Meta(description="Who laid the reserve out.")]
    undo: Annotated[bool, Meta(description="Whether moves could be taken back.")]
    start_at: EpochMs
    ended: Annotated[Ms, Meta(description="How long after the start the game ended, in milliseconds.")]
    player: PlayerId
    name: Annotated[str, Meta(description="The player's name at the time.")]
    bot: Annotated[bool, Meta(description="Whether a program played.")]
    moves: Annotated[
        tuple[tuple[Ms, MoveText], ...],
        Meta(description="The log: for each entry how long after the start it was, and the move as it was sent."),
    ]
    result: ReplayResult
    key: Annotated[str, Meta(description="The first 16 hex characters of the SHA-256 of the key's 32 raw bytes.")]
    signature: Annotated[
        str, Meta(description="Base64 Ed25519 signature over the canonical JSON (RFC 8785) without `signature`.")
    ]
