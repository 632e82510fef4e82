"""The deal of a race: the one that was chosen for it, else one that none of those who are ready has been dealt."""

from __future__ import annotations

import contextlib
from collections.abc import Collection

from cellrace_server.core.race import Race
from cellrace_server.store import Store
from cellrace_server.store.deals import new_secret
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.races import Secret


async def draw(store: Store, race: Race, players: Collection[str]) -> Secret | None:
    """The deal for these players, none of whom is dealt it again; None where there is none. Raises StoreUnavailable."""
    variant = race.settings.variant
    if race.settings.deal is not None:
        chosen = new_secret(race.settings.deal)
        await store.deals.note(variant, players, chosen)
        return chosen
    secret = await store.deals.draw(variant, players)
    found = store.counts.no_deal if secret is None else store.counts.drawn
    found[variant] += 1
    return secret


async def let_go(store: Store, race: Race, players: Collection[str], secret: Secret | None) -> None:
    """Let go of a deal that was drawn and, as is known for certain, not begun with."""
    if secret is not None and race.settings.deal is None:
        # A number that stays reserved costs its players one of many, and is no reason to refuse them anything.
        with contextlib.suppress(StoreUnavailable):
            await store.deals.release(race.settings.variant, players, secret)
