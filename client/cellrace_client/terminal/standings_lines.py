"""Standings and entrants as lines of text. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import assert_never

from cellrace.messages import Entrant, EntrantStatus, Player, RaceState, Standing
from cellrace_client.language import _, n_
from cellrace_client.race_view import RaceView
from cellrace_client.terminal.counts import cards_counted, moves_counted
from cellrace_client.terminal.speech import length_text, ordinal
from cellrace_client.terminal.titles import player_title


def status_text(status: EntrantStatus) -> str:
    """How a game has ended, or where an entrant stands before that."""
    match status:
        case EntrantStatus.JOINED:
            return _("not ready")
        case EntrantStatus.READY:
            return _("ready")
        case EntrantStatus.PLAYING:
            return _("playing")
        case EntrantStatus.WON:
            return _("won")
        case EntrantStatus.CONCEDED:
            return _("conceded")
        case EntrantStatus.TIMED_OUT:
            return _("ran out of time")
        case EntrantStatus.FORFEITED:
            return _("forfeited")
        case EntrantStatus.ABANDONED:
            return _("abandoned")
        case never:
            assert_never(never)


def player_text(player: Player, me: str) -> str:
    """A player in a list: `Ann`, `Bob (bot)`, `Ann (you)`."""
    return player_title(player) + player_marks(player, me)


def player_marks(player: Player, me: str, *, ghost: bool = False) -> str:
    """What a player is, as it stands after the name; empty for another person."""
    marks = [_("you")] if player.id == me else []
    if ghost:
        marks.append(_("ghost"))
    elif player.bot:
        marks.append(_("bot"))
    return f" ({', '.join(marks)})" if marks else ""


def entrant_text(entrant: Entrant, me: str) -> str:
    """The same of an entrant, who may be a ghost."""
    return player_title(entrant.player) + entrant_marks(entrant, me)


def entrant_marks(entrant: Entrant, me: str) -> str:
    """What an entrant is, as it stands after the name."""
    return player_marks(entrant.player, me, ghost=bool(entrant.ghost))


def standings_lines(standings: Sequence[Standing], me: str, ghosts: Collection[str] = ()) -> list[str]:
    """The standings, a line each, with the receipt of each time: when the win arrived, and what was taken off."""
    return [_standing_line(standing, me, ghost=standing.player.id in ghosts) for standing in standings]


def _standing_line(standing: Standing, me: str, *, ghost: bool) -> str:
    place = ordinal(standing.place)
    player = player_title(standing.player) + player_marks(standing.player, me, ghost=ghost)
    if standing.status is EntrantStatus.WON and standing.time is not None:
        line = _("{place}: {player} won in {time}").format(place=place, player=player, time=length_text(standing.time))
        if standing.raw is not None and standing.latency is not None:
            line += " " + _("(arrived after {raw}, less {latency} ms of latency)").format(
                raw=length_text(standing.raw), latency=standing.latency
            )
    else:
        line = _("{place}: {player} {ended} with {cards} home").format(
            place=place, player=player, ended=status_text(standing.status), cards=cards_counted(standing.home)
        )
    line += f", {moves_counted(standing.moves)}, "
    line += n_("{count} undo", "{count} undos", standing.undos).format(count=standing.undos)
    if standing.rating is not None:
        line += ", " + _("rating {before} to {after}").format(
            before=standing.rating.before, after=standing.rating.after
        )
    return line + "."


def entrants_lines(view: RaceView) -> list[str]:
    """Who is in the race, a line each: the final standings, or those of the moment."""
    if view.standings is not None:
        return standings_lines(view.standings, view.player, view.ghosts)
    entrants = list(view.entrants)
    if view.state is RaceState.RUNNING:
        entrants.sort(key=lambda entrant: (entrant.place or len(entrants) + 1, -entrant.home))
    return [_entrant_line(entrant, view) for entrant in entrants]


def _entrant_line(entrant: Entrant, view: RaceView) -> str:
    words = [status_text(entrant.status)]
    if entrant.player.id == view.host and view.state is RaceState.OPEN:
        words.append(_("host"))
    if view.dealt is not None:
        words.append(n_("{count} card home", "{count} cards home", entrant.home).format(count=entrant.home))
        words.append(moves_counted(entrant.moves))
    if entrant.time is not None:
        words.append(_("time {time}").format(time=length_text(entrant.time)))
    if not entrant.online:
        words.append(_("offline"))
    return f"{entrant_text(entrant, view.player)}: {', '.join(words)}."
