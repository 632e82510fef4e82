"""What a client sends."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from cellrace.messages.base import (
    MAX_MOVES,
    Count,
    Date,
    Deal,
    Limit,
    MoveText,
    PlayerId,
    RaceId,
    Request,
    VariantId,
)
from cellrace.messages.settings import SettingsRequest
from cellrace.messages.values import RaceState

MAX_CLIENT_NAME = 200
"""How many characters the name of a program may have."""

Code = Annotated[str, Meta(description="The code of the race, in any case.")]
ClientName = Annotated[
    str, Meta(max_length=MAX_CLIENT_NAME, description="The name of the program, for the server's log.")
]
Moves = Annotated[
    tuple[MoveText, ...],
    Meta(min_length=1, max_length=MAX_MOVES, description="The moves, all of which are carried out, or none."),
]


class Hello(Request, tag="hello", frozen=True, kw_only=True):
    """The first message of each connection: who is there."""

    name: Annotated[str | None, Meta(description="The name wanted; absent for a new player: the server makes one.")] = (
        None
    )
    token: Annotated[str | None, Meta(description="The token of a player who comes back.")] = None
    bot: Annotated[bool, Meta(description="True marks the player as a bot for good.")] = False
    client: ClientName | None = None


class Ping(Request, tag="ping", frozen=True, kw_only=True):
    """Asks for the race clock."""


class RaceCreate(Request, tag="race.create", frozen=True, kw_only=True):
    """Opens a race, with the asking player as host and first entrant."""

    settings: Annotated[SettingsRequest | None, Meta(description="The settings; what is absent has its default.")] = (
        None
    )


class _ByRaceOrCode(Request, frozen=True, kw_only=True):
    """A request that names a race by its id or by its code, exactly one."""

    race: RaceId | None = None
    code: Code | None = None

    def __post_init__(self) -> None:
        if (self.race is None) == (self.code is None):
            raise ValueError(
                "Missing field `race` or `code`" if self.race is None else "One field `code` too many beside `race`"
            )


class RaceJoin(_ByRaceOrCode, tag="race.join", frozen=True, kw_only=True):
    """Enters a race; a private one only by its code."""


class RaceLeave(Request, tag="race.leave", frozen=True, kw_only=True):
    """Leaves a race for good; from the countdown on that is a forfeit."""

    race: RaceId


class RaceReady(Request, tag="race.ready", frozen=True, kw_only=True):
    """Says whether the entrant is ready to start."""

    race: RaceId
    ready: Annotated[bool, Meta(description="False takes it back.")] = True


class RaceStart(Request, tag="race.start", frozen=True, kw_only=True):
    """The host starts the countdown; entrants who are not ready are removed."""

    race: RaceId


class RaceKick(Request, tag="race.kick", frozen=True, kw_only=True):
    """The host removes an entrant from an open race."""

    race: RaceId
    player: PlayerId


class RaceConcede(Request, tag="race.concede", frozen=True, kw_only=True):
    """Stops playing, to be ranked by the cards home."""

    race: RaceId


class RaceForfeit(Request, tag="race.forfeit", frozen=True, kw_only=True):
    """Gives the race up."""

    race: RaceId


class RaceSync(Request, tag="race.sync", frozen=True, kw_only=True):
    """Asks how a race stands, or for the facts that were missed."""

    race: RaceId
    since: Annotated[Count | None, Meta(description="The last version known, on a connection that stayed open.")] = None


class RaceWatch(_ByRaceOrCode, tag="race.watch", frozen=True, kw_only=True):
    """Becomes a spectator of a race."""


class RaceUnwatch(Request, tag="race.unwatch", frozen=True, kw_only=True):
    """Stops being a spectator of a race."""

    race: RaceId


class RaceRematch(Request, tag="race.rematch", frozen=True, kw_only=True):
    """Joins the one successor of a race, which the first to ask opens."""

    race: RaceId


class RaceList(Request, tag="race.list", frozen=True, kw_only=True):
    """Asks for public races, or for one's own; newest first."""

    variant: VariantId | None = None
    state: Annotated[RaceState | None, Meta(description="Only races in this state.")] = None
    mine: Annotated[bool, Meta(description="Only one's own, private ones too.")] = False
    limit: Limit = 50


class QueueJoin(Request, tag="queue.join", frozen=True, kw_only=True):
    """Waits to be matched with another player."""

    variant: VariantId = "freecell"
    bots: Annotated[bool, Meta(description="Whether a bot will do as a rival.")] = False


class QueueLeave(Request, tag="queue.leave", frozen=True, kw_only=True):
    """Stops waiting to be matched."""


class PlayerGet(Request, tag="player.get", frozen=True, kw_only=True):
    """Asks for what a player has done."""

    player: Annotated[PlayerId | None, Meta(description="The id of the player; absent: oneself.")] = None


class Move(Request, tag="move", frozen=True, kw_only=True):
    """Plays moves: all of them are legal and all are carried out, or none is."""

    race: RaceId
    seq: Annotated[Count, Meta(description="How many log entries one's game had before this message, 0 at first.")]
    moves: Moves


class DailyGet(Request, tag="daily.get", frozen=True, kw_only=True):
    """Asks for a day's challenge."""

    variant: VariantId = "freecell"
    date: Annotated[Date | None, Meta(description="The UTC date; absent: today.")] = None


class DailyStart(Request, tag="daily.start", frozen=True, kw_only=True):
    """Begins one's only attempt at today's challenge."""

    variant: VariantId = "freecell"


class DailyPractice(Request, tag="daily.practice", frozen=True, kw_only=True):
    """Plays the deal of a day that is published; it never counts."""

    variant: VariantId
    date: Date


class LeaderboardGet(Request, tag="leaderboard", frozen=True, kw_only=True):
    """Asks for a leaderboard."""

    board: Annotated[str, Meta(description="`daily`, `streak`, `rating`, `best` or `deal`.")]
    variant: VariantId = "freecell"
    date: Annotated[Date | None, Meta(description="For `daily`: the UTC date; absent: today.")] = None
    deal: Annotated[Deal | None, Meta(description="For `deal`: the number of the deal.")] = None
    bots: Annotated[bool, Meta(description="Whether bots are listed.")] = True
    limit: Limit = 20
    offset: Annotated[Count, Meta(description="How many rows to leave out at the top.")] = 0
    around: Annotated[bool, Meta(description="Centres on the asking player, or starts at the top.")] = False


class ReplayGet(Request, tag="replay.get", frozen=True, kw_only=True):
    """Asks for the replay of a finished game."""

    race: RaceId
    player: PlayerId


ClientMessage = (
    Hello
    | Ping
    | RaceCreate
    | RaceJoin
    | RaceLeave
    | RaceReady
    | RaceStart
    | RaceKick
    | RaceConcede
    | RaceForfeit
    | RaceSync
    | RaceWatch
    | RaceUnwatch
    | RaceRematch
    | RaceList
    | QueueJoin
    | QueueLeave
    | PlayerGet
    | Move
    | DailyGet
    | DailyStart
    | DailyPractice
    | LeaderboardGet
    | ReplayGet
)
"""Every request."""
