"""What is told of a race outside it: counts, and one line in the log when it begins and one when it ends.

The node tells that wrote it, so that there is one line however many hold the race. Neither line names the deal or
what hides it: a log is read by others than the players, and before the start.
"""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from cellrace.messages import EntrantStatus
from cellrace_server.core.facts import Cancelled, CountdownBegan, Over, Stamped
from cellrace_server.core.race import Race, evolve
from cellrace_server.counts import Counts

log = structlog.get_logger()


def note(counts: Counts, race: Race, stamped: Sequence[Stamped]) -> None:
    """Count and log what this node has just put on record, the facts that follow `race`."""
    variant = race.settings.variant
    for fact in stamped:
        race = evolve(race, fact)
        match fact.fact:
            case CountdownBegan():
                counts.begun[variant] += 1
                log.info(
                    "race begun",
                    race=race.id,
                    variant=variant,
                    entrants=len(race.entrants),
                    start_at=fact.fact.start_at,
                )
            case Over():
                counts.over[variant] += 1
                log.info("race ended", **_outcome(race, fact.at))
            case Cancelled():
                counts.cancelled[variant] += 1
                # Open races come and go; only one that was announced as begun owes the log its end.
                tell = log.debug if race.start_at is None else log.info
                tell("race cancelled", reason=fact.fact.reason, **_outcome(race, fact.at))
            case _:
                pass


def _outcome(race: Race, at: int) -> dict[str, str | int | float]:
    first = race.standings[0] if race.standings else None
    outcome: dict[str, str | int | float] = {
        "race": race.id,
        "variant": race.settings.variant,
        "entrants": len(race.entrants),
    }
    if first is not None and first.status is EntrantStatus.WON and first.time is not None:
        outcome |= {"winner": first.player.id, "time": first.time / 1000}
    if race.start_at is not None:
        outcome["duration"] = max(0, at - race.start_at) / 1000
    return outcome
