"""Finds the finished games that a new race is to be run against (protocol, section 4, `ghosts`)."""

from __future__ import annotations

from msgspec.structs import replace

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import Ghost, Player, Settings, SettingsRequest, UnreadableSettings
from cellrace_server.core.ghosts import GhostGame, ghost_id
from cellrace_server.core.race import Race
from cellrace_server.replays import check_access
from cellrace_server.store import Store


async def summon(store: Store, asked: SettingsRequest | None, viewer: str) -> tuple[tuple[GhostGame, ...], int | None]:
    """The ghosts that settings ask for, and the one deal that all of them were played on.

    Raises Refused with `bad_settings`, StoreUnavailable.
    """
    if asked is None or isinstance(asked, UnreadableSettings) or not asked.ghosts:
        return (), None
    variant = asked.variant or Settings().variant
    found = [await _find(store, wanted, variant, viewer) for wanted in dict.fromkeys(asked.ghosts)]
    if len({deal for _, deal in found}) != 1:
        raise Refused(
            ErrorCode.BAD_SETTINGS, "The ghosts were played on different deals; a race has one.", field="ghosts"
        )
    return tuple(ghost for ghost, _ in found), found[0][1]


async def _find(store: Store, wanted: Ghost, variant: str, viewer: str) -> tuple[GhostGame, int]:
    record = await store.races.load(wanted.race)
    secret = await store.races.secret(wanted.race)
    race = None if record is None else record.race
    if record is None or race is None or secret is None or not _may_be_seen(race, viewer, store.clock.now()):
        raise Refused(
            ErrorCode.BAD_SETTINGS, "A ghost is a game of a race that is over and that you may see.", field="ghosts"
        )
    entrant = race.entrant(wanted.player)
    if entrant is None or entrant.finish is None or race.settings.variant != variant:
        raise Refused(
            ErrorCode.BAD_SETTINGS, "There is no such finished game of this kind in that race.", field="ghosts"
        )
    start_at = race.start_at or 0
    player, settings = entrant.player, race.settings
    ghost = Player(id=ghost_id(player.id, race.id), name=player.name, bot=player.bot)
    game = GhostGame(
        player=ghost,
        moves=tuple((entry.at - start_at, entry.move) for entry in record.logs.get(player.id, ())),
        autoplay=settings.autoplay,
        placement=settings.placement,
        undo=settings.undo,
        finish=replace(entrant.finish, player=ghost),
        ended=entrant.finish.at - start_at,
    )
    return game, secret.deal


def _may_be_seen(race: Race, viewer: str, now: int) -> bool:
    """Ghosts may be of the games whose replays may be seen."""
    try:
        check_access(race, viewer, now)
    except Refused:
        return False
    return True
