"""Boxes over whatever is shown: as wide as what they tell, never wider than the window, and read on where it is low."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ScreenResultType

from cellrace_client.terminal.app.screens.filled import FilledModal

BOX = """
    width: auto; min-width: 30; max-width: 95%; height: auto; max-height: 100%; border: round $primary;
    background: $surface; padding: 0 1; scrollbar-size-vertical: 1;
"""
"""How a box looks; beside what says how wide it is."""


class BoxedModal(FilledModal[ScreenResultType]):
    """A box with text in it, a scrolling one of Textual's, that pages turn and the wheel moves."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pagedown", "turn(1)", show=False, priority=True),
        Binding("pageup", "turn(-1)", show=False, priority=True),
    ]

    def action_turn(self, way: int) -> None:
        """Reads on, or back."""
        box = self.query_one(VerticalScroll)
        box.scroll_relative(y=way * max(1, box.scrollable_content_region.height - 1), animate=False)
