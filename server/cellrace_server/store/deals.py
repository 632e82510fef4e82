"""Draws the deals that races are run on: proved to be winnable, and new to everyone who races."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from cellrace.deals import PROVED_RANGES
from cellrace_server.stock import load_stock
from cellrace_server.store import keys
from cellrace_server.store.library import Answer, Link
from cellrace_server.store.races import Secret

CANDIDATES = 64
"""How many numbers of a proved range are looked at before a draw gives up."""


class DealStore:
    """The numbers that have been dealt to each player, and draws among the others."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def draw(self, variant: str, players: Sequence[str]) -> Secret | None:
        """A number that none of the players has had, now reserved for them, with a new salt; None if none is left.

        A number reserved for a race that is then begun by another node stays reserved: nobody misses one of many.
        """
        numbers = _shuffled_numbers(variant)
        for player in players:
            had: Answer = await self._link.command("SMISMEMBER", keys.player_dealt(player, variant), *numbers)
            numbers = [number for number, seen in zip(numbers, had, strict=True) if not seen]
            if not numbers:
                return None
        for number in numbers:
            if await self._reserve(variant, players, number):
                return new_secret(number)
        return None

    async def _reserve(self, variant: str, players: Sequence[str], number: int) -> bool:
        reserved: list[str] = []
        for player in players:
            key = keys.player_dealt(player, variant)
            if not await self._link.command("SADD", key, number):
                for taken in reserved:
                    await self._link.command("SREM", taken, number)
                return False
            reserved.append(key)
        return True


def new_secret(deal: int) -> Secret:
    """A deal with the random salt that keeps its commitment from being searched."""
    return Secret(deal, secrets.token_hex(16))


def _shuffled_numbers(variant: str) -> list[int]:
    source = secrets.SystemRandom()
    if (proved := PROVED_RANGES.get(variant)) is not None:
        drawn = (source.randint(1, proved.last) for _ in range(CANDIDATES))
        return [number for number in dict.fromkeys(drawn) if number not in proved.lost]
    numbers = list(load_stock(variant).numbers)
    source.shuffle(numbers)
    return numbers
