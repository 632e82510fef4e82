"""A list of lines of which one is marked and can be chosen."""

from __future__ import annotations

from textual.widgets import OptionList


class Options(OptionList):
    """A list that can be paged through at any time, also before its lines are drawn and where none has room."""

    def action_page_up(self) -> None:
        """Marks the line a page before."""
        self._turn(-1)

    def action_page_down(self) -> None:
        """Marks the line a page after."""
        self._turn(1)

    def _turn(self, way: int) -> None:
        # Textual's own looks up where the lines are drawn: new ones, and those without room, are nowhere.
        if self.option_count:
            page = max(1, self.scrollable_content_region.height)
            self.highlighted = max(0, min(self.option_count - 1, (self.highlighted or 0) + way * page))
