"""After the race: how everybody stands, with the receipt of each time, and a rematch on one key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from cellrace.messages import EntrantStatus, Player, RaceKind, RematchPush, Standing
from cellrace_client.events import Event, Happened
from cellrace_client.language import _
from cellrace_client.race_view import RaceView
from cellrace_client.terminal.app.fitting import fitted_name
from cellrace_client.terminal.app.screens.base import RaceScreen
from cellrace_client.terminal.app.screens.daily import DailyScreen
from cellrace_client.terminal.app.screens.picking import offer, pick_player, show_replay
from cellrace_client.terminal.app.widgets.lines import Key
from cellrace_client.terminal.race_lines import rematch_sentence
from cellrace_client.terminal.speech import length_text
from cellrace_client.terminal.standings_lines import player_marks, status_text
from cellrace_client.terminal.titles import player_title, race_title
from cellrace_client.verdict import VERDICT_SENTENCES, Verdict


class StandingsScreen(RaceScreen):
    """A race that is over."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r,enter", "rematch", show=False),
        Binding("w,b", "watch", show=False),
        Binding("v", "replay", show=False),
        Binding("p", "player", show=False),
        Binding("d", "daily", show=False),
        Binding("l,escape", "lobby", show=False),
    ]
    DEFAULT_CSS = """
    StandingsScreen VerticalScroll { height: 1fr; padding: 1 1; }
    StandingsScreen #table { width: 1fr; height: auto; }
    """

    def middle(self) -> Iterable[Widget]:
        """The table, which may be long."""
        with VerticalScroll():
            yield Static(markup=False, id="table")

    def head(self) -> tuple[str, str]:
        """The game and its deal."""
        view = self.view
        return (race_title(view), _("The race is over")) if view else ("", "")

    def keys(self) -> list[Key]:
        """What can be done now."""
        view = self.view
        keys = [
            Key("w", "watch", _("boards")),
            Key("v", "replay", _("replay")),
            Key("p", "player", _("player")),
            Key("l", "lobby", _("lobby")),
            Key("F1", "rules", _("rules")),
        ]
        if view is not None and view.kind is RaceKind.DAILY:
            keys.insert(0, Key("d", "daily", _("the day")))
        elif view is not None and view.me is not None:
            keys.insert(0, Key("r", "rematch", _("rematch")))
        return keys

    def hear(self, event: Event) -> None:
        """Hears what has happened; that there is a rematch stands with the standings."""
        if isinstance(event, Happened) and isinstance(event.push, RematchPush):
            self.look()
        else:
            super().hear(event)

    def look_at_middle(self) -> None:
        """The standings as they are."""
        view = self.view
        if view is None or view.standings is None:
            return
        width = max(40, self.size.width - 3)
        ranked = any(standing.rating is not None for standing in view.standings)
        lines = [_heading(width, ranked=ranked)]
        lines += [_line(standing, view, width, ranked=ranked) for standing in view.standings]
        lines.append(Content(""))
        lines.append(Content(_own_sentence(view)).stylize("bold"))
        if view.verdict is not Verdict.SECRET:
            style = "$text-muted" if view.verdict is Verdict.RIGHT else "bold $text-error"
            lines.append(Content(_(VERDICT_SENTENCES[view.verdict])).stylize(style))
        if view.me is not None and (told := rematch_sentence(view)) is not None:
            lines.append(Content(told).stylize("$text-muted"))
        if view.successor is not None and view.me is not None:
            lines.append(Content(_("A rematch is open: press r to enter it.")).stylize("$accent"))
        self.query_one("#table", Static).update(Content("\n").join(lines))

    def action_rematch(self) -> None:
        """Enters the race that follows, and is ready for it."""
        view = self.view
        if view is not None and view.me is not None and view.kind is RaceKind.RACE:
            self.ask(self._rematch())
        elif view is not None and view.kind is RaceKind.DAILY:
            self.action_daily()

    async def _rematch(self) -> None:
        view = await self.desk.connection.rematch(self.race)
        self.desk.guide.show_race(view.race)
        await self.desk.connection.ready(view.race)

    def action_watch(self) -> None:
        """Looks at everybody's boards."""
        self.desk.guide.watch_race(self.race)

    def _players(self) -> list[Player]:
        """Who has a game that can be looked at: oneself first, no ghosts."""
        view = self.view
        if view is None:
            return []
        players = [standing.player for standing in view.standings or () if standing.player.id not in view.ghosts]
        return sorted(players, key=lambda player: player.id != self.desk.me)

    def action_replay(self) -> None:
        """Plays a game back."""
        if players := self._players():
            pick_player(self, players, lambda player: self.ask(show_replay(self.desk, self.race, player.id)))

    def action_player(self) -> None:
        """Offers what can be done with a player, and with their game."""
        if players := self._players():
            pick_player(self, players, lambda player: offer(self, player, self.race))

    def action_daily(self) -> None:
        """Goes to the day whose challenge this was."""
        view = self.view
        if view is not None and view.kind is RaceKind.DAILY:
            self.desk.guide.enter(DailyScreen(self.desk, view.settings.variant))

    def action_lobby(self) -> None:
        """Goes to the lobby."""
        self.desk.guide.show_lobby()


_RIGHT = (15, 20, 5, 6, 6, 7)
"""The widths of result, receipt, cards home, moves, undos and rating; the name has what is left."""
_WIDEST_NAME = 32
"""With more room than any name needs, the eye would lose its line on the way to the result."""


def _row(width: int, place: str, name: tuple[str, str], *cells: str) -> str:
    room = max(6, min(_WIDEST_NAME, width - 3 - sum(_RIGHT[: len(cells)])))
    right = "".join(cell.rjust(size) for cell, size in zip(cells, _RIGHT, strict=False))
    return f"{place:<3}{fitted_name(*name, room)}{right}"


def _heading(width: int, *, ranked: bool) -> Content:
    cells = [_("Result"), _("Arrived − latency"), _("Home"), _("Moves"), _("Undos")]
    if ranked:
        cells.append(_("Rating"))
    return Content(_row(width, "", (_("Player"), ""), *cells)).stylize("$text-muted")


def _line(standing: Standing, view: RaceView, width: int, *, ranked: bool) -> Content:
    result, receipt = status_text(standing.status), ""
    if standing.status is EntrantStatus.WON and standing.time is not None:
        result = length_text(standing.time)
        if standing.raw is not None and standing.latency is not None:
            receipt = _("{raw} − {latency} ms").format(raw=length_text(standing.raw), latency=standing.latency)
    cells = [result, receipt, str(standing.home), str(standing.moves), str(standing.undos)]
    if ranked:
        rating = standing.rating
        cells.append("" if rating is None else f"{rating.after - rating.before:+d}")
    marks = player_marks(standing.player, view.player, ghost=standing.player.id in view.ghosts)
    name = player_title(standing.player), marks
    line = Content(_row(width, f"{standing.place}.", name, *cells))
    return line.stylize("bold $accent") if standing.player.id == view.player else line


def _own_sentence(view: RaceView) -> str:
    mine = next((line for line in view.standings or () if line.player.id == view.player), None)
    if mine is None:
        return ""
    if mine.status is not EntrantStatus.WON:
        return _("You: {how}.").format(how=status_text(mine.status))
    if mine.place == 1 and len(view.entrants) > 1:
        return _("You have won the race.")
    return _("You brought all cards home.")
