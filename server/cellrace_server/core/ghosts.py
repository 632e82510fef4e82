"""Finished games that race again, at the times at which they were played: the clock alone says how far each has come.

A ghost is no fact of the race and keeps nobody waiting; its result is known from the beginning, and told at its time.
"""

from __future__ import annotations

from bisect import bisect_right

from msgspec import Struct

from cellrace.messages import Autoplay, EntrantStatus, Placement, Player
from cellrace_server.core.standings import Finish


class GhostGame(Struct, frozen=True):
    """A finished game: its log with times from the start (ms), under which rules it was played, and how it ended.

    `player` has an id of its own, so that somebody can race against an own game.
    """

    player: Player
    moves: tuple[tuple[int, str], ...]
    autoplay: Autoplay
    placement: Placement
    undo: bool
    finish: Finish
    ended: int

    def entries_until(self, elapsed: int) -> int:
        """How many entries have been played so many ms after the start."""
        return bisect_right(self.moves, elapsed, key=lambda entry: entry[0])

    def status(self, elapsed: int | None) -> EntrantStatus:
        """How the game stands so many ms after the start; None before it."""
        if elapsed is None:
            return EntrantStatus.READY
        return self.finish.status if elapsed >= self.ended else EntrantStatus.PLAYING


def ghost_id(player: str, race: str) -> str:
    """The id of a player's ghost."""
    return f"{player}@{race}"
