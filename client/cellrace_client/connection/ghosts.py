"""Finds the finished games that a race is to be run against by the names of their players: a server knows their ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cellrace.errors import Refused
from cellrace.messages import Entrant, Ghost

if TYPE_CHECKING:
    from cellrace_client.connection.requests import Requests


async def by_their_ids(connection: Requests, ghosts: tuple[Ghost, ...]) -> tuple[Ghost, ...]:
    """The same ghosts, by the ids of their players where they were named; one that is not found stays as it is."""
    return tuple([await _by_id(connection, ghost) for ghost in ghosts])


async def _by_id(connection: Requests, ghost: Ghost) -> Ghost:
    try:
        entrants = await _entrants(connection, ghost.race)
    except Refused:
        return ghost
    players = [entrant.player for entrant in entrants if not entrant.ghost]
    if any(player.id == ghost.player for player in players):
        return ghost
    named = (player.id for player in players if player.name.casefold() == ghost.player.casefold())
    return Ghost(race=ghost.race, player=next(named, ghost.player))


async def _entrants(connection: Requests, race: str) -> tuple[Entrant, ...]:
    """Who was in a race, one's own or one that anybody may see. Raises Refused."""
    if race in connection.races:
        return connection.races[race].entrants
    try:
        return (await connection.sync(race)).entrants
    except Refused:
        # Those who were not in it may watch it.
        entrants = (await connection.watch(race)).entrants
        await connection.unwatch(race)
        return entrants
