"""Replays to be watched: of one's own last races, of any race by its id, from a file."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from cellrace.errors import CellraceError, ErrorCode, Refused
from cellrace_client.connection.fetching import player_of_name
from cellrace_client.language import _
from cellrace_client.replay_files import read_replay_file
from cellrace_client.terminal.app.screens.dialogs import LONGEST_PATH, TextQuestion
from cellrace_client.terminal.app.screens.picking import show_replay, show_written
from cellrace_client.terminal.app.screens.recent import RecentScreen
from cellrace_client.terminal.app.widgets.lines import Key
from cellrace_client.terminal.app.widgets.options import Options

_LONGEST_IDS = 80
"""Characters of a race's id and a player's, or a name."""


class ReplaysScreen(RecentScreen):
    """Where replays are found."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "file", show=False),
        Binding("i", "ids", show=False),
    ]

    def middle(self) -> Iterable[Widget]:
        """One's own races."""
        yield Options(id="races", markup=False)

    def head(self) -> tuple[str, str]:
        """What this is."""
        return _("Replays"), ""

    def more_keys(self) -> list[Key]:
        """Where else replays are."""
        return [Key("f", "file", _("a file")), Key("i", "ids", _("by race and player"))]

    def action_file(self) -> None:
        """Asks for a file."""
        self.app.push_screen(TextQuestion(_("The file of the replay:"), LONGEST_PATH), self._file_typed)

    def _file_typed(self, text: str | None) -> None:
        if text is not None:
            self.ask(self._open(Path(text).expanduser()))

    async def _open(self, path: Path) -> None:
        written = await asyncio.to_thread(read_replay_file, path)
        await show_written(self.desk, written)

    def action_ids(self) -> None:
        """Asks for the id of a race, and a player."""
        self.app.push_screen(TextQuestion(_("RACE PLAYER, by id or name:"), _LONGEST_IDS), self._ids_typed)

    def _ids_typed(self, text: str | None) -> None:
        if text is None:
            return
        race, _space, player = text.strip().partition(" ")
        self.ask(self._show(race, player.strip() or self.desk.me))

    async def _show(self, race: str, player: str) -> None:
        try:
            await show_replay(self.desk, race, player)
        except CellraceError as refused:
            if not isinstance(refused, Refused) or refused.code != ErrorCode.NOT_ENTRANT:
                raise
            found = await asyncio.to_thread(player_of_name, self.desk.connection.url, race, player)
            if found is None:
                raise
            await show_replay(self.desk, race, found)
