"""Races on record: creation, facts, logs, presence, the secret; packed when they have ended (NODES, 1–6, 11, 26)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import chain

from msgspec import Struct

from cellrace.commitment import commitment
from cellrace_server.core.facts import Fact, Stamped, Tally
from cellrace_server.core.presence import Presence
from cellrace_server.core.race import Race, evolve
from cellrace_server.core.standins import StandIns
from cellrace_server.store import keys
from cellrace_server.store.erasing import erased
from cellrace_server.store.library import Answer, Link
from cellrace_server.store.packing import LogPacker, PackedRace, pack_race, rename_logs, unpack_race
from cellrace_server.store.records import (
    Entry,
    encoded_fact,
    encoded_race,
    pairs,
    parse_presence,
    phase_of,
    read_history,
    read_log,
    read_logs,
    stamped_records,
    status_changes,
)
from cellrace_server.store.refusals import Behind, LostTrack, Moved, Superseded

__all__ = [
    "KEPT",
    "Behind",
    "Entry",
    "Guard",
    "Head",
    "LostTrack",
    "Moved",
    "RaceStore",
    "Record",
    "Secret",
    "Superseded",
]

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
    packed: bool = False
    """Whether it has ended and all that follows from that is done."""


class Guard(Struct, frozen=True):
    """What must hold of an entrant at an append: the log's length, the connection; without `seq` that none is newer."""

    player: str
    seq: int | None
    sid: str = ""


class RaceStore:
    """Reads and writes races for one node."""

    def __init__(self, link: Link, node: str, kept: int = KEPT) -> None:
        self._link = link
        self._kept = kept
        self.node = node

    async def create(self, race: Race) -> None:
        """Put a race without facts on record, unless its id is there already."""
        await self._link.call("race_create", [keys.race(race.id)], encoded_race(race))

    async def load(self, race_id: str, *, host: bool = False) -> Record | None:
        """The whole record, or None; with `host` this node hears what other nodes write from this very moment on."""
        answer: Answer = await self._link.call("race_load", [keys.race(race_id)], self.node if host else "")
        if not answer:
            return None
        _, _, presence, logs, _ = answer
        race, facts = read_history(answer)
        return Record(
            race,
            facts,
            {player.decode(): parse_presence(value) for player, value in pairs(presence)},
            read_logs(logs, race.start_at or 0),
        )

    async def head(self, race_id: str) -> Head | None:
        """What lists show of a race, or None."""
        answer: Answer = await self._link.call("race_head", [keys.race(race_id)])
        if not answer:
            return None
        _, _, presence, tallies, packed = answer
        race, _ = read_history(answer)
        return Head(
            race,
            {player.decode(): parse_presence(value) for player, value in pairs(presence)},
            {player.decode(): Tally(*map(int, value.split(b":"))) for player, value in pairs(tallies)}
            | {entrant.player.id: entrant.done.tally for entrant in race.entrants if entrant.done is not None},
            bool(packed),
        )

    async def finished_log(self, race: Race, player: str) -> tuple[Entry, ...]:
        """The log of a game in a race that has ended."""
        for _ in range(2):  # Between the two looks it may be packed.
            packed: bytes | None = await self._link.command("GET", keys.logs(race.id))
            if packed is not None:
                return read_logs(packed, race.start_at or 0).get(player, ())
            entries: list[bytes] = await self._link.command("LRANGE", keys.log(race.id, player), 0, -1)
            if entries:
                return read_log(entries)
        return ()

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

        Raises Behind, Moved, LostTrack, Superseded, StoreUnavailable.
        """
        after = race
        for number, fact in enumerate(facts, race.version + 1):
            after = evolve(after, Stamped(number, command_id, now, fact))
        statuses = [text for fact in facts for text in status_changes(after, fact)]
        answer: Answer = await self._link.call(
            "race_append",
            [keys.race(race.id)],
            command_id,
            race.version,
            race.last_id,
            now,
            self.node,
            phase_of(after),
            after.start_at or 0,
            after.limit_at or 0,
            secret.deal if secret else "",
            secret.salt if secret else "",
            len(facts),
            *map(encoded_fact, facts),
            len(statuses) // 2,
            *statuses,
            len(guards),
            *(part for guard in guards for part in (guard.player, "" if guard.seq is None else guard.seq, guard.sid)),
        )
        match answer[0]:
            case b"ok":
                return stamped_records(race.version, answer[1:])
            case b"behind":
                raise Behind(stamped_records(race.version, answer[1:]))
            case b"moved":
                raise Moved(race.id)
            case b"superseded":
                raise Superseded
            case b"packed":
                return await self._packed_since(race, command_id)
            case _:
                raise LostTrack(race.id)

    async def _packed_since(self, race: Race, command_id: str) -> tuple[Stamped, ...]:
        """The facts after a race that has been packed meanwhile, if the command is among them. Raises as `append`."""
        record = await self.load(race.id)
        if record is None or (race.version and record.facts[race.version - 1].command_id != race.last_id):
            raise LostTrack(race.id)
        newer = record.facts[race.version :]
        if any(stamped.command_id == command_id for stamped in newer):
            return newer
        raise Behind(newer)

    async def open(self, race_id: str, player: str, sid: str) -> Presence | None:
        """Make a connection the one that plays; the presence before. Raises Superseded, StoreUnavailable."""
        answer: Answer = await self._link.call("race_open", [keys.race(race_id)], player, sid, self.node)
        if answer[0] == b"superseded":
            raise Superseded
        return parse_presence(answer[1]) if answer[1] else None

    async def gone(self, race_id: str, player: str, sid: str, at: int) -> None:
        """Note that a connection is lost, if it is still the one that plays."""
        await self._link.call("race_gone", [keys.race(race_id)], player, sid, at, self.node)

    async def secret(self, race_id: str) -> Secret | None:
        """The deal and salt of a race whose countdown has begun."""
        deal, salt = await self._link.command("HMGET", keys.secret(race_id), "deal", "salt")
        if deal is not None:
            return Secret(int(deal), salt.decode())
        blob: bytes | None = await self._link.command("GET", keys.packed(race_id))
        packed = unpack_race(blob) if blob else None
        if packed is None or packed.deal is None or packed.salt is None:
            return None
        return Secret(packed.deal, packed.salt)

    async def progress(self, race_id: str) -> tuple[int, Mapping[str, int]]:
        """The version of a race, and the entries of each log that has any."""
        version: bytes | None = await self._link.command("HGET", keys.race(race_id), "version")
        tallies: Answer = await self._link.command("HGETALL", keys.tallies(race_id))
        return int(version or 0), {player.decode(): int(tally.split(b":")[0]) for player, tally in tallies.items()}

    async def unhost(self, race_id: str, *nodes: str) -> None:
        """This node, or others that are dead, hear no more of a race."""
        await self._link.call("race_unhost", [keys.race(race_id)], *(nodes or (self.node,)))

    async def hosts(self, race_id: str) -> tuple[str, ...]:
        """The nodes that hear of a race."""
        found: Answer = await self._link.command("SMEMBERS", keys.race_hosts(race_id))
        return tuple(sorted(node.decode() for node in found))

    async def compact(self, race_id: str) -> None:
        """Pack an ended race, its logs as replays, and let all of it expire. Raises StoreUnavailable."""
        while True:
            answer: Answer = await self._link.call("race_load", [keys.race(race_id)], "")
            if not answer or answer[4]:
                return
            creation, records, _, logs, _ = answer
            race, _ = read_history(answer)
            # The deal of a race that was cancelled stays a secret for ever.
            secret = await self.secret(race_id) if race.standings is not None else None
            packed = pack_race(PackedRace(creation, tuple(records), *((secret.deal, secret.salt) if secret else ())))
            packer = LogPacker(race.start_at or 0)
            for player, entries in pairs(logs):
                if entries:
                    packer.add(player.decode(), ((entry.at, entry.move) for entry in read_log(entries)))
                    await asyncio.sleep(0)  # Logs may be long, and many.
            done: Answer = await self._link.call(
                "race_compact", [keys.race(race_id)], self._kept, race.version, race.last_id, packed, packer.blob()
            )
            if done or not race.ended:
                return

    async def stand_in(self, race_id: str, stand_ins: StandIns) -> bool:
        """Let others stand in for players of a packed race; False when there is none. Raises StoreUnavailable."""
        while True:  # Until nobody else has done the same for others between the look and the writing.
            known, logs = await self._link.commands((("GET", keys.packed(race_id)), ("GET", keys.logs(race_id))))
            if known is None or logs is None:
                return False
            packed = pack_race(erased(unpack_race(known), stand_ins))
            words = (known, packed, rename_logs(logs, stand_ins), *chain(*stand_ins.items()))
            if (done := await self._link.call("race_stand_in", [keys.race(race_id)], *words)) >= 0:
                return bool(done)
