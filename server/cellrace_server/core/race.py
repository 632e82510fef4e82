"""A race as a value: `evolve` takes it from fact to fact, `deadline` says when to look at it again.

Nothing here knows a clock: `now` is an argument, in ms of the race clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from cellrace.messages import (
    LATENCY_CAP,
    CancelReason,
    Ends,
    EntrantStatus,
    LeftReason,
    Player,
    RaceKind,
    RaceState,
    Settings,
    Standing,
)
from cellrace_server.core.facts import (
    Cancelled,
    CountdownBegan,
    Done,
    Fact,
    Joined,
    Left,
    Over,
    ReadySet,
    Rematched,
    Stamped,
)
from cellrace_server.core.ghosts import GhostGame
from cellrace_server.core.standings import Finish, placed, rank

OFFLINE_REMOVAL = 30_000
"""How long an entrant of an open race may be offline, ms."""
NEVER_ENTERED = 60_000
"""How long whoever has created a race may take to enter it, ms; a daily attempt keeps its place for its time limit."""
IDLE_CANCEL = 30 * 60_000
"""How long an open race may stay unchanged, ms."""
LATE_COMMITS = 2_000
"""How long after the time limit a move that arrived in time may still be committed, ms (NODES, 4)."""


class Entrant(Struct, frozen=True):
    """One entrant: ready or not before the countdown, and how the game ended once it has."""

    player: Player
    ready: bool = False
    done: Done | None = None
    finish: Finish | None = None


class Race(Struct, frozen=True):
    """A race after `version` facts: entrants in the order of joining, the host first; `leavers` have left it open."""

    id: str
    kind: RaceKind
    settings: Settings
    created_at: int
    created_by: str
    code: str = ""
    version: int = 0
    last_id: str = ""
    changed_at: int = 0
    entrants: tuple[Entrant, ...] = ()
    leavers: tuple[str, ...] = ()
    start_at: int | None = None
    commitment: str | None = None
    standings: tuple[Standing, ...] | None = None
    cancelled: CancelReason | None = None
    successor: str | None = None
    parent: str | None = None
    ghosts: tuple[GhostGame, ...] = ()

    def state(self, now: int) -> RaceState:
        """The state at an instant: it follows from the facts and the clock alone."""
        if self.cancelled is not None:
            return RaceState.CANCELLED
        if self.standings is not None:
            return RaceState.OVER
        if self.start_at is None:
            return RaceState.OPEN
        return RaceState.COUNTDOWN if now < self.start_at else RaceState.RUNNING

    @property
    def ended(self) -> bool:
        """Whether nothing more can happen but a rematch."""
        return self.cancelled is not None or self.standings is not None

    @property
    def host(self) -> str:
        """The player who may start and kick: of those who are entrants, the first to join."""
        return self.entrants[0].player.id if self.entrants else self.created_by

    @property
    def limit_at(self) -> int | None:
        """When the time limit falls, once the countdown has begun."""
        return None if self.start_at is None else self.start_at + self.settings.time_limit * 1000

    @property
    def quorum(self) -> int:
        """How many ready entrants a countdown needs."""
        return 1 if self.settings.seats == 1 else 2

    def entrant(self, player: str) -> Entrant | None:
        """The entrant of a player's id."""
        return next((entrant for entrant in self.entrants if entrant.player.id == player), None)

    def status(self, entrant: Entrant) -> EntrantStatus:
        """What an entrant is doing."""
        if entrant.done is not None:
            return entrant.done.status
        if self.start_at is not None:
            return EntrantStatus.PLAYING
        return EntrantStatus.READY if entrant.ready else EntrantStatus.JOINED


def unentered_until(race: Race) -> int:
    """When a race that nobody has entered yet is given up."""
    patience = race.settings.time_limit * 1000 if race.kind is RaceKind.DAILY else NEVER_ENTERED
    return race.changed_at + patience


def all_ready(race: Race) -> bool:
    """Whether enough entrants are there and each is ready."""
    return len(race.entrants) >= race.quorum and all(entrant.ready for entrant in race.entrants)


def starters(race: Race) -> tuple[Player, ...]:
    """Those who would race if it started now."""
    return tuple(entrant.player for entrant in race.entrants if entrant.ready)


def someone_won(race: Race) -> bool:
    """Whether somebody has won already."""
    return any(e.done is not None and e.done.status is EntrantStatus.WON for e in race.entrants)


def standings(race: Race) -> tuple[Standing, ...]:
    """The standings of those who are done, ghosts among them."""
    return rank(_finishes(race))


def _finishes(race: Race) -> tuple[Finish, ...]:
    living = (entrant.finish for entrant in race.entrants if entrant.finish is not None)
    return (*living, *(ghost.finish for ghost in race.ghosts if ghost.done))


def standing_of(race: Race, player: str) -> Standing | None:
    """The standing of one of those who are done."""
    finishes = _finishes(race)
    return next((placed(finish, finishes) for finish in finishes if finish.player.id == player), None)


def ended_ghosts(race: Race, now: int) -> list[Fact]:
    """The ends of games that race again, as far as they are over by `now` and no facts yet; none once nobody plays."""
    if race.start_at is None or all(entrant.done is not None for entrant in race.entrants):
        return []
    ended = [ghost for ghost in race.ghosts if not ghost.done and ghost.has_ended(now - race.start_at)]
    return [Done(ghost.player.id, ghost.finish.status, ghost.tally) for ghost in ended]


def final_standings(race: Race) -> tuple[Standing, ...]:
    """The standings of a race in which nobody plays any more, ghosts among them."""
    finishes = [entrant.finish for entrant in race.entrants if entrant.finish is not None]
    return rank((*finishes, *(ghost.finish for ghost in race.ghosts)))


def evolve(race: Race, stamped: Stamped) -> Race:
    """The race after its next fact; never refuses."""
    race = apply(race, stamped.fact, stamped.at)
    return replace(race, version=stamped.version, last_id=stamped.command_id, changed_at=stamped.at)


def apply(race: Race, fact: Fact, at: int) -> Race:
    """The race with a fact that became true at an instant, before the fact has a version."""
    match fact:
        case Joined():
            leavers = tuple(player for player in race.leavers if player != fact.player.id)
            return replace(race, entrants=(*race.entrants, Entrant(fact.player)), leavers=leavers)
        case Left():
            leavers = (*race.leavers, fact.player) if fact.reason is LeftReason.LEFT else race.leavers
            entrants = tuple(e for e in race.entrants if e.player.id != fact.player)
            return replace(race, entrants=entrants, leavers=leavers)
        case ReadySet():
            return _with_entrant(race, fact.player, lambda e: replace(e, ready=fact.ready))
        case CountdownBegan():
            return replace(race, start_at=fact.start_at, commitment=fact.commitment)
        case Done():
            ghosts = tuple(replace(g, done=True) if g.player.id == fact.player else g for g in race.ghosts)
            race = replace(race, ghosts=ghosts) if ghosts else race
            return _with_entrant(race, fact.player, lambda e: replace(e, done=fact, finish=_finish(race, e, fact, at)))
        case Over():
            return replace(race, standings=fact.standings)
        case Cancelled():
            return replace(race, cancelled=fact.reason)
        case Rematched():
            return replace(race, successor=fact.successor)
        case _:
            assert_never(fact)


def _with_entrant(race: Race, player: str, change: Callable[[Entrant], Entrant]) -> Race:
    return replace(race, entrants=tuple(change(e) if e.player.id == player else e for e in race.entrants))


def _finish(race: Race, entrant: Entrant, done: Done, at: int) -> Finish:
    raw = at - race.start_at if done.status is EntrantStatus.WON and race.start_at is not None else None
    tally, latency = done.tally, min(done.latency, LATENCY_CAP)
    return Finish(entrant.player, done.status, tally.home, tally.moves, tally.undos, raw, latency, at)


def deadline(race: Race, absent: Mapping[str, int]) -> int | None:
    """When the race must be woken next, ms of the race clock; 0 is at once, None never."""
    if race.ended:
        return None
    if race.start_at is None:
        if all_ready(race) and not any(e.player.id in absent for e in race.entrants):
            return 0
        removals = [absent[e.player.id] + OFFLINE_REMOVAL for e in race.entrants if e.player.id in absent]
        return min([race.changed_at + IDLE_CANCEL if race.entrants else unentered_until(race), *removals])
    playing = [e for e in race.entrants if e.done is None]
    if not playing or (race.settings.ends is Ends.FIRST_WIN and someone_won(race)):
        return 0
    assert race.limit_at is not None
    ends = [race.limit_at + LATE_COMMITS]
    ends += [race.start_at + max(0, ghost.ended) for ghost in race.ghosts if not ghost.done]
    if race.kind is RaceKind.RACE:
        grace = race.settings.grace * 1000
        ends += [max(absent[e.player.id], race.start_at) + grace for e in playing if e.player.id in absent]
    return min(ends)
