"""Races as a client sees them, for tests: Ann looks, Bob and Cy are the others."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from cellrace.commitment import commitment
from cellrace.deals import deal
from cellrace.messages import (
    Entrant,
    EntrantStatus,
    Player,
    RaceAnswer,
    RaceKind,
    RaceState,
    Settings,
    StartedPush,
    dealt_cards,
)
from cellrace.variants import find_variant
from cellrace_client.race_view import RaceView

SALT = "00112233445566778899aabbccddeeff"
ANN = Player(id="a", name="Ann", bot=False)
BOB = Player(id="b", name="Bob", bot=True)
CY = Player(id="c", name="Cy", bot=False)


def entrant(player: Player, status: EntrantStatus = EntrantStatus.JOINED, **fields: Any) -> Entrant:
    """An entrant at the beginning."""
    plain = Entrant(player=player, status=status, online=True, seq=0, home=0, moves=0, undos=0)
    return replace(plain, **fields)


def an_answer(**fields: Any) -> RaceAnswer:
    """An open race of Ann's, whole."""
    whole: dict[str, Any] = {
        "race": "r1",
        "version": 1,
        "state": RaceState.OPEN,
        "kind": RaceKind.RACE,
        "settings": Settings(),
        "host": "a",
        "created_at": 1000,
        "now": 2000,
        "entrants": (entrant(ANN), entrant(BOB)),
    }
    return RaceAnswer(**(whole | fields))


def a_view(player: str = "a", **fields: Any) -> RaceView:
    """The same as Ann sees it."""
    return RaceView.of(an_answer(**fields), player)


def started(variant_id: str = "freecell", number: int = 617, **fields: Any) -> StartedPush:
    """The start of a race on a deal."""
    variant = find_variant(variant_id)
    cards = dealt_cards(variant, deal(variant, number))
    whole: dict[str, Any] = {
        "race": "r1",
        "start_at": 5000,
        "deal": number,
        "salt": SALT,
        "layout": cards.layout,
        "cells": cards.cells,
        "reserve": cards.reserve,
    }
    return StartedPush(**(whole | fields))


def committed(variant_id: str = "freecell", number: int = 617) -> str:
    """The commitment to that deal."""
    return commitment(variant_id, number, SALT)
