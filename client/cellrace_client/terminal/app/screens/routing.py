"""Which screen a race asks for."""

from __future__ import annotations

from cellrace.messages import RaceState
from cellrace_client.race_view import DONE, RaceView
from cellrace_client.terminal.app.screens.play import PlayScreen
from cellrace_client.terminal.app.screens.standings import StandingsScreen
from cellrace_client.terminal.app.screens.waiting import WaitingScreen
from cellrace_client.terminal.app.screens.watch import WatchScreen


def screen_for(view: RaceView) -> type[WaitingScreen | PlayScreen | StandingsScreen | WatchScreen]:
    """The screen on which a race is to be seen now."""
    me = view.me
    if me is None:
        return WatchScreen
    match view.state:
        case RaceState.OPEN | RaceState.COUNTDOWN:
            return WaitingScreen
        case RaceState.RUNNING if view.game is not None:
            return PlayScreen
        case RaceState.RUNNING:
            return WaitingScreen if me.status not in DONE else WatchScreen
        case RaceState.OVER | RaceState.CANCELLED:
            return StandingsScreen
