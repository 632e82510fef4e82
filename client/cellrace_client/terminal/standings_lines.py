"""Standings and entrants as lines of text. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from cellrace.messages import Entrant, EntrantStatus, Player, RaceState, Standing
from cellrace_client.race_view import RaceView
from cellrace_client.terminal.speech import count_text, length_text, ordinal

_ENDS: dict[EntrantStatus, str] = {
    EntrantStatus.JOINED: "not ready",
    EntrantStatus.READY: "ready",
    EntrantStatus.PLAYING: "playing",
    EntrantStatus.WON: "won",
    EntrantStatus.CONCEDED: "conceded",
    EntrantStatus.TIMED_OUT: "ran out of time",
    EntrantStatus.FORFEITED: "forfeited",
    EntrantStatus.ABANDONED: "abandoned",
}


def player_text(player: Player, me: str) -> str:
    """A player in a list: `Ann`, `Bob (bot)`, `Ann (you)`."""
    marks = [word for word, holds in (("you", player.id == me), ("bot", player.bot)) if holds]
    return f"{player.name} ({', '.join(marks)})" if marks else player.name


def standings_lines(standings: Sequence[Standing], me: str) -> list[str]:
    """The standings, a line each, with the receipt of each time: when the win arrived, and what was taken off."""
    return [_standing_line(standing, me) for standing in standings]


def _standing_line(standing: Standing, me: str) -> str:
    line = f"{ordinal(standing.place)}: {player_text(standing.player, me)} {_ENDS[standing.status]}"
    if standing.status is EntrantStatus.WON and standing.time is not None:
        line += f" in {length_text(standing.time)}"
        if standing.raw is not None and standing.latency is not None:
            line += f" (arrived after {length_text(standing.raw)}, less {standing.latency} ms of latency)"
    else:
        line += f" with {count_text(standing.home, 'card')} home"
    line += f", {count_text(standing.moves, 'move')}, {count_text(standing.undos, 'undo')}"
    if standing.rating is not None:
        line += f", rating {standing.rating.before} to {standing.rating.after}"
    return line + "."


def entrants_lines(view: RaceView) -> list[str]:
    """Who is in the race, a line each: the final standings, or those of the moment."""
    if view.standings is not None:
        return standings_lines(view.standings, view.player)
    entrants = list(view.entrants)
    if view.state is RaceState.RUNNING:
        entrants.sort(key=lambda entrant: (entrant.place or len(entrants) + 1, -entrant.home))
    return [_entrant_line(entrant, view) for entrant in entrants]


def _entrant_line(entrant: Entrant, view: RaceView) -> str:
    words = [_ENDS[entrant.status]]
    if entrant.player.id == view.host and view.state is RaceState.OPEN:
        words.append("host")
    if view.dealt is not None:
        words.append(f"{count_text(entrant.home, 'card')} home")
        words.append(count_text(entrant.moves, "move"))
    if entrant.time is not None:
        words.append(f"time {length_text(entrant.time)}")
    if not entrant.online:
        words.append("offline")
    return f"{player_text(entrant.player, view.player)}: {', '.join(words)}."
