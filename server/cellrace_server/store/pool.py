"""The pool: deals proved winnable beyond the stock, shared by all nodes, and how many the players need.

A pool grows by `add`, from the search of any node, and never shrinks: whoever has had a number is told by the players'
histories. A draw that finds few numbers left says with `want` how large the pool should become; for a while all nodes
see that, and those that prove deals hurry.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from cellrace.variants import find_variant
from cellrace_server.stock import whole_proof
from cellrace_server.stock.packing import unpack_moves
from cellrace_server.store import keys
from cellrace_server.store.library import Answer, Link

WANTED = 3_600_000
"""For how many ms a draw that found few numbers left is remembered; the next one says it again."""


class Level(Struct, frozen=True):
    """How full the pool of one game is, and how full a draw has wanted it lately: 0 when none did."""

    variant: str
    size: int
    wanted: int = 0

    @property
    def short(self) -> bool:
        """Whether players have lately had few numbers left, and the pool has not grown enough since."""
        return self.size < self.wanted


class PoolStore:
    """The pools of all games."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def add(self, variant: str, number: int, packed: bytes) -> bool:
        """Keep a proved number with its packed moves; False when it was there. Raises StoreUnavailable."""
        # Lost with its server it is one proof fewer, and nobody waits for it.
        return bool(await self._link.command("HSETNX", keys.pool(variant), number, packed, lasting=False))

    async def proof(self, variant: str, number: int) -> tuple[str, ...] | None:
        """Moves that win a deal of the pool in a game without autoplay, as of the stock; None if it is not in it."""
        packed: bytes | None = await self._link.command("HGET", keys.pool(variant), number)
        return None if packed is None else whole_proof(find_variant(variant), number, unpack_moves(packed))

    async def some(self, variant: str, count: int) -> tuple[int, list[int]]:
        """How many numbers there are, and at most so many different ones at random. Raises StoreUnavailable."""
        key = keys.pool(variant)
        size, numbers = await self._link.commands((("HLEN", key), ("HRANDFIELD", key, count)))
        return int(size), [int(number) for number in numbers]

    async def numbers(self, variant: str) -> list[int]:
        """All numbers, in ascending order. Raises StoreUnavailable."""
        found: Answer = await self._link.command("HKEYS", keys.pool(variant))
        return sorted(int(number) for number in found)

    async def want(self, variant: str, size: int) -> None:
        """Say that players have few numbers left until the pool has come to a size. Raises StoreUnavailable."""
        await self._link.command("SET", keys.pool_wanted(variant), size, "PX", WANTED, lasting=False)

    async def levels(self, variants: Sequence[str]) -> tuple[Level, ...]:
        """How full the pools are. Raises StoreUnavailable."""
        asked = [
            words
            for variant in variants
            for words in (("HLEN", keys.pool(variant)), ("GET", keys.pool_wanted(variant)))
        ]
        told = await self._link.commands(asked)
        pairs = zip(told[::2], told[1::2], strict=True)
        return tuple(
            Level(variant, int(size), int(wanted or 0)) for variant, (size, wanted) in zip(variants, pairs, strict=True)
        )
