"""Lines below a board that is played back: how far it is, and sentences in one line each."""

from __future__ import annotations

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message

from cellrace_client.terminal.app.bars import bar
from cellrace_client.terminal.app.fitting import fitted
from cellrace_client.terminal.app.widgets.lines import Line


class Sentence(Line):
    """A sentence in one line; what has no room ends with `…`."""

    DEFAULT_CSS = """
    Sentence { padding: 0 1; }
    Sentence.-muted { color: $text-muted; }
    Sentence.-wrong { color: $text-error; text-style: bold; }
    """

    def put(self, text: str, style: str = "") -> None:
        """Shows it: plain, `muted` or `wrong`."""
        self.set_class(style == "muted", "-muted")
        self.set_class(style == "wrong", "-wrong")
        shown = fitted(text, max(0, self.content_size.width)).rstrip()
        self._put(Content(shown), (shown,))


class FilmBar(Line):
    """How much of something has been played, between what stands on its left and right; a click goes there."""

    DEFAULT_CSS = """
    FilmBar { padding: 0 1; background: $surface; }
    """

    class Wanted(Message):
        """A part of the bar was clicked, of which so much is to be done: above 0 up to 1."""

        def __init__(self, part: float) -> None:
            super().__init__()
            self.part = part

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._start, self._length = 0, 1

    def put(self, left: str, right: str, done: int, whole: int, *, letters: bool) -> None:
        """Shows how far it is."""
        self._start = cell_len(left) + 1
        self._length = max(4, self.content_size.width - self._start - 1 - cell_len(right))
        drawn = bar(done, whole, self._length, letters=letters)
        content = Content(f"{left} {drawn} {right}")
        self._put(content.stylize("$accent", self._start, self._start + self._length), (left, drawn, right))

    async def _on_click(self, event: events.Click) -> None:
        place = event.get_content_offset(self)
        if place is not None and self._start <= place.x < self._start + self._length:
            self.post_message(self.Wanted((place.x - self._start + 1) / self._length))
