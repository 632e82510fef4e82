"""Remembers: Redis, and nothing else, knows Redis."""

from __future__ import annotations

from dataclasses import dataclass

from redis.asyncio import Redis

from cellrace_server.counts import Counts
from cellrace_server.store.accounts import AccountStore
from cellrace_server.store.acts import ActStore
from cellrace_server.store.boards import DEAL_BOARDS_KEPT, BoardStore
from cellrace_server.store.census import Census
from cellrace_server.store.clock import RaceClock
from cellrace_server.store.commits import Committer
from cellrace_server.store.daily import DailyStore
from cellrace_server.store.deals import DealStore
from cellrace_server.store.due import DueStore
from cellrace_server.store.library import Link
from cellrace_server.store.lists import RaceLists
from cellrace_server.store.nodes import NodeStore
from cellrace_server.store.players import PlayerStore
from cellrace_server.store.profiles import ProfileStore
from cellrace_server.store.queue import QueueStore
from cellrace_server.store.races import KEPT, RaceStore
from cellrace_server.store.ratings import RatingStore
from cellrace_server.store.replicas import Replicas
from cellrace_server.store.signing_keys import SigningKeyStore


@dataclass(frozen=True, slots=True)
class Store:
    """All that one node reads and writes, and what it counts meanwhile."""

    link: Link
    races: RaceStore
    players: PlayerStore
    lists: RaceLists
    deals: DealStore
    due: DueStore
    nodes: NodeStore
    boards: BoardStore
    ratings: RatingStore
    daily: DailyStore
    profiles: ProfileStore
    queue: QueueStore
    acts: ActStore
    accounts: AccountStore
    census: Census
    signing_keys: SigningKeyStore
    committer: Committer
    clock: RaceClock
    counts: Counts


async def open_store(
    redis: Redis,
    node: str,
    replicas: Replicas | None = None,
    kept: int = KEPT,
    deal_boards_kept: int = DEAL_BOARDS_KEPT,
) -> Store:
    """The store of a node, its functions loaded and its clock set; ended races are `kept` for so many ms.

    Boards of deals are kept as long at least. Raises StoreUnavailable.
    """
    counts = Counts()
    link = Link(redis, counts, replicas)
    await link.load_libraries()
    clock = await RaceClock.open(redis.time)
    return Store(
        link,
        RaceStore(link, node, kept),
        PlayerStore(link, node),
        RaceLists(link, kept),
        DealStore(link),
        DueStore(link),
        NodeStore(link, node),
        BoardStore(link, max(kept, deal_boards_kept)),
        RatingStore(link),
        DailyStore(link),
        ProfileStore(link),
        QueueStore(link),
        ActStore(link),
        AccountStore(link),
        Census(link),
        SigningKeyStore(link),
        Committer(link, node, clock.now, counts),
        clock,
        counts,
    )
