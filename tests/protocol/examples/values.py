"""What the examples of messages are made of."""

from __future__ import annotations

from typing import NamedTuple

from cellrace.board import dealt_board
from cellrace.deals import deal
from cellrace.messages import (
    ClientMessage,
    Entrant,
    EntrantStatus,
    Player,
    RaceKind,
    RaceState,
    RatingChange,
    ServerMessage,
    Standing,
    Summary,
    dealt_cards,
)
from cellrace.variants import find_variant


class Example(NamedTuple):
    """A message, and what it is an example of."""

    of: str
    message: ClientMessage | ServerMessage


NOW = 1_791_900_000_000
START = NOW + 14_040
COMMITMENT = "e92d6bd9b2868efad82dd0ff94053072713080e5769de095b47dc204b9717107"
SALT = "8d1f0c6be2a94735af1039d2c85e7b64"
ANN = Player(id="p3xw", name="Ann", bot=False)
ROOK = Player(id="p9d4", name="Rök ♜", bot=True)
_ONE_SUIT = find_variant("one-suit")
_MARSEILLE = find_variant("marseille")
_SEAHAVEN = find_variant("seahaven")
DEALT = dealt_cards(_ONE_SUIT, deal(_ONE_SUIT, 94))
WITH_RESERVE = dealt_cards(_MARSEILLE, deal(_MARSEILLE, 1))
WITH_CELLS = dealt_cards(_SEAHAVEN, deal(_SEAHAVEN, 1))
BOARD = dealt_board(_ONE_SUIT, deal(_ONE_SUIT, 94)).play("2a").play("1h")

PLAYING = Entrant(player=ANN, status=EntrantStatus.PLAYING, online=True, seq=1, home=1, moves=1, undos=0)
WON = Entrant(player=ROOK, status=EntrantStatus.WON, online=False, seq=3, home=13, moves=2, undos=1, time=6108, place=1)
GHOST = Entrant(player=ROOK, ghost=True, status=EntrantStatus.JOINED, online=False, seq=0, home=0, moves=0, undos=0)
FIRST = Standing(
    player=ROOK,
    place=1,
    status=EntrantStatus.WON,
    home=13,
    moves=2,
    undos=1,
    time=6108,
    raw=6120,
    latency=12,
    rating=RatingChange(before=1500, after=1521),
)
SECOND = Standing(player=ANN, place=2, status=EntrantStatus.TIMED_OUT, home=1, moves=1, undos=0)
SUMMARY = Summary(
    race="r7q2",
    state=RaceState.RUNNING,
    kind=RaceKind.RACE,
    variant="one-suit",
    seats=2,
    entrants=(PLAYING, WON),
    host="p3xw",
    created_at=NOW,
)
