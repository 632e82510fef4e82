"""What has become true in a race: one list of facts is the broadcast, the store, the recovery and the test oracle."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from cellrace.messages import CancelReason, EntrantStatus, LeftReason, Player, Standing


class Tally(Struct, frozen=True):
    """How far a game has come: entries of its log, cards home, moves and undos."""

    seq: int = 0
    home: int = 0
    moves: int = 0
    undos: int = 0


class Joined(Struct, frozen=True, tag="joined"):
    """A player became an entrant."""

    player: Player


class Left(Struct, frozen=True, tag="left"):
    """An entrant is none any more."""

    player: str
    reason: LeftReason


class ReadySet(Struct, frozen=True, tag="ready"):
    """An entrant became ready, or no longer is."""

    player: str
    ready: bool


class CountdownBegan(Struct, frozen=True, tag="countdown"):
    """Who races and on which deal is settled; the race runs from `start_at` on."""

    start_at: int
    commitment: str


class Done(Struct, frozen=True, tag="done"):
    """An entrant plays no more; `latency` is the winner's smallest round trip in ms.

    A winner's time is the stamp of this fact: the arrival of the winning move.
    """

    player: str
    status: EntrantStatus
    tally: Tally
    latency: int = 0


class Over(Struct, frozen=True, tag="over"):
    """Every entrant is done."""

    standings: tuple[Standing, ...]


class Cancelled(Struct, frozen=True, tag="cancelled"):
    """The race will not be run."""

    reason: CancelReason


class Rematched(Struct, frozen=True, tag="rematched"):
    """The race has its one successor."""

    successor: str


Fact: TypeAlias = Joined | Left | ReadySet | CountdownBegan | Done | Over | Cancelled | Rematched


class Stamped(Struct, frozen=True):
    """A fact on record: its version, one more than the fact's before it; its command's id; when (race clock, ms)."""

    version: int
    command_id: str
    at: int
    fact: Fact
