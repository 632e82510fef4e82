"""One's own game, ahead of the server's answers: moves show at once, and are confirmed or taken back. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cellrace.game import Game
from cellrace.messages import MAX_MOVES
from cellrace.notation import UNDO
from cellrace_client.race_view import RaceView


class Parcel(NamedTuple):
    """Entries to be sent in one message, and the log entries before them."""

    seq: int
    moves: tuple[str, ...]


class Ahead:
    """The game as the player sees it: what is on record, and then what was played since.

    Entries that are not sent yet wait here in order: none is lost while a connection is away.
    """

    def __init__(self, view: RaceView) -> None:
        assert view.game is not None, "there is a game from the start on"
        self.game: Game = view.game
        self._log: list[str] = list(view.log)
        self._on_record = len(view.log)
        self._sent = len(view.log)
        self._kept: tuple[Game, int] | None = None
        self._stale_at: int | None = None

    @property
    def waiting(self) -> int:
        """How many entries are not on record yet."""
        return len(self._log) - self._on_record

    @property
    def seq(self) -> int:
        """How many entries the game has, on record or not."""
        return len(self._log)

    def play(self, move: str) -> list[str]:
        """Plays an entry; its step: the move, then what goes home by itself. Raises IllegalMove."""
        before = self.game
        self.game, step = before.play(move)
        self._kept = (before, len(self._log))
        self._log.append(move)
        return step

    def play_instead(self, move: str) -> list[str]:
        """Plays an entry in place of the last one; one that is sent already is taken back first. Raises IllegalMove.

        When the entry is illegal, the last one stays.
        """
        if self._kept is None or self._kept[1] != len(self._log) - 1:
            return self.play(move)
        before, at = self._kept
        game, step = before.play(move)
        if self._sent > at:
            self.play(UNDO)
            return self.play(move)
        del self._log[at:]
        self.game = game
        self._log.append(move)
        return step

    def next_parcel(self, most: int = MAX_MOVES, *, but_last: bool = False) -> Parcel | None:
        """What is to be sent next, which then counts as sent; `but_last` holds the last entry back."""
        end = len(self._log) - but_last
        moves = tuple(self._log[self._sent : min(end, self._sent + most)])
        if not moves:
            return None
        parcel = Parcel(self._sent, moves)
        self._sent += len(moves)
        return parcel

    def follow(self, view: RaceView) -> int:
        """Learns what is on record; how many entries were taken back since that has gone another way."""
        if view.game is None:
            return 0
        if self._goes_with(view):
            self._on_record = max(self._on_record, len(view.log))
            self._sent = max(self._sent, len(view.log))
            return 0
        return self._back_to(view)

    def forgotten(self, view: RaceView) -> None:
        """Sends again what the server has told to be on record and has no longer, as a store that was set back."""
        count = len(view.log)
        if view.game is not None and count < self._on_record and self._goes_with(view):
            self._on_record = self._sent = count

    def refused(self, view: RaceView, *, stale: bool) -> int:
        """After a refusal: what the server has not counted is sent again, what it will not have is taken back.

        `view` is how things stand on the server; how many entries were taken back.
        """
        if view.game is None:
            return 0
        count = len(view.log)
        if stale and count != self._stale_at and self._goes_with(view):
            # Twice at the same place would go on for ever.
            self._stale_at = self._on_record = self._sent = count
            return 0
        return self._back_to(view)

    def _goes_with(self, view: RaceView) -> bool:
        """Whether what is on record is a part of what is shown; what was on record before is so for ever."""
        known, count = self._on_record, len(view.log)
        return count <= len(self._log) and self._log[known:count] == list(view.log[known:])

    def _back_to(self, view: RaceView) -> int:
        assert view.game is not None, "callers have looked"
        known = _common(self._log, view.log)
        lost = len(self._log) - known
        self.game = view.game
        self._log = list(view.log)
        self._on_record = self._sent = len(view.log)
        self._kept = None
        return lost


def _common(log: Sequence[str], other: Sequence[str]) -> int:
    for i, (a, b) in enumerate(zip(log, other, strict=False)):
        if a != b:
            return i
    return min(len(log), len(other))
