"""Replays on request: put together from what is on record of a race, and signed (protocol, section 6)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from cellrace.deals import deal
from cellrace.errors import ErrorCode, Refused
from cellrace.messages import (
    REPLAY_FORMAT,
    EntrantStatus,
    RaceKind,
    Replay,
    ReplayResult,
    dealt_cards,
)
from cellrace.replay import sign_replay
from cellrace.variants import find_variant
from cellrace_server.core.daily import day_of, published_at
from cellrace_server.core.race import Race
from cellrace_server.core.standings import Finish
from cellrace_server.signing import Signer
from cellrace_server.store import Store
from cellrace_server.store.races import Entry, Secret
from cellrace_server.store.signing_keys import PublishedKey


class Replays:
    """Gives replays to those who may see them."""

    def __init__(self, store: Store, signer: Signer) -> None:
        self._store = store
        self._signer = signer

    async def get(self, viewer: str, race_id: str, player: str) -> Replay:
        """The replay of a player's game; `viewer` is who asks, "" is a stranger. Raises Refused, StoreUnavailable."""
        head = await self._store.races.head(race_id)
        if head is None:
            raise Refused(ErrorCode.NO_SUCH_RACE)
        race = head.race
        check_access(race, viewer, self._store.clock.now())
        entrant = race.entrant(player)
        if entrant is None or entrant.finish is None:
            raise Refused(ErrorCode.NOT_ENTRANT)
        secret = await self._store.races.secret(race.id)
        if secret is None:
            raise Refused(ErrorCode.NO_SUCH_RACE)  # It has expired between two looks.
        replay = unsigned_replay(race, entrant.finish, secret, await self._store.races.finished_log(race, player))
        key = await self._signer.key()
        # A log of 20,000 entries takes some time to be written and signed.
        return await asyncio.to_thread(sign_replay, replay, key.public, key.sign)

    async def keys(self) -> tuple[PublishedKey, ...]:
        """The public keys, the current one first. Raises StoreUnavailable."""
        return await self._signer.published()


def check_access(race: Race, viewer: str, now: int) -> None:
    """Whether somebody may see the games of a race by now. Raises Refused with `not_allowed` or `too_early`."""
    daily = race.kind is RaceKind.DAILY
    published = race.start_at is not None and (not daily or now >= published_at(day_of(race.start_at)))
    # A daily is its player's own until it is published, and everybody's from then on.
    stranger = race.entrant(viewer) is None
    if daily and not published and stranger:
        raise Refused(ErrorCode.NOT_ALLOWED, "A game of the day is its player's own until that day is published.")
    if not daily and race.settings.private and stranger:
        raise Refused(ErrorCode.NOT_ALLOWED, "This race is private: its games are for those who were in it.")
    if race.cancelled is not None:
        raise Refused(ErrorCode.TOO_EARLY, "This race was cancelled: there are no games, and its deal stays a secret.")
    if race.standings is None or not published:
        raise Refused(ErrorCode.TOO_EARLY)


def unsigned_replay(race: Race, finish: Finish, secret: Secret, log: Sequence[Entry]) -> Replay:
    """The replay of one game of a race that is over, without key and signature."""
    settings, start_at, limit_at = race.settings, race.start_at, race.limit_at
    assert start_at is not None, "the race is over, so it has begun"
    assert limit_at is not None, "the same"
    assert race.commitment is not None, "the same"
    variant = find_variant(settings.variant)
    cards = dealt_cards(variant, deal(variant, secret.deal))
    won = finish.status is EntrantStatus.WON
    # Who forfeits in the countdown has ended before the start; the end of a race at its limit is written later.
    ended_at = min(max(finish.at, start_at), limit_at)
    return Replay(
        format=REPLAY_FORMAT,
        race=race.id,
        kind=race.kind,
        variant=variant.id,
        deal=secret.deal,
        salt=secret.salt,
        commitment=race.commitment,
        layout=cards.layout,
        cells=cards.cells,
        reserve=cards.reserve or (),
        autoplay=settings.autoplay,
        placement=settings.placement,
        undo=settings.undo,
        start_at=start_at,
        ended=max(ended_at, log[-1].at if log else 0) - start_at,
        player=finish.player.id,
        name=finish.player.name,
        bot=finish.player.bot,
        moves=tuple((entry.at - start_at, entry.move) for entry in log),
        result=ReplayResult(
            status=finish.status,
            home=finish.home,
            time=finish.time if won else None,
            raw=finish.raw if won else None,
            latency=finish.latency if won else None,
        ),
        key="",
        signature="",
    )
