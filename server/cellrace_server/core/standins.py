"""Who stands in for a deleted player in the races of others: somebody without a name, who is on no board."""

from __future__ import annotations

from collections.abc import Mapping

from cellrace.messages import Player
from cellrace_server.core.ghosts import ghost_id

NAMELESS = "Deleted player"
_MARK = "gone-"

StandIns = Mapping[str, str]
"""Who stands in for whom, by id."""


def stand_in_id(random: str) -> str:
    """The id of somebody who stands in, which is no player's."""
    return _MARK + random


def is_stand_in(player_id: str) -> bool:
    """Whether an id is of somebody who stands in for a deleted player."""
    return player_id.startswith(_MARK)


def stand_in_for(player: Player, stand_ins: StandIns) -> Player:
    """Who is shown in a player's place: the player, unless somebody stands in for this player or this ghost."""
    other = id_for(player.id, stand_ins)
    return player if other == player.id else Player(id=other, name=NAMELESS, bot=player.bot)


def id_for(player_id: str, stand_ins: StandIns) -> str:
    """The id of who is shown in the place of a player, or of a ghost."""
    person, at, race = player_id.partition("@")
    other = stand_ins.get(person, person)
    return ghost_id(other, race) if at else other
