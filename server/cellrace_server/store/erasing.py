"""Takes players out of races that have ended: somebody without a name stands in for each of them.

What they played stays, for the others raced against it; whose it was is on record nowhere any more.
"""

from __future__ import annotations

from msgspec.structs import replace

from cellrace_server.core.facts import Cancelled, CountdownBegan, Done, Fact, Joined, Left, Over, ReadySet, Rematched
from cellrace_server.core.ghosts import GhostGame
from cellrace_server.core.standins import StandIns, id_for, stand_in_for
from cellrace_server.store.packing import PackedRace
from cellrace_server.store.records import decoded_fact, decoded_race, encoded_fact, encoded_race


def erased(packed: PackedRace, stand_ins: StandIns) -> PackedRace:
    """A packed race in which others stand in for some players, and for their ghosts."""
    race = decoded_race(packed.creation)
    created_by = stand_ins.get(race.created_by, race.created_by)
    ghosts = tuple(_ghost(ghost, stand_ins) for ghost in race.ghosts)
    asked = tuple(replace(g, player=stand_ins.get(g.player, g.player)) for g in race.settings.ghosts)
    settings = replace(race.settings, ghosts=asked)
    records = []
    for record in packed.records:
        command_id, at, fact = record.split(b":", 2)
        records.append(b":".join((command_id, at, encoded_fact(_fact(decoded_fact(fact), stand_ins)))))
    creation = encoded_race(replace(race, created_by=created_by, settings=settings, ghosts=ghosts))
    return PackedRace(creation, tuple(records), packed.deal, packed.salt)


def _ghost(ghost: GhostGame, stand_ins: StandIns) -> GhostGame:
    player = stand_in_for(ghost.player, stand_ins)
    return replace(ghost, player=player, finish=replace(ghost.finish, player=player))


def _fact(fact: Fact, stand_ins: StandIns) -> Fact:
    match fact:
        case Joined():
            return Joined(stand_in_for(fact.player, stand_ins))
        case Left() | ReadySet() | Done():
            return replace(fact, player=id_for(fact.player, stand_ins))
        case Over():
            return Over(tuple(replace(s, player=stand_in_for(s.player, stand_ins)) for s in fact.standings))
        case CountdownBegan() | Cancelled() | Rematched():
            return fact
