"""Who came where (protocol, section 4, Standings)."""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct

from cellrace.messages import EntrantStatus, Player, Standing


class Finish(Struct, frozen=True):
    """How one entrant's game ended; `raw` (ms from the start to the winning move's arrival) is for winners only.

    `latency` (ms) is what is taken off it.
    """

    player: Player
    status: EntrantStatus
    home: int
    moves: int
    undos: int
    raw: int | None = None
    latency: int = 0
    at: int = 0
    """When the game ended, on the race clock."""

    @property
    def time(self) -> int | None:
        """The winner's time, ms: `raw` less the latency, never below 0."""
        return None if self.raw is None else max(0, self.raw - self.latency)


def _order(finish: Finish) -> tuple[int, int]:
    match finish.status:
        case EntrantStatus.WON:
            return 0, finish.time or 0
        case EntrantStatus.CONCEDED | EntrantStatus.TIMED_OUT:
            return 1, -finish.home
        case EntrantStatus.FORFEITED | EntrantStatus.ABANDONED:
            return 2, -finish.home
        case EntrantStatus.JOINED | EntrantStatus.READY | EntrantStatus.PLAYING:
            raise AssertionError("only those who are done are ranked")
        case _:
            assert_never(finish.status)


def rank(finishes: tuple[Finish, ...]) -> tuple[Standing, ...]:
    """The standings: a place is 1 + the number of those who are strictly better; equals keep their order."""
    places: dict[tuple[int, int], int] = {}
    ranked = sorted(finishes, key=_order)
    for better, finish in enumerate(ranked):
        places.setdefault(_order(finish), better + 1)
    return tuple(_standing(finish, places[_order(finish)]) for finish in ranked)


def placed(finish: Finish, finishes: tuple[Finish, ...]) -> Standing:
    """The standing of one among these, without ranking all: it is told at each end of a game, to hundreds."""
    order = _order(finish)
    return _standing(finish, 1 + sum(_order(other) < order for other in finishes))


def _standing(finish: Finish, place: int) -> Standing:
    return Standing(
        player=finish.player,
        place=place,
        status=finish.status,
        home=finish.home,
        moves=finish.moves,
        undos=finish.undos,
        time=finish.time,
        raw=finish.raw,
        latency=None if finish.raw is None else finish.latency,
    )
