"""What spectators of a room may see of its moves, and the ghosts that play among its entrants: the clock decides."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING
from weakref import proxy

from cellrace.messages import Spectate
from cellrace_server.core.spectating import DELAY, shown_until
from cellrace_server.play import Play
from cellrace_server.store.races import Entry

if TYPE_CHECKING:
    from cellrace_server.room import Announcer, Room


class Gallery:
    """Shows spectators here what they may see by now."""

    def __init__(self, room: Room, announcer: Announcer) -> None:
        self._room: Room = proxy(
            room
        )  # Else a room that is let go, with all its boards, stays until a rare collection.
        self._announcer = announcer
        self._shown: dict[str, int] = {}

    def visible(self, player: str, now: int) -> int:
        """How many entries of a log spectators may see."""
        race = self._room.race
        until = shown_until(race.settings.spectate, race.standings is not None, now)
        play = self._room.plays.get(player)
        if until is None or play is None:
            return 0
        return bisect_right(play.entries, until, key=lambda entry: entry.at)

    def reveal(self, now: int) -> None:
        """Show what may be seen by now and was not shown yet."""
        for player in self._room.plays:
            self.reveal_of(player, now)

    def reveal_of(self, player: str, now: int) -> None:
        """Show that of one log."""
        seen, visible = self._shown.get(player, 0), self.visible(player, now)
        if visible > seen:
            self._shown[player] = visible
            if self._room.spectators:
                entries = self._room.plays[player].entries[seen:visible]
                self._announcer.shown(self._room, player, visible, entries)

    def next_reveal(self) -> int | None:
        """When spectators may see more, if some here wait for it."""
        room = self._room
        if not room.spectators or room.race.ended or room.race.settings.spectate is not Spectate.DELAYED:
            return None
        hidden = [play.entries[self._shown.get(player, 0) :][:1] for player, play in room.plays.items()]
        return min((entries[0].at + DELAY for entries in hidden if entries), default=None)


class GhostPlays:
    """Lets the ghosts of a room play what they have played by now."""

    def __init__(self, room: Room) -> None:
        self._room: Room = proxy(room)

    def play(self, now: int) -> None:
        """Let each ghost come as far as it had come so long after its start."""
        room = self._room
        if room.start is None or room.race.start_at is None or not room.released:
            return
        start_at = room.race.start_at
        for ghost in room.race.ghosts:
            play = room.plays.setdefault(ghost.player.id, Play(room.start.ghost_game(ghost)))
            seq = ghost.entries_until(now - start_at)
            entries = [Entry(start_at + at, move) for at, move in ghost.moves[len(play.entries) : seq]]
            room.extend_log(ghost.player.id, seq, entries)

    def next_move(self) -> int | None:
        """When a ghost plays next, if somebody here sees it."""
        room = self._room
        if room.deserted or room.race.ended or room.race.start_at is None or not room.released:
            return None
        following = [
            ghost.moves[played][0]
            for ghost in room.race.ghosts
            if (played := room.tally(ghost.player.id).seq) < len(ghost.moves)
        ]
        return None if not following else room.race.start_at + min(following)
