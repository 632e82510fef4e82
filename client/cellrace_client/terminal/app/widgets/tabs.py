"""Several views of one screen in a line, of which one is shown."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message

from cellrace_client.terminal.app.widgets.lines import Line

_AROUND = 2
"""Cells of the brackets around a name."""


class Tabs(Line):
    """The names of the views; a click chooses one."""

    DEFAULT_CSS = """
    Tabs { padding: 0 1; color: $text-muted; }
    """

    class Chosen(Message):
        """A view was clicked."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._names: Sequence[str] = ()

    def put(self, names: Sequence[str], chosen: int) -> None:
        """Shows the names, and which is chosen: between brackets too, for those who see no colours."""
        self._names = names
        parts = []
        for i, name in enumerate(names):
            text = f"[{name}]" if i == chosen else f" {name} "
            parts.append(Content.styled(text, "bold $accent") if i == chosen else Content(text))
        self._put(Content("").join(parts), (tuple(names), chosen))

    async def _on_click(self, event: events.Click) -> None:
        end = 1
        for i, name in enumerate(self._names):
            end += cell_len(name) + _AROUND
            if event.x < end:
                self.post_message(self.Chosen(i))
                return
