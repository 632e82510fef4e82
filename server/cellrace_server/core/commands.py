"""What may be asked of a race and what comes of it: `decide` turns a command into facts, or refuses.

Time is an argument; nothing is changed. Which command is allowed in which state is the table ALLOWED.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, assert_never

from msgspec import Struct

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import CancelReason, Ends, EntrantStatus, LeftReason, Player, RaceKind, RaceState
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
    Tally,
)
from cellrace_server.core.race import (
    IDLE_CANCEL,
    LATE_COMMITS,
    OFFLINE_REMOVAL,
    Entrant,
    Race,
    all_ready,
    apply,
    ended_ghosts,
    final_standings,
    someone_won,
    starters,
    unentered_until,
)


class Join(Struct, frozen=True):
    """A player wants to race."""

    player: Player


class Leave(Struct, frozen=True):
    """An entrant goes; from the countdown on this is a forfeit."""

    player: str
    tally: Tally = Tally()


class SetReady(Struct, frozen=True):
    """An entrant is ready, or not any more."""

    player: str
    ready: bool


class Start(Struct, frozen=True):
    """The host starts with those who are ready; the commitment is of the deal drawn for them."""

    player: str
    commitment: str


class Kick(Struct, frozen=True):
    """The host removes an entrant."""

    player: str
    target: str


class Concede(Struct, frozen=True):
    """An entrant stops playing, to be ranked by cards home."""

    player: str
    tally: Tally


class Forfeit(Struct, frozen=True):
    """An entrant gives the race up."""

    player: str
    tally: Tally


class Begin(Struct, frozen=True):
    """All are ready and a deal has been drawn."""

    commitment: str


class Delay(Struct, frozen=True):
    """All are ready, but there is no deal for them."""


class Rematch(Struct, frozen=True):
    """An entrant wants to race the others again, in the successor of this race."""

    player: str
    successor: str


class Wake(Struct, frozen=True):
    """Time has passed: who has been without a connection since when, and how far each game has come."""

    absent: Mapping[str, int]
    tallies: Mapping[str, Tally]


Command: TypeAlias = Join | Leave | SetReady | Start | Kick | Concede | Forfeit | Begin | Delay | Rematch | Wake

FACTS_LIMIT = 10_000
"""With so many facts nobody enters an open race or is ready in it any more: each would make the record longer."""
_RESTLESS = "This race has been entered and left too often; open another one."

_NO_STARTED, _NO_EARLY = ErrorCode.ALREADY_STARTED, ErrorCode.NOT_STARTED
_NO_LATE, _NO_DONE = ErrorCode.NOT_RUNNING, ErrorCode.ALREADY_DONE
_NO_OVER = ErrorCode.NOT_OVER


def _row(*codes: ErrorCode | None) -> dict[RaceState, ErrorCode | None]:
    return dict(zip(RaceState, codes, strict=True))


# fmt: off
ALLOWED: dict[type[Command], dict[RaceState, ErrorCode | None]] = {
    #              open       countdown    running      over         cancelled
    Join:     _row(None,      _NO_STARTED, _NO_STARTED, _NO_STARTED, _NO_LATE),
    Leave:    _row(None,      None,        None,        None,        None),
    SetReady: _row(None,      _NO_STARTED, _NO_STARTED, _NO_STARTED, _NO_LATE),
    Start:    _row(None,      _NO_STARTED, _NO_STARTED, _NO_STARTED, _NO_LATE),
    Kick:     _row(None,      _NO_STARTED, _NO_STARTED, _NO_STARTED, _NO_LATE),
    Concede:  _row(_NO_EARLY, _NO_EARLY,   None,        _NO_DONE,    _NO_LATE),
    Forfeit:  _row(_NO_EARLY, _NO_EARLY,   None,        _NO_DONE,    _NO_LATE),
    Begin:    _row(None,      _NO_STARTED, _NO_STARTED, _NO_STARTED, _NO_LATE),
    Delay:    _row(None,      _NO_STARTED, _NO_STARTED, _NO_STARTED, _NO_LATE),
    Rematch:  _row(_NO_OVER,  _NO_OVER,    _NO_OVER,    None,        _NO_LATE),
    Wake:     _row(None,      None,        None,        None,        None),
}
# fmt: on
"""Which command is allowed in which state, or the code that refuses it."""


def decide(race: Race, command: Command, now: int) -> list[Fact]:
    """What a command makes true, possibly nothing; changes nothing itself.

    Raises Refused. Asking again for what already holds is no error.
    """
    match command:
        case Join() if race.entrant(command.player.id) is not None:
            return []
        case Leave() if command.player in race.leavers:
            return []
        case Leave() | SetReady() | Concede() | Forfeit() | Rematch() if race.entrant(command.player) is None:
            raise Refused(ErrorCode.NOT_ENTRANT)
        case Start() | Kick() if command.player != race.host or race.entrant(command.player) is None:
            raise Refused(ErrorCode.NOT_HOST)
    if code := ALLOWED[type(command)][race.state(now)]:
        raise Refused(code)
    if isinstance(command, Join | SetReady) and race.version >= FACTS_LIMIT:
        raise Refused(ErrorCode.NOT_ALLOWED, _RESTLESS)
    match command:
        case Join():
            return _join(race, command.player)
        case Leave():
            return _leave(race, command, now)
        case SetReady():
            entrant = race.entrant(command.player)
            assert entrant is not None
            return [] if entrant.ready == command.ready else [ReadySet(command.player, command.ready)]
        case Start():
            return _start(race, command.commitment, now)
        case Kick():
            if race.entrant(command.target) is None:
                raise Refused(ErrorCode.NOT_FOUND)
            return _settled(race, [Left(command.target, LeftReason.KICKED)], now)
        case Concede():
            return _stop(race, command.player, EntrantStatus.CONCEDED, command.tally, now)
        case Forfeit():
            return _stop(race, command.player, EntrantStatus.FORFEITED, command.tally, now)
        case Begin():
            return [_countdown(race, command.commitment, now)] if all_ready(race) else []
        case Delay():
            return [ReadySet(entrant.player.id, False) for entrant in race.entrants if entrant.ready]
        case Rematch():
            return [] if race.successor == command.successor else [Rematched(command.successor)]
        case Wake():
            return _wake(race, command, now)
        case _:
            assert_never(command)


def _join(race: Race, player: Player) -> list[Fact]:
    if player.bot and not race.settings.bots:
        raise Refused(ErrorCode.BOTS_NOT_ALLOWED)
    if len(race.entrants) >= race.settings.seats:
        raise Refused(ErrorCode.RACE_FULL)
    return [Joined(player)]


def _leave(race: Race, command: Leave, now: int) -> list[Fact]:
    match race.state(now):
        case RaceState.OPEN:
            return _settled(race, [Left(command.player, LeftReason.LEFT)], now)
        case RaceState.COUNTDOWN | RaceState.RUNNING:
            entrant = race.entrant(command.player)
            if entrant is None or entrant.done is not None:
                return []
            return _stop(race, command.player, EntrantStatus.FORFEITED, command.tally, now)
        case RaceState.OVER | RaceState.CANCELLED:
            return []


def _start(race: Race, commitment: str, now: int) -> list[Fact]:
    if len(starters(race)) < race.quorum:
        raise Refused(ErrorCode.TOO_FEW)
    removed: list[Fact] = [Left(e.player.id, LeftReason.NOT_READY) for e in race.entrants if not e.ready]
    return [*removed, _countdown(race, commitment, now)]


def _countdown(race: Race, commitment: str, now: int) -> CountdownBegan:
    return CountdownBegan(now + race.settings.countdown * 1000, commitment)


def _stop(race: Race, player: str, status: EntrantStatus, tally: Tally, now: int) -> list[Fact]:
    entrant = race.entrant(player)
    assert entrant is not None
    if entrant.done is not None:
        raise Refused(ErrorCode.ALREADY_DONE)
    return _settled(race, [Done(player, status, tally)], now)


def _wake(race: Race, command: Wake, now: int) -> list[Fact]:
    facts: list[Fact] = []
    match race.state(now):
        case RaceState.OPEN:
            if not race.entrants:
                # Whoever has created it is about to enter, or has died on the way.
                return [Cancelled(CancelReason.EMPTY)] if now >= unentered_until(race) else []
            for entrant in race.entrants:
                gone_at = command.absent.get(entrant.player.id)
                if gone_at is not None and now >= gone_at + OFFLINE_REMOVAL:
                    facts.append(Left(entrant.player.id, LeftReason.OFFLINE))
            if not facts and now >= race.changed_at + IDLE_CANCEL:
                return [Cancelled(CancelReason.UNCHANGED)]
        case RaceState.RUNNING:
            facts += ended_ghosts(race, now)
            for entrant in race.entrants:
                status = _fate(race, entrant, command.absent, now)
                if status is not None:
                    tally = command.tallies.get(entrant.player.id, Tally())
                    facts.append(Done(entrant.player.id, status, tally))
        case RaceState.COUNTDOWN | RaceState.OVER | RaceState.CANCELLED:
            pass
        case never:
            assert_never(never)
    return _settled(race, facts, now)


def _fate(race: Race, entrant: Entrant, absent: Mapping[str, int], now: int) -> EntrantStatus | None:
    """How the game of an entrant who still plays has ended by `now`, if it has."""
    assert race.start_at is not None
    assert race.limit_at is not None
    if entrant.done is not None:
        return None
    if race.settings.ends is Ends.FIRST_WIN and someone_won(race):
        return EntrantStatus.TIMED_OUT
    if now >= race.limit_at + LATE_COMMITS:
        return EntrantStatus.TIMED_OUT
    gone_at = absent.get(entrant.player.id)
    if gone_at is None or race.kind is RaceKind.DAILY:
        return None
    return EntrantStatus.ABANDONED if now >= max(gone_at, race.start_at) + race.settings.grace * 1000 else None


def _settled(race: Race, facts: list[Fact], now: int) -> list[Fact]:
    """The facts, and the end of the race where they leave nothing to wait for."""
    after = race
    for fact in facts:
        after = apply(after, fact, now)
    if after.ended:
        return facts
    # Not before what is on record: by a clock that is behind, a race might be over before it has begun.
    match after.state(max(now, after.changed_at)):
        case RaceState.OPEN:
            return facts if after.entrants else [*facts, Cancelled(CancelReason.EMPTY)]
        case RaceState.COUNTDOWN:
            return [*facts, Cancelled(CancelReason.ALL_FORFEITED)] if all(e.done for e in after.entrants) else facts
        case RaceState.RUNNING:
            # Not together with the last done fact: what rests on the standings, as ratings, needs it on record first.
            return [Over(final_standings(after))] if not facts and all(e.done for e in after.entrants) else facts
        case RaceState.OVER | RaceState.CANCELLED:
            return facts
