"""Boards side by side: for spectators, and for those whose own game has ended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.timer import Timer
from textual.widget import Widget

from cellrace.messages import Entrant, MovedPush, ProgressPush, RaceState, Spectate
from cellrace_client.events import Event, Happened
from cellrace_client.language import _
from cellrace_client.race_view import RaceView
from cellrace_client.terminal.app.bars import in_order
from cellrace_client.terminal.app.board_layout import tightest
from cellrace_client.terminal.app.clock import clock_text, next_second
from cellrace_client.terminal.app.desk import Desk
from cellrace_client.terminal.app.screens.base import RaceScreen
from cellrace_client.terminal.app.watched import WatchedGames
from cellrace_client.terminal.app.widgets.lines import Key
from cellrace_client.terminal.app.widgets.seat import Seat
from cellrace_client.terminal.speech import whole_seconds
from cellrace_client.terminal.titles import race_title

MOST = 6
"""So many boards side by side at most."""
DRAWN_EVERY = 0.1
"""Seconds between two drawings of the boards while players move."""


class WatchScreen(RaceScreen):
    """The boards of a race."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,pageup", "page(-1)", show=False),
        Binding("right,pagedown,space", "page(1)", show=False),
        Binding("escape", "back", show=False),
    ]
    DEFAULT_CSS = """
    WatchScreen #boards { height: 1fr; }
    """

    def __init__(self, desk: Desk, race: str) -> None:
        super().__init__(desk, race)
        self._games = WatchedGames()
        self._page = 0
        self._ticking: Timer | None = None
        self._due: Timer | None = None

    def middle(self) -> Iterable[Widget]:
        """As many seats as there can be; those that are not needed are hidden."""
        with Horizontal(id="boards"):
            for i in range(MOST):
                yield Seat(self.desk.taste, id=f"seat{i}")

    def head(self) -> tuple[str, str]:
        """The game, which of the boards these are, and the clock."""
        view = self.view
        if view is None:
            return "", ""
        right = [self._boards_text(view), self._clock(view)]
        return f"{_('Watching')}: {race_title(view)}", "   ".join(filter(None, right))

    def _boards_text(self, view: RaceView) -> str:
        """Which boards of how many are shown; nothing where all are."""
        count, boards = len(view.entrants), self._places(view)
        if len(boards) == count:
            return ""
        if len(boards) == 1:
            return _("board {number} of {count}").format(number=boards[0] + 1, count=count)
        return _("boards {first}–{last} of {count}").format(first=boards[0] + 1, last=boards[-1] + 1, count=count)

    def _clock(self, view: RaceView) -> str:
        match view.state:
            case RaceState.OPEN:
                return _("not started")
            case RaceState.COUNTDOWN:
                return _("starts in {seconds} s").format(seconds=whole_seconds((view.start_at or 0) - self.desk.now()))
            case RaceState.RUNNING:
                return clock_text(self.desk.now() - (view.start_at or 0))
            case RaceState.OVER:
                return _("over")
            case RaceState.CANCELLED:
                return _("cancelled")

    def keys(self) -> list[Key]:
        """What can be done now."""
        keys = [Key("Esc", "back", _("back")), Key("F1", "rules", _("rules")), Key("F3", "app.next_deck", _("deck"))]
        view = self.view
        if view is not None and len(view.entrants) > self._seats(view):
            keys.insert(0, Key("← →", "page(1)", _("other boards")))
        return keys

    def _seats(self, view: RaceView) -> int:
        need = tightest(view.variant) if view.variant else self.size.width
        return max(1, min(MOST, self.size.width // need, len(view.entrants)))

    def _places(self, view: RaceView) -> range:
        """Which entrants are shown on this page."""
        seats, count = self._seats(view), len(view.entrants)
        self._page %= max(1, -(-count // seats))
        start = min(self._page * seats, max(0, count - seats))
        return range(start, min(start + seats, count))

    def _shown(self, view: RaceView) -> list[Entrant]:
        """Who is shown on this page, in the order of joining: boards that change places cannot be watched."""
        return [view.entrants[place] for place in self._places(view)]

    def look_at_middle(self) -> None:
        """The boards as they are now."""
        view = self.view
        if view is None:
            return
        shown = self._shown(view)
        for i, seat in enumerate(self.query(Seat)):
            seat.display = i < len(shown)
        self._draw_boards()
        self._tick(view)

    def _draw_boards(self) -> None:
        self._due = None
        view = self.view
        if view is None or not self.is_here:
            return
        places = {entrant.player.id: i + 1 for i, entrant in enumerate(in_order(view))}
        for seat, entrant in zip(self.query(Seat), self._shown(view), strict=False):
            seat.show(entrant, view, places[entrant.player.id], self._games.game(view, entrant.player.id))

    def _tick(self, view: RaceView) -> None:
        if self._ticking is not None:
            self._ticking.stop()
            self._ticking = None
        if view.state in (RaceState.RUNNING, RaceState.COUNTDOWN) and view.start_at is not None:
            self._ticking = self.set_timer(next_second(self.desk.now() - view.start_at), self.look)

    def hear(self, event: Event) -> None:
        """Boards are drawn now and then, however many moves come in; everything else at once."""
        if not isinstance(event, Happened) or not isinstance(event.push, ProgressPush | MovedPush):
            super().hear(event)
        elif self.is_about(event) and self._due is None and self.is_here:
            self._due = self.set_timer(DRAWN_EVERY, self._draw_boards)

    def opening_words(self, view: RaceView) -> str:
        """When a spectator sees moves."""
        if view.me is not None or view.ended:
            return ""
        match view.settings.spectate:
            case Spectate.DELAYED:
                return _("Moves are shown 60 s late; the bars are live.")
            case Spectate.AFTER:
                return _("Moves are shown after the race; the bars are live.")
            case Spectate.LIVE:
                return ""

    def on_mount(self) -> None:
        """Fills the screen."""
        if (view := self.view) is not None:
            # Nothing can be said before the screen is there.
            self.call_after_refresh(self.say, self.opening_words(view))
            if view.lacks_logs:
                self.ask(self.desk.connection.with_logs(self.race))

    def action_page(self, by: int) -> None:
        """Shows other boards."""
        self._page += by
        self.look()

    def action_back(self) -> None:
        """Goes back to one's own board or to the standings; a spectator to the lobby."""
        self.desk.guide.stop_watching(self.race)
