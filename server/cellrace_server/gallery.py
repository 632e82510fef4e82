"""What spectators of a room may see of its moves, and the ghosts that play among its entrants: the clock decides."""

from __future__ import annotations

from bisect import bisect_right

from cellrace.messages import Spectate
from cellrace_server.core.spectating import DELAY, shown_until
from cellrace_server.play import Play
from cellrace_server.room import Room
from cellrace_server.store.races import Entry


def visible(room: Room, player: str, now: int) -> int:
    """How many entries of a log spectators may see."""
    until = shown_until(room.race.settings.spectate, room.race.standings is not None, now)
    play = room.plays.get(player)
    if until is None or play is None:
        return 0
    return bisect_right(play.entries, until, key=lambda entry: entry.at)


def reveal(room: Room, now: int) -> None:
    """Show spectators here what they may see by now and were not shown yet."""
    for player in room.plays:
        room.show(player, visible(room, player, now))


def next_reveal(room: Room) -> int | None:
    """When spectators may see more, if some here wait for it."""
    if not room.spectators or room.race.ended or room.race.settings.spectate is not Spectate.DELAYED:
        return None
    hidden = [play.entries[room.shown.get(player, 0) :][:1] for player, play in room.plays.items()]
    return min((entries[0].at + DELAY for entries in hidden if entries), default=None)


def play_ghosts(room: Room, now: int) -> None:
    """Let each ghost come as far as it had come so long after its start."""
    if room.start is None or room.race.start_at is None or not room.released:
        return
    start_at = room.race.start_at
    for ghost in room.race.ghosts:
        play = room.plays.setdefault(ghost.player.id, Play(room.start.ghost_game(ghost)))
        seq = ghost.entries_until(now - start_at)
        entries = [Entry(start_at + at, move) for at, move in ghost.moves[len(play.entries) : seq]]
        room.extend_log(ghost.player.id, seq, entries)


def next_ghost_move(room: Room) -> int | None:
    """When a ghost plays next, if somebody here sees it."""
    if room.deserted or room.race.ended or room.race.start_at is None or not room.released:
        return None
    following = [
        ghost.moves[played][0]
        for ghost in room.race.ghosts
        if (played := room.tally(ghost.player.id).seq) < len(ghost.moves)
    ]
    return None if not following else room.race.start_at + min(following)
