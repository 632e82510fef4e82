"""A list of lines of which one is marked and can be chosen."""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option


class Options(OptionList):
    """A list that can be paged through at any time, also before its lines are drawn and where none has room."""

    def fill(self, lines: Iterable[tuple[str, Content]]) -> None:
        """Shows lines by their ids, where they are others than before, and keeps what is marked."""
        # Of those that a server names twice, one.
        wanted = list(dict(lines).items())
        if [(option.id, option.prompt) for option in self.options] == wanted:
            return
        marked = self.get_option_at_index(self.highlighted).id if self.highlighted is not None else None
        self.set_options(Option(content, id=name) for name, content in wanted)
        names = [name for name, _content in wanted]
        if names:
            self.highlighted = names.index(marked) if marked in names else 0

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
