"""Draws the deals that races are run on: proved to be winnable, and new to everyone who races.

A number is drawn from the stock and the pool together, but for those that are kept for daily challenges, each that is
left as likely as any other, and reserved in the history of each player under the name of the draw. So a reservation can
be repeated when its answer was lost, only its own draw can release it, and of two draws for the same players one gets a
number and the other takes the next.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterable, Sequence

from cellrace_server.core.daily import is_reserved
from cellrace_server.stock import Stock, load_stock
from cellrace_server.store import keys
from cellrace_server.store.library import Answer, Link, versioned
from cellrace_server.store.pool import PoolStore
from cellrace_server.store.races import Secret

CANDIDATES = 64
"""How many numbers are looked at before the whole histories are read."""
PLENTY = 500
"""With so many numbers left by the look of the candidates, they are enough to draw from."""
FLOOR = 100
"""With fewer numbers left the pool is short for these players."""
REFILL = 200
"""How many numbers such players should have left once the pool has grown."""
LAST_LOOK = 0.3
"""Seconds before a draw gives up: whoever drew the last number at the same time begins with it, or lets it go."""

MANY = 10_000
"""Of more numbers than these the reserved ones are not sorted out before some are picked: there are enough others."""

_DRAW_NAME = 12
"""Characters of a draw's salt that name it in the histories: enough to tell draws apart, too few to find the salt."""
_RANDOM = secrets.SystemRandom()


class DealStore:
    """The numbers that have been dealt to each player, and draws among the others."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self.pool = PoolStore(link)

    async def draw(self, variant: str, players: Iterable[str]) -> Secret | None:
        """A number that none of the players has had, now reserved for them, with a new salt; None if none is left.

        Whoever knows that a race was not begun with it should `release` it. Raises StoreUnavailable: a number that was
        being reserved then may stay so, which costs its players one of many.
        """
        # In one order, for the first player decides between draws at the same time.
        ordered = sorted(set(players))
        stock, salt = load_stock(variant), secrets.token_hex(16)
        number = await self._draw_of_few(stock, ordered, salt)
        if number is None:
            number = await self._draw_of_all(stock, ordered, salt)
        if number is None:
            await asyncio.sleep(LAST_LOOK)
            number = await self._draw_of_all(stock, ordered, salt)
        return None if number is None else Secret(number, salt)

    async def release(self, variant: str, players: Iterable[str], drawn: Secret) -> None:
        """Let a number go that no race was begun with. Raises StoreUnavailable."""
        await self._each("deal_release", variant, sorted(players), drawn.deal, drawn.salt)

    async def note(self, variant: str, players: Iterable[str], chosen: Secret) -> None:
        """Remember that players get a number which was not drawn for them. Raises StoreUnavailable."""
        await self._each("deal_reserve", variant, sorted(players), chosen.deal, chosen.salt)
        if is_reserved(variant, chosen.deal):
            await self._link.command("SADD", keys.daily_deals(variant), chosen.deal)

    async def had(self, variant: str, player: str) -> frozenset[int]:
        """The numbers that a player has been dealt in races. Raises StoreUnavailable."""
        history: Answer = await self._link.command("HKEYS", keys.player_deals(player, variant))
        return frozenset(map(int, history))

    async def _draw_of_few(self, stock: Stock, players: Sequence[str], salt: str) -> int | None:
        """Among a few candidates, if enough of them are new to all to say that there are plenty."""
        variant = stock.variant.id
        size, pooled = await self.pool.some(variant, CANDIDATES)
        whole = len(stock.numbers) + size
        candidates = _picked(stock.numbers, pooled, size, CANDIDATES)
        looked, numbers = len(candidates), _unreserved(variant, candidates)
        if not numbers:
            return None
        histories = await self._link.commands(
            ("HMGET", keys.player_deals(player, variant), *numbers) for player in players
        )
        left = [number for number, *had in zip(numbers, *histories, strict=True) if all(draw is None for draw in had)]
        if len(left) * whole < PLENTY * looked:
            return None
        return await self._reserve_one(variant, players, left, salt)

    async def _draw_of_all(self, stock: Stock, players: Sequence[str], salt: str) -> int | None:
        """Among all numbers; says so when they run short."""
        variant = stock.variant.id
        seen: set[int] = set()
        for player in players:
            # One after the other, so that others get their turn between histories that may be long.
            seen |= await self.had(variant, player)
        had = frozenset(seen)
        pool = await self.pool.numbers(variant)
        stocked, pooled = stock.without(had), _unreserved(variant, [number for number in pool if number not in had])
        if len(stocked) <= MANY:
            stocked = _unreserved(variant, stocked)
        left = len(stocked) + len(pooled)
        if left < FLOOR:
            await self.pool.want(variant, len(pool) + REFILL - left)
        _RANDOM.shuffle(pooled)
        picked = _picked(stocked, pooled, len(pooled), CANDIDATES)
        return await self._reserve_one(variant, players, _unreserved(variant, picked), salt)

    async def _reserve_one(self, variant: str, players: Sequence[str], numbers: Iterable[int], salt: str) -> int | None:
        """The first of the numbers that can be reserved for all."""
        for number in numbers:
            if all(await self._each("deal_reserve", variant, players[:1], number, salt)):
                if all(await self._each("deal_reserve", variant, players[1:], number, salt)):
                    return number
                await self._each("deal_release", variant, players, number, salt)
        return None

    async def _each(self, function: str, variant: str, players: Iterable[str], number: int, salt: str) -> list[Answer]:
        return await self._link.commands(
            ("FCALL", versioned(function), 1, keys.player_deals(player, variant), number, salt[:_DRAW_NAME])
            for player in players
        )


def new_secret(deal: int) -> Secret:
    """A deal with the random salt that keeps its commitment from being searched."""
    return Secret(deal, secrets.token_hex(16))


def _unreserved(variant: str, numbers: Iterable[int]) -> list[int]:
    return [number for number in numbers if not is_reserved(variant, number)]


def _picked(stocked: Sequence[int], pooled: Sequence[int], size: int, count: int) -> list[int]:
    """So many numbers of the stock and a pool of that size, at random; `pooled` are some of the pool, at random."""
    whole = len(stocked) + size
    places = _RANDOM.sample(range(whole), min(count, whole))
    numbers = [stocked[place] for place in places if place < len(stocked)]
    numbers += pooled[: len(places) - len(numbers)]
    _RANDOM.shuffle(numbers)
    return numbers
