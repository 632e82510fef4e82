"""Daily challenges on record: each day's deal, and who has attempted it (NODES, 21)."""

from __future__ import annotations

import secrets
from datetime import date

from msgspec import Struct

from cellrace_server.core.daily import is_reserved
from cellrace_server.stock import load_stock
from cellrace_server.store import keys
from cellrace_server.store.deals import MANY, new_secret
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.library import Answer, Link
from cellrace_server.store.pool import PoolStore
from cellrace_server.store.races import Secret

_RANDOM = secrets.SystemRandom()


class Attempt(Struct, frozen=True):
    """A player's one attempt at a day: its race, when it began, and whether the race is known to have been made."""

    race: str
    start_at: int
    made: bool = False


class DailyStore:
    """Reads and writes the days of all games."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._pool = PoolStore(link)

    async def secret(self, day: date, variant: str) -> Secret:
        """The day's deal and salt: drawn when they are first asked for, the same for everyone ever after."""
        key = keys.daily(day.isoformat(), variant)
        known: bytes | None = await self._link.command("HGET", key, "secret")
        if known is None:
            drawn, kept = await self._draw(variant)
            mine = await self._link.command("HSETNX", key, "secret", f"{drawn.deal}:{drawn.salt}")
            known = await self._link.command("HGET", key, "secret")
            if known is None:
                raise StoreUnavailable("The store has lost the deal of a day.")
            if kept and not mine and not known.startswith(b"%d:" % drawn.deal):
                await self._link.command("SREM", keys.daily_deals(variant), drawn.deal)
        deal, salt = known.decode().split(":")
        return Secret(int(deal), salt)

    async def exists(self, day: date, variant: str) -> bool:
        """Whether a day's deal has been drawn."""
        return bool(await self._link.command("HEXISTS", keys.daily(day.isoformat(), variant), "secret"))

    async def _draw(self, variant: str) -> tuple[Secret, bool]:
        """A proved number kept for daily challenges that no day has had; when all are used, any of them again.

        And whether it is kept from other days by this: half way lost it is one number fewer, and no number twice.
        """
        while True:
            stocked = load_stock(variant).numbers
            if len(stocked) > MANY:
                stocked = _RANDOM.sample(stocked, MANY // 2)
            numbers = [n for n in (*stocked, *await self._pool.numbers(variant)) if is_reserved(variant, n)]
            _RANDOM.shuffle(numbers)
            used: Answer = await self._link.command("SMISMEMBER", keys.daily_deals(variant), *numbers)
            unused = next((number for number, was_used in zip(numbers, used, strict=True) if not was_used), None)
            if unused is None:
                return new_secret(numbers[0]), False
            # Else another day has been given it since the look, or a race.
            if await self._link.command("SADD", keys.daily_deals(variant), unused):
                return new_secret(unused), True

    async def claim(self, day: date, variant: str, player: str, race: str, start_at: int) -> tuple[bool, Attempt]:
        """Record an attempt, unless the player has one: whether it is new, and the one that counts."""
        answer: Answer = await self._link.call(
            "daily_claim", [keys.daily(day.isoformat(), variant)], player, race, start_at
        )
        return answer[0] == b"1", _attempt(answer[1])

    async def made(self, day: date, variant: str, player: str, attempt: Attempt) -> None:
        """The race of an attempt is on record: should it ever be missing, it has been played and has expired."""
        key = keys.daily(day.isoformat(), variant)
        await self._link.call("daily_made", [key], player, attempt.race, attempt.start_at)

    async def attempt(self, day: date, variant: str, player: str) -> Attempt | None:
        """A player's attempt, or None."""
        found: bytes | None = await self._link.command("HGET", keys.daily_attempts(day.isoformat(), variant), player)
        return None if found is None else _attempt(found)

    async def entries(self, day: date, variant: str) -> int:
        """How many players have begun an attempt."""
        count: int = await self._link.command("HLEN", keys.daily_attempts(day.isoformat(), variant))
        return count


def _attempt(text: bytes) -> Attempt:
    race, start_at, made = text.decode().split(":")
    return Attempt(race, int(start_at), made == "1")
