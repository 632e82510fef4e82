"""What operators have done, and what follows from it for races that end later (`cellrace admin`)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from cellrace_server.store import keys
from cellrace_server.store.library import Answer, Link

KEPT_ACTS = 10_000
"""How many acts are remembered."""


class Act(Struct, frozen=True):
    """One act: when (race clock, ms), by whom, what it was, which race or player it was about."""

    at: int
    by: str
    act: str
    subject: str
    detail: str = ""


class Verdicts(Struct, frozen=True):
    """What operators have decided about a race: whether it is void, and who stands in for deleted players."""

    void: bool
    stand_ins: Mapping[str, str]


class ActStore:
    """Reads and writes the acts of operators."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def note(self, act: Act) -> None:
        """Remember an act; repeated after a lost reply it may stand there twice."""
        await self._link.command("LPUSH", keys.ACTS, msgspec.json.encode(act))
        await self._link.command("LTRIM", keys.ACTS, 0, KEPT_ACTS - 1)

    async def latest(self, count: int) -> tuple[Act, ...]:
        """The last acts, the newest first."""
        found: Answer = await self._link.command("LRANGE", keys.ACTS, 0, count - 1)
        return tuple(msgspec.json.decode(act, type=Act) for act in found)

    async def void(self, race_id: str) -> None:
        """A race counts for nothing, now or when its effects come later."""
        await self._link.command("SADD", keys.VOID, race_id)

    async def voided(self) -> frozenset[str]:
        """The races that count for nothing."""
        found: Answer = await self._link.command("SMEMBERS", keys.VOID)
        return frozenset(race.decode() for race in found)

    async def forget_later(self, race_id: str, player: str, stand_in: str) -> None:
        """A player is deleted who is in a race that has not ended: `RaceStore.stand_in` ends that, once it has."""
        await self._link.command("HSET", keys.race_deleted(race_id), player, stand_in)

    async def verdicts(self, race_id: str) -> Verdicts:
        """What was decided about a race and those in it."""
        void, stand_ins = await self._link.commands(
            (("SISMEMBER", keys.VOID, race_id), ("HGETALL", keys.race_deleted(race_id)))
        )
        return Verdicts(bool(void), {player.decode(): name.decode() for player, name in stand_ins.items()})
