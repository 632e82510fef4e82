"""The lines of the lobby's lists."""

from __future__ import annotations

from rich.cells import cell_len

from cellrace.messages import EntrantStatus, RaceState, Summary
from cellrace_client.language import _
from cellrace_client.race_view import seated
from cellrace_client.terminal.app.fitting import fitted
from cellrace_client.terminal.titles import game_title

_START = 36
_NAMES = 24
_SHORT_GAME = 14
"""Cells of game, seats and state, those that names need beside them, and those of a game where there are fewer."""


def strength_text(strength: int) -> str:
    """A bot's strength in words."""
    return {
        1: _("a beginner"),
        2: _("an average player"),
        3: _("a good player"),
        4: _("a machine"),
        5: _("the fastest"),
    }[strength]


def race_line(race: Summary, width: int) -> str:
    """A race: the game, the seats taken, where it stands and who is there; in two lines where one is too short.

    With still less room in one line again, with who is in it or how it stands.
    """
    names = ", ".join(entrant.player.name for entrant in race.entrants if entrant.status is not EntrantStatus.FORFEITED)
    seats = f"{seated(race.entrants)}/{race.seats}"
    state = {
        RaceState.OPEN: _("open"),
        RaceState.COUNTDOWN: _("starting"),
        RaceState.RUNNING: _("running"),
    }.get(race.state, str(race.state))
    if width < _START:
        start = f"{fitted(game_title(race.variant), _SHORT_GAME)} {seats:>5} "
        return start + fitted(names if race.state is RaceState.OPEN else state, width - cell_len(start))
    start = f"{fitted(game_title(race.variant), 17)} {seats:>7} {fitted(state, 9)}"
    room = width - _START
    return f"{start} {fitted(names, room)}" if room >= _NAMES else f"{start}\n  {fitted(names, width - 2)}"
