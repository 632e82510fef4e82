"""Players who become bots: off the boards of people, wherever they stand on one.

That rows are to be put right is on record first, then the mark, then the rows: should a node die on the way, any other
does the rest. What is written after that by somebody who did not know of the mark is put right by its writer, who looks
at the mark again once it is written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import date, timedelta

from cellrace.variants import MAIN_VARIANTS, VARIANTS
from cellrace_server.core.daily import day_of
from cellrace_server.core.effects import best_board, daily_board, deal_board, rating_board, streak_board
from cellrace_server.store import Store

AGAIN = 10.0
"""Seconds between two looks for what a node has left half done."""


async def finish_marks(store: Store) -> None:
    """Put the rows of all right who have lately become bots. Raises StoreUnavailable."""
    for player in await store.players.new_bots():
        await part_from_people(store, player)


async def part_from_people(store: Store, player: str) -> None:
    """Take a player who has become a bot out from among people, on every board. Raises StoreUnavailable."""
    identity = await store.players.find(player)
    # The mark too: who remembered that this is to be done may have died before it was set.
    if identity is not None and await store.players.mark(player):
        boards = [*_boards_of_days(day_of(identity.since), day_of(store.clock.now()))]
        for variant in VARIANTS:
            boards += (best_board(variant), streak_board(variant), rating_board(variant))
            boards += (deal_board(variant, deal) for deal in sorted(await store.deals.had(variant, player)))
        await store.boards.mark(boards, player)
    await store.players.among_bots(player)


def _boards_of_days(first: date, last: date) -> Iterator[str]:
    """All on which somebody can be who has come on the first of these days."""
    for number in range((last - first).days + 1):
        for variant in MAIN_VARIANTS:
            yield daily_board(first + timedelta(days=number), variant)


async def heed_marks(store: Store, boards: Collection[str], players: Collection[str]) -> None:
    """Take those who are bots by now out from among people on boards just written. Raises StoreUnavailable."""
    for player in (await store.players.find_all(sorted(players))).values():
        if player.bot:
            await store.boards.mark(sorted(boards), player.id)
