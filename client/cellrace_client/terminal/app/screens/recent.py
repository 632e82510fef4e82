"""A list of somebody's last races, from which replays are watched and raced against."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList

from cellrace.messages import Player, PlayerAnswer, RaceState, Summary
from cellrace_client.language import _
from cellrace_client.terminal.app.desk import Desk
from cellrace_client.terminal.app.rows import race_row
from cellrace_client.terminal.app.screens.base import DeskScreen
from cellrace_client.terminal.app.screens.picking import offer, pick_player, show_replay
from cellrace_client.terminal.app.widgets.lines import Key
from cellrace_client.terminal.app.widgets.options import Options


class RecentScreen(DeskScreen):
    """A screen with a player's last races, `#races`, on it; without a `player` it is one's own."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "others", show=False),
        Binding("escape", "back", show=False),
    ]
    DEFAULT_CSS = """
    RecentScreen OptionList, RecentScreen OptionList:focus {
        height: 1fr; border: round $primary; background: $surface; padding: 0 1;
    }
    """

    def __init__(self, desk: Desk, player: str | None = None) -> None:
        super().__init__(desk)
        self.player_id = player or desk.me
        self.record: PlayerAnswer | None = None

    @property
    def _list(self) -> Options:
        return self.query_one("#races", Options)

    def on_mount(self) -> None:
        """Fills the screen."""
        self._list.border_title = Content(_("Last races"))
        self._list.focus()
        self.load()

    def on_screen_resume(self) -> None:
        """Asks again: a race may have ended meanwhile."""
        if self.record is not None:
            self.load()

    def load(self) -> None:
        """Asks for the player's record."""
        self.ask(self._ask_for_record())

    async def _ask_for_record(self) -> None:
        self.record = await self.desk.connection.player_record(self.player_id)
        self.look()

    def keys(self) -> list[Key]:
        """What can be done now."""
        keys = []
        if self.races:
            keys = [Key("Enter", "watch", _("replay")), Key("o", "others", _("all players"))]
        return [*keys, *self.more_keys(), Key("Esc", "back", _("back"))]

    def more_keys(self) -> list[Key]:
        """What else can be done here."""
        return []

    @property
    def races(self) -> list[Summary]:
        """The races of which there is a replay: those that are over."""
        record = self.record
        return [] if record is None else [race for race in record.recent if race.state is RaceState.OVER]

    def look_at_middle(self) -> None:
        """The races as they are known."""
        record, shown = self.record, self._list
        if record is None:
            return
        width = max(40, shown.content_size.width - 2)
        rows = [(race.race, Content(race_row(race, record.player, self.desk.me, width))) for race in self.races]
        shown.border_subtitle = Content("" if rows else _("no race has ended yet"))
        shown.fill(rows)

    def _marked(self) -> Summary | None:
        marked = self._list.highlighted_option
        return None if marked is None else next((race for race in self.races if race.race == marked.id), None)

    def _on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_watch()

    def action_watch(self) -> None:
        """Plays the game of this player back."""
        if (race := self._marked()) is not None:
            self.ask(show_replay(self.desk, race.race, self.player_id))

    def action_others(self) -> None:
        """Offers everybody who was in the race that is marked."""
        race = self._marked()
        if race is None:
            return
        players = [entrant.player for entrant in race.entrants if not entrant.ghost]

        def picked(player: Player) -> None:
            offer(self, player, race.race)

        pick_player(self, players, picked)

    def action_back(self) -> None:
        """Goes back to where one came from."""
        self.desk.guide.back()
