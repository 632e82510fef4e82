"""When each race must be looked at next, kept where no node's death can lose it (NODES, 7)."""

from __future__ import annotations

from cellrace_server.store import keys
from cellrace_server.store.library import Answer, Link

CLAIM = 5_000
"""For how long a claimed race is left to the node that claimed it, ms."""
CLAIMED_AT_ONCE = 200
"""How many races one sweep takes; the next one takes the others."""


class DueStore:
    """The races by their next deadline; a score may be early, never late."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def expect(self, race_id: str, at: int) -> None:
        """Make sure that a race is looked at no later than at an instant."""
        await self._link.call("due_expect", [keys.DUE], race_id, at)

    async def claim(self, now: int) -> tuple[tuple[str, ...], int]:
        """The races that are due, and the score under which this node has them for now."""
        until = now + CLAIM
        found: Answer = await self._link.call("due_claim", [keys.DUE], now, until, CLAIMED_AT_ONCE)
        return tuple(race.decode() for race in found), until

    async def settle(self, race_id: str, claimed: int, following: int | None) -> None:
        """Say when a claimed race is due again, or that it never is; without effect if somebody expects it sooner."""
        await self._link.call("due_settle", [keys.DUE], race_id, claimed, "" if following is None else following)

    async def forget(self, race_id: str) -> None:
        """Never look at a race again: it has ended, with all its effects."""
        await self._link.command("ZREM", keys.DUE, race_id)

    async def score(self, race_id: str) -> int | None:
        """When a race is looked at next; None for one that never is."""
        score: bytes | float | None = await self._link.command("ZSCORE", keys.DUE, race_id)
        return None if score is None else int(float(score))

    async def size(self) -> int:
        """How many races have something to come."""
        count: int = await self._link.command("ZCARD", keys.DUE)
        return count
