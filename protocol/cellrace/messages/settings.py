"""The settings of a race: as a request asks for them, and settled, with nothing left open."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, TypeVar

from msgspec import Meta, field
from msgspec.structs import replace

from cellrace.autoplay import Autoplay
from cellrace.errors import ErrorCode, Refused, UnknownVariant
from cellrace.messages.base import Deal, PlayerId, RaceId, Value, VariantId
from cellrace.variants import find_variant

MAX_GHOSTS = 8
"""How many ghosts a race may have."""


class Placement(StrEnum):
    """Who lays a reserve out."""

    PLAYER = "player"
    FIXED = "fixed"


class Ends(StrEnum):
    """When a race is over, apart from its time limit."""

    ALL = "all"
    FIRST_WIN = "first_win"


class Spectate(StrEnum):
    """When the moves of a race may be seen by those who do not play."""

    LIVE = "live"
    DELAYED = "delayed"
    AFTER = "after"


class Ghost(Value, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A finished game that races again."""

    race: RaceId
    player: PlayerId


Seats = Annotated[int, Meta(ge=1, le=250, description="How many may enter.")]
TimeLimit = Annotated[int, Meta(ge=10, le=86400, description="The longest a game may take, in seconds.")]
Countdown = Annotated[int, Meta(ge=0, le=60, description="From the last one ready to the start, in seconds.")]
Grace = Annotated[
    int, Meta(ge=15, le=3600, description="How long a running entrant may be without a connection, in seconds.")
]
Ghosts = Annotated[tuple[Ghost, ...], Meta(max_length=MAX_GHOSTS, description="Finished games that race again.")]
KnownDeal = Annotated[Deal, Meta(description="A known deal to race on, never ranked; absent: the server draws one.")]
Private = Annotated[bool, Meta(description="Joined by its code only, and in no list.")]
Undo = Annotated[bool, Meta(description="Whether `u` is allowed.")]
AutoplayChoice = Annotated[Autoplay, Meta(description="What goes home by itself after a move.")]
PlacementChoice = Annotated[
    Placement, Meta(description="Who lays the reserve out: each player, or columns 1, 2, 3 get it.")
]
EndsChoice = Annotated[Ends, Meta(description="When the race is over: all are done, or one has won.")]
Ranked = Annotated[bool, Meta(description="Whether it counts for ratings and records.")]
SpectateChoice = Annotated[Spectate, Meta(description="When moves may be seen: at once, 60 s late, or afterwards.")]
Bots = Annotated[bool, Meta(description="Whether bots may enter.")]


class SettingsRequest(Value, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The settings that a request asks for; what is absent has its default."""

    variant: VariantId | None = None
    deal: KnownDeal | None = None
    seats: Seats | None = None
    private: Private | None = None
    time_limit: TimeLimit | None = None
    countdown: Countdown | None = None
    grace: Grace | None = None
    undo: Undo | None = None
    autoplay: AutoplayChoice | None = None
    placement: PlacementChoice | None = None
    ends: EndsChoice | None = None
    ranked: Ranked | None = None
    spectate: SpectateChoice | None = None
    bots: Bots | None = None
    ghosts: Ghosts | None = None


class UnreadableSettings(SettingsRequest, frozen=True, kw_only=True):
    """What stands in a request whose settings cannot be read: which one is to blame, and why. Never on the wire."""

    wrong: str
    sentence: str


T = TypeVar("T")


def _always(value: T) -> T:
    """A default that is written on the wire all the same: only plain defaults are left out."""
    default: T = field(default_factory=lambda: value)
    return default


class Settings(Value, frozen=True, kw_only=True):
    """The settings of a race, complete."""

    variant: VariantId = _always("freecell")
    deal: KnownDeal | None = None
    seats: Seats = _always(2)
    private: Private = _always(False)
    time_limit: TimeLimit = _always(1800)
    countdown: Countdown = _always(5)
    grace: Grace = _always(120)
    undo: Undo = _always(True)
    autoplay: AutoplayChoice = _always(Autoplay.SAFE)
    placement: PlacementChoice = _always(Placement.PLAYER)
    ends: EndsChoice = _always(Ends.ALL)
    ranked: Ranked = _always(True)
    spectate: SpectateChoice = _always(Spectate.DELAYED)
    bots: Bots = _always(True)
    ghosts: Ghosts = _always(())


def check_variant(variant: str) -> None:
    """See to it that a request names a game that there is. Raises Refused with `not_found`."""
    try:
        find_variant(variant)
    except UnknownVariant as unknown:
        raise Refused(ErrorCode.NOT_FOUND, str(unknown), field="variant") from None


def settle(asked: SettingsRequest | None, ghost_deal: int | None = None) -> Settings:
    """The complete settings that a request asks for; `ghost_deal` is the one deal of the ghosts that it names.

    Raises Refused: `bad_settings` with the field to blame, or `not_found` for an unknown game.
    """
    if asked is None:
        return Settings()
    if isinstance(asked, UnreadableSettings):
        raise Refused(ErrorCode.BAD_SETTINGS, asked.sentence, field=asked.wrong)
    given = {name: value for name in Settings.__struct_fields__ if (value := getattr(asked, name)) is not None}
    settings = Settings(**given)
    check_variant(settings.variant)
    return _fix_deal(settings, asked, ghost_deal)


def _fix_deal(settings: Settings, asked: SettingsRequest, ghost_deal: int | None) -> Settings:
    """A known deal, given or that of the ghosts, is never ranked."""
    deal = settings.deal
    if settings.ghosts:
        if deal is not None and ghost_deal is not None and deal != ghost_deal:
            raise Refused(ErrorCode.BAD_SETTINGS, "The ghosts raced on another deal.", field="deal")
        deal = ghost_deal if deal is None else deal
    elif deal is None:
        return settings
    if asked.ranked:
        raise Refused(ErrorCode.BAD_SETTINGS, "A race on a known deal is never ranked.", field="ranked")
    return replace(settings, deal=deal, ranked=False)
