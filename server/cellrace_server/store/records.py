"""What is on record of a race, between its form in the store and the values of the core."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from cellrace.messages import EntrantStatus
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
from cellrace_server.core.presence import Presence
from cellrace_server.core.race import Race, evolve
from cellrace_server.store.library import Answer
from cellrace_server.store.packing import unpack_logs, unpack_race

_ENCODER = msgspec.msgpack.Encoder()
_FACTS: msgspec.msgpack.Decoder[Fact] = msgspec.msgpack.Decoder(Fact)
_RACES = msgspec.msgpack.Decoder(Race)


class Entry(Struct, frozen=True):
    """One entry of a log: the move as it was sent, and its stamp on the race clock, ms."""

    at: int
    move: str


def encoded_race(race: Race) -> bytes:
    """A race without facts, as its creation is put on record."""
    return _ENCODER.encode(race)


def encoded_fact(fact: Fact) -> bytes:
    """A fact as it stands in a record."""
    return _ENCODER.encode(fact)


def decoded_race(creation: bytes) -> Race:
    """The race without facts of what its creation put on record."""
    return _RACES.decode(creation)


def decoded_fact(fact: bytes) -> Fact:
    """The fact of its form in a record."""
    return _FACTS.decode(fact)


def stamped_records(version: int, records: Sequence[bytes]) -> tuple[Stamped, ...]:
    """The facts of the records that follow a version."""
    facts = []
    for number, record in enumerate(records, version + 1):
        command_id, at, fact = record.split(b":", 2)
        facts.append(Stamped(number, command_id.decode(), int(at), _FACTS.decode(fact)))
    return tuple(facts)


def read_records(answer: Answer) -> tuple[bytes, list[bytes]]:
    """The creation and all records in an answer of `race_load` or `race_head`, packed ones too."""
    creation, records, packed = answer[0], answer[1], answer[4]
    if not packed:
        return creation, records
    before = unpack_race(packed)
    return before.creation, [*before.records, *records]


def read_history(answer: Answer) -> tuple[Race, tuple[Stamped, ...]]:
    """The race and its facts in an answer of `race_load` or `race_head`."""
    creation, records = read_records(answer)
    facts = stamped_records(0, records)
    race = _RACES.decode(creation)
    for stamped in facts:
        race = evolve(race, stamped)
    return race, facts


def read_log(entries: Answer) -> tuple[Entry, ...]:
    """The entries of a log that is not packed."""
    return tuple(Entry(int(at), move.decode()) for at, _, move in (entry.partition(b":") for entry in entries))


def read_logs(found: bytes | Answer, start_at: int) -> dict[str, tuple[Entry, ...]]:
    """The logs in an answer of `race_load`, by player: packed ones, or a list of entries for each player."""
    if isinstance(found, bytes):
        logs = unpack_logs(start_at, found) if found else {}
        return {player: tuple(Entry(at, move) for at, move in log) for player, log in logs.items()}
    entries = zip(found[::2], found[1::2], strict=True)
    return {player.decode(): read_log(log) for player, log in entries}


def parse_presence(value: bytes) -> Presence:
    """The presence of its text in the store."""
    sid, node, gone_at = value.decode().split("|")
    return Presence(sid, node, int(gone_at) if gone_at else None)


def pairs(flat: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
    """What is in an answer that gives keys and values in turn."""
    return list(zip(flat[::2], flat[1::2], strict=True))


def phase_of(race: Race) -> str:
    """What a race's hash says of how far it is: of its beginning and end, but not whether a countdown is over."""
    if race.cancelled is not None:
        return "cancelled"
    if race.standings is not None:
        return "over"
    return "open" if race.start_at is None else "countdown"


def status_changes(after: Race, fact: Fact) -> list[str]:
    """What a fact changes in the hash of entrants, as player and status."""
    match fact:
        case Joined():
            return [fact.player.id, EntrantStatus.JOINED]
        case Left():
            return [fact.player, ""]
        case Done():
            # Not of ghosts, who are not there: nobody plays for them.
            return [fact.player, fact.status] if after.entrant(fact.player) is not None else []
        case CountdownBegan():
            return [text for entrant in after.entrants for text in (entrant.player.id, EntrantStatus.PLAYING)]
        case ReadySet() | Over() | Cancelled() | Rematched():
            return []
