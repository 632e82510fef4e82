"""Everybody in a race as bars of cards home."""

from __future__ import annotations

from textual import events
from textual.content import Content
from textual.widgets import Static

from cellrace_client.race_view import RaceView
from cellrace_client.terminal.app.bars import entrant_lines
from cellrace_client.terminal.app.desk import Taste


class EntrantsView(Static):
    """The entrants of a race, drawn anew when something about them changes."""

    ALLOW_SELECT = False

    def __init__(self, taste: Taste, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(Content(""), markup=False, id=id)
        self._taste = taste
        self._view: RaceView | None = None
        self._shown: list[Content] = []

    def show(self, view: RaceView) -> None:
        """Shows how a race stands."""
        self._view = view
        self._draw()

    def _draw(self) -> None:
        size = self.content_size
        if self._view is None or not size.area:
            return
        lines = entrant_lines(self._view, size.width, size.height, letters=self._taste.letters)
        if lines != self._shown:
            self._shown = lines
            self.update(Content("\n").join(lines), layout=False)

    def _on_resize(self, event: events.Resize) -> None:  # noqa: ARG002 - Textual's signature
        self._draw()
