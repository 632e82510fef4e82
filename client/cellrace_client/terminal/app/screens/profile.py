"""A player: what they have done in each game, and their last races."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from cellrace_client.language import _
from cellrace_client.terminal.app.rows import record_lines
from cellrace_client.terminal.app.screens.boards import BoardsScreen
from cellrace_client.terminal.app.screens.recent import RecentScreen
from cellrace_client.terminal.app.widgets.lines import Key
from cellrace_client.terminal.app.widgets.options import Options
from cellrace_client.terminal.competing import since_line


class ProfileScreen(RecentScreen):
    """The profile of a player, one's own unless another one is named."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("l", "boards", show=False)]
    DEFAULT_CSS = """
    ProfileScreen #games { width: 1fr; height: auto; max-height: 13; padding: 0 2; margin: 1 0 0 0; }
    """

    def middle(self) -> Iterable[Widget]:
        """The games, then the races."""
        yield Static(markup=False, id="games")
        yield Options(id="races", markup=False)

    def head(self) -> tuple[str, str]:
        """Who it is."""
        record = self.record
        return (_("Profile"), "") if record is None else (since_line(record).rstrip("."), "")

    def more_keys(self) -> list[Key]:
        """The leaderboards."""
        return [Key("l", "boards", _("leaderboards"))]

    def look_at_middle(self) -> None:
        """What is known of the player."""
        record = self.record
        if record is not None:
            lines = record_lines(record, max(60, self.size.width - 4))
            self.query_one("#games", Static).update(Content("\n").join(lines))
        super().look_at_middle()

    def action_boards(self) -> None:
        """Goes to the leaderboards."""
        self.desk.guide.enter(BoardsScreen(self.desk))
