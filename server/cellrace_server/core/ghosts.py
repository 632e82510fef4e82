"""Finished games that race again, at the times at which they were played: the clock alone says how far each has come.

A ghost's moves are no facts of the race, and nobody waits for it; its result is known from the beginning, and becomes a
fact at its time, for those who hear of the race to be told.
"""

from __future__ import annotations

from bisect import bisect_right

from msgspec import Struct

from cellrace.messages import Autoplay, EntrantStatus, Placement, Player
from cellrace_server.core.facts import Tally
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
    done: bool = False
    """Whether its end is a fact of this race by now."""

    @property
    def tally(self) -> Tally:
        """What the game has come to in the end."""
        return Tally(len(self.moves), self.finish.home, self.finish.moves, self.finish.undos)

    def entries_until(self, elapsed: int) -> int:
        """How many entries have been played so many ms after the start."""
        return bisect_right(self.moves, elapsed, key=lambda entry: entry[0])

    def has_ended(self, elapsed: int) -> bool:
        """Whether the game is over so many ms after the start."""
        return elapsed >= self.ended

    def status(self, *, begun: bool) -> EntrantStatus:
        """How the game stands in a race that has begun, or has not."""
        if self.done:
            return self.finish.status
        return EntrantStatus.PLAYING if begun else EntrantStatus.READY


def ghost_id(player: str, race: str) -> str:
    """The id of a player's ghost."""
    return f"{player}@{race}"
