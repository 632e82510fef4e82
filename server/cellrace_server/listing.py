"""Which races there are, as a player may list them (protocol, section 4)."""

from __future__ import annotations

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import RaceList, RaceState, check_variant
from cellrace_server.core.race import Race
from cellrace_server.store import Store
from cellrace_server.store.races import Head

SCANNED = 100
"""How many races of a list are read at once while those that fit are sought."""


class Listing:
    """Answers which races there are."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def check(self, player: str, race_id: str) -> None:
        """Refuse with `no_such_race` what is none, or is none of this player's business.

        Raises Refused, StoreUnavailable.
        """
        head = await self._store.races.head(race_id)
        if head is None or (head.race.settings.private and head.race.entrant(player) is None):
            raise Refused(ErrorCode.NO_SUCH_RACE)

    async def races(self, player: str, request: RaceList) -> list[Head]:
        """Races that fit a request, newest first. Raises Refused, StoreUnavailable."""
        if request.variant is not None:
            check_variant(request.variant)
        now = self._store.clock.now()
        seen: set[str] = set()  # A race that ends meanwhile moves from one list to the other.

        async def fitting(race_ids: tuple[str, ...], most: int) -> list[Head]:
            found: list[Head] = []
            for race_id in race_ids:
                if len(found) == most:
                    break
                if race_id in seen:
                    continue
                seen.add(race_id)
                head = await self._store.races.head(race_id)
                if head is None:
                    await self._store.lists.drop(race_id, now)
                elif _fits(head.race, request, now) and (not request.mine or head.race.entrant(player)):
                    found.append(head)
            return found

        heads: list[Head] = []
        if request.mine:
            players = self._store.players
            for race_ids in (await players.races(player), await players.recent_races(player)):
                heads += await fitting(race_ids, request.limit)
        else:
            for ended in _LISTS[request.state]:
                left, offset = request.limit, 0
                while left and (page := await self._store.lists.newest(ended, offset, SCANNED)):
                    some = await fitting(page, left)
                    heads += some
                    left -= len(some)
                    offset += SCANNED
        # Each list is in order, and as much of it is here as may be needed.
        heads.sort(key=lambda head: -head.race.created_at)
        return heads[: request.limit]


_LISTS: dict[RaceState | None, tuple[bool, ...]] = {
    None: (False, True),
    RaceState.OPEN: (False,),
    RaceState.COUNTDOWN: (False,),
    RaceState.RUNNING: (False,),
    # One that is just over is on its way from one list to the other.
    RaceState.OVER: (False, True),
    RaceState.CANCELLED: (),
}
"""Whether the list of live or of ended races has those in a state."""


def _fits(race: Race, request: RaceList, now: int) -> bool:
    variant_fits = request.variant is None or race.settings.variant == request.variant
    return variant_fits and (request.state is None or race.state(now) is request.state)
