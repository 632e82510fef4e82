"""What games and races are called. Pure."""

from __future__ import annotations

from cellrace.messages import Player, RaceKind
from cellrace.variants import VARIANTS
from cellrace_client.language import _
from cellrace_client.race_view import RaceView
from cellrace_client.terminal.speech import printable

NAMELESS = "Deleted player"
"""What servers call whoever stands in for a player who has been deleted."""


def player_title(player: Player) -> str:
    """A player by name; of one who has been deleted, that."""
    return _(NAMELESS) if player.name == NAMELESS else player.name


def game_title(variant_id: str) -> str:
    """A game by the name that players know; the id of one that this program does not know."""
    variant = VARIANTS.get(variant_id)
    return _(variant.name) if variant else printable(variant_id)


def race_title(view: RaceView) -> str:
    """A race's game, and its deal once that is told."""
    title = game_title(view.settings.variant)
    if view.kind is RaceKind.DAILY:
        title = _("{game}, daily challenge").format(game=title)
    if view.dealt is None or view.dealt.deal is None:
        return title
    return _("{game}, deal {number}").format(game=title, number=view.dealt.deal)
