"""What the end of a race leaves behind, on lists and boards: each effect is without harm when repeated (NODES, 19)."""

from __future__ import annotations

from cellrace_server.core.race import Race
from cellrace_server.store import Store


async def record_end(store: Store, race: Race) -> None:
    """All effects of a race that is over or cancelled, the last of which makes replays of its logs.

    Everything is taken from the race's facts, so that any node can do it, and do it again. Raises StoreUnavailable.
    """
    players = [entrant.player.id for entrant in race.entrants]
    await store.lists.end(race)
    await store.players.race_ended(players, race.id, race.created_at)
    await store.races.compact(race.id)
