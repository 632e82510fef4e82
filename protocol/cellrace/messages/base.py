"""What all messages share: the shape of a message, and the types of fields that recur."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from cellrace.deals import LAST_DEAL

PROTOCOL_VERSION = 1
"""The version that a `welcome` tells, and the names of the subprotocols have."""
LAST_INTEGER = 2**53 - 1
"""The greatest integer on the wire: the last that every JSON reader keeps exactly."""
MAX_DEPTH = 8
"""How deep maps and lists of a request may be nested, the message itself counted."""
MAX_ID_LENGTH = 64
"""How many characters the id of a request may have."""
MAX_MOVES = 64
"""How many moves one `move` may carry."""
LATENCY_CAP = 250
"""How much of a winner's round trip is taken off the time at most, ms."""
MAX_LIMIT = 100
"""The most rows of one list."""

Count = Annotated[int, Meta(ge=0, le=LAST_INTEGER)]
EpochMs = Annotated[int, Meta(ge=0, le=LAST_INTEGER, description="Unix epoch milliseconds on the race clock.")]
Ms = Annotated[int, Meta(ge=0, le=LAST_INTEGER, description="A length in milliseconds.")]
Deal = Annotated[int, Meta(ge=1, le=LAST_DEAL, description="The number of the deal.")]
RaceId = Annotated[str, Meta(description="The id of the race.")]
PlayerId = Annotated[str, Meta(description="The id of the player.")]
VariantId = Annotated[str, Meta(description="The id of the game.")]
Date = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$", description="A UTC date, `YYYY-MM-DD`.")]
Card = Annotated[str, Meta(description="A card, rank then suit: `TD`.")]
MoveText = Annotated[str, Meta(description="A move in the field's notation.")]
Limit = Annotated[int, Meta(ge=0, le=MAX_LIMIT, description="The most rows wanted.")]

Columns = tuple[tuple[Card, ...], ...]
Cells = tuple[Card | None, ...]

RequestId = Annotated[str, Meta(max_length=MAX_ID_LENGTH)] | Annotated[int, Meta(ge=0, le=LAST_INTEGER)]


def wire_name(message: type[Struct]) -> str:
    """The `type` of a message."""
    return str(message.__struct_config__.tag)


class Value(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A map inside a message."""


class Request(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag_field="type"):
    """What a client sends; it gets exactly one answer."""

    id: Annotated[
        RequestId | None,
        Meta(description="Chosen by the client; the answer carries it as `re`."),
    ] = None


class Answer(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag_field="type"):
    """What the server sends back for one request."""

    re: Annotated[RequestId | None, Meta(description="The `id` of the request, where it had one.")] = None


class Push(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag_field="type"):
    """What the server sends by itself."""

    race: RaceId


class Fact(Push, frozen=True, kw_only=True):
    """A push about what has become true of a race, numbered without gaps."""

    version: Annotated[Count, Meta(description="Grows by exactly one from fact to fact of a race.")]
    now: EpochMs


class News(Push, frozen=True, kw_only=True):
    """A push without a version, which replaces what it says."""
