"""Races on record: creation, facts, logs, presence, the secret of the deal (NODES, 1–6, 11, 26)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from cellrace.commitment import commitment
from cellrace.messages import EntrantStatus
from cellrace_server.core.facts import Cancelled, CountdownBegan, Done, Fact, Joined, Left, Over, Stamped, Tally
from cellrace_server.core.presence import Presence
from cellrace_server.core.race import Race, evolve
from cellrace_server.store import keys
from cellrace_server.store.library import Answer, Link

_ENCODER = msgspec.msgpack.Encoder()
_FACTS: msgspec.msgpack.Decoder[Fact] = msgspec.msgpack.Decoder(Fact)
_RACES = msgspec.msgpack.Decoder(Race)

KEPT = 30 * 24 * 3_600_000
"""How long an ended race is kept, ms."""


class Secret(Struct, frozen=True):
    """What a commitment commits to."""

    deal: int
    salt: str

    def commitment(self, variant: str) -> str:
        """What is published of it before the start."""
        return commitment(variant, self.deal, self.salt)

    def __repr__(self) -> str:
        return "Secret(…)"  # A deal in a log would be a deal before its start.


class Entry(Struct, frozen=True):
    """One entry of a log: the move as it was sent, and its stamp on the race clock, ms."""

    at: int
    move: str


class Record(Struct, frozen=True):
    """All that the store knows of a race but its secret."""

    race: Race
    facts: tuple[Stamped, ...]
    presence: Mapping[str, Presence]
    logs: Mapping[str, tuple[Entry, ...]]


class Head(Struct, frozen=True):
    """What lists show of a race: everything but the logs."""

    race: Race
    presence: Mapping[str, Presence]
    tallies: Mapping[str, Tally]


class Guard(Struct, frozen=True):
    """What must still hold of an entrant when a fact is appended: the length of the log, and who is connected."""

    player: str
    seq: int
    sid: str = ""


class Behind(Exception):
    """The race has more facts than were decided on: they are `newer`; decide again."""

    def __init__(self, newer: tuple[Stamped, ...]) -> None:
        super().__init__(f"{len(newer)} newer facts")
        self.newer = newer


class Moved(Exception):
    """A log or a connection that the decision rests on has moved on: read the race again."""


class LostTrack(Exception):
    """The store's history is another one than was known here (NODES, 2), or the race is gone: drop what is cached."""


class RaceStore:
    """Reads and writes races for one node."""

    def __init__(self, link: Link, node: str) -> None:
        self._link = link
        self.node = node

    async def create(self, race: Race) -> None:
        """Put a race without facts on record, unless its id is there already."""
        await self._link.call("race_create", [keys.race(race.id)], _ENCODER.encode(race))

    async def load(self, race_id: str, *, host: bool = False) -> Record | None:
        """The whole record, or None; with `host` this node hears what other nodes write from this very moment on."""
        answer: Answer = await self._link.call("race_load", [keys.race(race_id)], self.node if host else "")
        if not answer:
            return None
        creation, records, presence, logs = answer
        facts = stamped_records(0, records)
        return Record(
            _race(creation, facts),
            facts,
            {player.decode(): parse_presence(value) for player, value in _pairs(presence)},
            {player.decode(): _entries(value) for player, value in _pairs(logs)},
        )

    async def head(self, race_id: str) -> Head | None:
        """What lists show of a race, or None."""
        answer: Answer = await self._link.call("race_head", [keys.race(race_id)])
        if not answer:
            return None
        creation, records, presence, tallies = answer
        return Head(
            _race(creation, stamped_records(0, records)),
            {player.decode(): parse_presence(value) for player, value in _pairs(presence)},
            {player.decode(): Tally(*map(int, value.split(b":"))) for player, value in _pairs(tallies)},
        )

    async def append(
        self,
        race: Race,
        command_id: str,
        facts: Sequence[Fact],
        now: int,
        guards: Sequence[Guard] = (),
        secret: Secret | None = None,
    ) -> tuple[Stamped, ...]:
        """Append the facts decided on `race`, and return all after it: exactly once, however often this is asked.

        Raises Behind, Moved, LostTrack, StoreUnavailable.
        """
        after = race
        for number, fact in enumerate(facts, race.version + 1):
            after = evolve(after, Stamped(number, command_id, now, fact))
        statuses = [text for fact in facts for text in _status_changes(after, fact)]
        answer: Answer = await self._link.call(
            "race_append",
            [keys.race(race.id)],
            command_id,
            race.version,
            race.last_id,
            now,
            self.node,
            _phase(after),
            after.start_at or 0,
            after.limit_at or 0,
            secret.deal if secret else "",
            secret.salt if secret else "",
            len(facts),
            *map(_ENCODER.encode, facts),
            len(statuses) // 2,
            *statuses,
            len(guards),
            *(part for guard in guards for part in (guard.player, guard.seq, guard.sid)),
        )
        match answer[0]:
            case b"ok":
                return stamped_records(race.version, answer[1:])
            case b"behind":
                raise Behind(stamped_records(race.version, answer[1:]))
            case b"moved":
                raise Moved(race.id)
            case _:
                raise LostTrack(race.id)

    async def open(self, race_id: str, player: str, sid: str) -> bool | None:
        """Make a connection the one that plays: whether the player was connected already, or None if superseded."""
        answer: Answer = await self._link.call("race_open", [keys.race(race_id)], player, sid, self.node)
        return None if answer[0] == b"superseded" else bool(answer[1])

    async def gone(self, race_id: str, player: str, sid: str, at: int) -> None:
        """Note that a connection is lost, if it is still the one that plays."""
        await self._link.call("race_gone", [keys.race(race_id)], player, sid, at, self.node)

    async def secret(self, race_id: str) -> Secret | None:
        """The deal and salt of a race whose countdown has begun."""
        deal, salt = await self._link.command("HMGET", keys.secret(race_id), "deal", "salt")
        return None if deal is None else Secret(int(deal), salt.decode())

    async def facts_after(self, race_id: str, version: int) -> tuple[Stamped, ...]:
        """The facts that follow a version."""
        return stamped_records(version, await self._link.command("LRANGE", keys.race(race_id) + ":facts", version, -1))

    async def progress(self, race_id: str) -> tuple[int, Mapping[str, int]]:
        """The version of a race, and the entries of each log that has any."""
        version: bytes | None = await self._link.command("HGET", keys.race(race_id), "version")
        tallies: Answer = await self._link.command("HGETALL", keys.tallies(race_id))
        return int(version or 0), {player.decode(): int(tally.split(b":")[0]) for player, tally in tallies.items()}

    async def unhost(self, race_id: str, *nodes: str) -> None:
        """This node, or others that are dead, hear no more of a race."""
        await self._link.call("race_unhost", [keys.race(race_id)], *(nodes or (self.node,)))

    async def compact(self, race_id: str) -> None:
        """Turn the logs of an ended race into replays, and let all of it expire."""
        await self._link.call("race_compact", [keys.race(race_id)], KEPT)


def encoded_fact(fact: Fact) -> bytes:
    """A fact as it stands in a record."""
    return _ENCODER.encode(fact)


def stamped_records(version: int, records: Sequence[bytes]) -> tuple[Stamped, ...]:
    """The facts of the records that follow a version."""
    facts = []
    for number, record in enumerate(records, version + 1):
        command_id, at, fact = record.split(b":", 2)
        facts.append(Stamped(number, command_id.decode(), int(at), _FACTS.decode(fact)))
    return tuple(facts)


def _phase(race: Race) -> str:
    if race.cancelled is not None:
        return "cancelled"
    if race.standings is not None:
        return "over"
    return "open" if race.start_at is None else "countdown"


def _status_changes(after: Race, fact: Fact) -> list[str]:
    """What a fact changes in the hash of entrants, as player and status."""
    match fact:
        case Joined():
            return [fact.player.id, EntrantStatus.JOINED]
        case Left():
            return [fact.player, ""]
        case Done():
            return [fact.player, fact.status]
        case CountdownBegan():
            return [text for entrant in after.entrants for text in (entrant.player.id, EntrantStatus.PLAYING)]
        case Over() | Cancelled() | _:
            return []


def _pairs(flat: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
    return list(zip(flat[::2], flat[1::2], strict=True))


def _race(creation: bytes, facts: Sequence[Stamped]) -> Race:
    race = _RACES.decode(creation)
    for stamped in facts:
        race = evolve(race, stamped)
    return race


def parse_presence(value: bytes) -> Presence:
    """The presence of its text in the store."""
    sid, node, gone_at = value.decode().split("|")
    return Presence(sid, node, int(gone_at) if gone_at else None)


def _entries(value: bytes | list[bytes]) -> tuple[Entry, ...]:
    """The entries of a log, or of the replay that a finished game's log has become."""
    entries = value.split(b",") if isinstance(value, bytes) else value
    return tuple(Entry(int(at), move.decode()) for at, _, move in (entry.partition(b":") for entry in entries))
