"""Races made for tests: players, settings, and a race brought into a state by facts."""

from __future__ import annotations

from msgspec.structs import replace

from cellrace.messages import EntrantStatus, Player, RaceKind, Settings
from cellrace_server.core.commands import Command, decide
from cellrace_server.core.facts import CountdownBegan, Done, Fact, Joined, ReadySet, Stamped, Tally
from cellrace_server.core.race import Race, evolve

BORN = 1_000_000
"""When the races of these tests are created, ms."""
START = BORN + 10_000
"""When those that start do so."""
COMMITMENT = "c0ffee"


def player(name: str, *, bot: bool = False) -> Player:
    """A player whose id is the name in lower case."""
    return Player(id=name.lower(), name=name, bot=bot)


ANN, BEN, CAT, DAN = (player(name) for name in ("Ann", "Ben", "Cat", "Dan"))


def new_race(settings: Settings | None = None, *, kind: RaceKind = RaceKind.RACE, race_id: str = "r") -> Race:
    """A race without facts, created by Ann."""
    return Race(
        id=race_id,
        kind=kind,
        settings=settings or Settings(seats=4),
        created_at=BORN,
        created_by=ANN.id,
        code="23456789",
        changed_at=BORN,
    )


def stamped(race: Race, facts: list[Fact], at: int, command_id: str = "") -> list[Stamped]:
    """Facts as they are on record after a race."""
    name = command_id or f"c{race.version + 1}"
    return [Stamped(version, name, at, fact) for version, fact in enumerate(facts, race.version + 1)]


def after(race: Race, *facts: Fact, at: int = BORN) -> Race:
    """The race after these facts."""
    for fact in stamped(race, list(facts), at):
        race = evolve(race, fact)
    return race


def carried_out(race: Race, command: Command, now: int) -> Race:
    """The race after what a command makes true."""
    return after(race, *decide(race, command, now), at=now)


def open_race(*players: Player, ready: bool = False, settings: Settings | None = None) -> Race:
    """A race that these players have joined, all of them ready or none."""
    race = after(new_race(settings), *(Joined(p) for p in players))
    return after(race, *(ReadySet(p.id, True) for p in players)) if ready else race


def begun(*players: Player, settings: Settings | None = None) -> Race:
    """A race whose countdown has begun; it runs from START on."""
    return after(open_race(*players, ready=True, settings=settings), CountdownBegan(START, COMMITMENT), at=BORN + 5_000)


def done(
    race: Race, name: str, status: EntrantStatus, *, at: int = START + 60_000, home: int = 52, latency: int = 0
) -> Race:
    """The race after an entrant's game has ended."""
    return after(race, Done(name, status, Tally(100, home, 90, 10), latency), at=at)


def with_settings(race: Race, **changes: object) -> Race:
    """The race under other settings."""
    return replace(race, settings=replace(race.settings, **changes))
