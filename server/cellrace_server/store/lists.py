"""Which races there are: public ones by creation, and private ones by their code."""

from __future__ import annotations

from cellrace_server.core.race import NEVER_ENTERED, Race
from cellrace_server.store import keys
from cellrace_server.store.library import Answer, Link
from cellrace_server.store.races import KEPT

ENDED_LISTED = 1_000
"""How many ended public races stay listed."""


class RaceLists:
    """The lists that `race.list` and codes are answered from."""

    def __init__(self, link: Link, kept: int = KEPT) -> None:
        self._link = link
        self._kept = kept

    async def add(self, race: Race) -> None:
        """List a race, or make its code known if it is private."""
        if race.code:
            await self._link.command("SET", keys.code(race.code), race.id)
        if not race.settings.private:
            await self._link.command("ZADD", keys.LIVE, race.created_at, race.id)

    async def end(self, race: Race) -> None:
        """Move a race to those that have ended; its code is known for as long as the race."""
        if race.code:
            await self._link.command("PEXPIRE", keys.code(race.code), self._kept)
        if race.settings.private:
            return
        await self._link.command("ZREM", keys.LIVE, race.id)
        if race.cancelled is None:
            await self._link.command("ZADD", keys.ENDED, race.created_at, race.id)
            await self._link.command("ZREMRANGEBYRANK", keys.ENDED, 0, -ENDED_LISTED - 1)

    async def by_code(self, code: str) -> str | None:
        """The race of a code, read in any case."""
        found: bytes | None = await self._link.command("GET", keys.code(code.upper()))
        return None if found is None else found.decode()

    async def newest(self, ended: bool, offset: int, count: int) -> tuple[str, ...]:
        """Public races that have ended or not, newest first."""
        key = keys.ENDED if ended else keys.LIVE
        found: Answer = await self._link.command("ZREVRANGE", key, offset, offset + count - 1)
        return tuple(race.decode() for race in found)

    async def drop(self, race_id: str, now: int) -> None:
        """Forget a race that is on a list and not on record, unless it may just be about to be."""
        for key in (keys.LIVE, keys.ENDED):
            created_at: bytes | None = await self._link.command("ZSCORE", key, race_id)
            if created_at is not None and float(created_at) <= now - NEVER_ENTERED:
                await self._link.command("ZREM", key, race_id)
