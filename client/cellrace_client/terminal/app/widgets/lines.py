"""Single lines around a screen's middle: what it is about, what was said last, which keys there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.widgets import Static

from cellrace_client.terminal.app.fitting import fitted, wrapped
from cellrace_client.terminal.speech import printable


class Key(NamedTuple):
    """A key that does something here: what stands on it, the action, and what that does."""

    shown: str
    action: str
    does: str


class Line(Static):
    """One line of text that is never taken for markup."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Line { width: 1fr; height: 1; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(Content(""), markup=False, id=id, classes=classes)
        self._shown: tuple[object, ...] = ()

    def _put(self, content: Content, shown: tuple[object, ...]) -> None:
        # Without a change there is nothing to draw.
        if shown != self._shown:
            self._shown = shown
            self.update(content, layout=False)


class HeadLine(Line):
    """What a screen is about: something on the left, something on the right."""

    DEFAULT_CSS = """
    HeadLine { background: $panel; color: $foreground; text-style: bold; }
    HeadLine.-trouble { background: $warning; color: $text; }
    """

    def put(self, left: str, right: str, *, trouble: bool = False) -> None:
        """Shows both; `trouble` in another colour."""
        width = max(0, self.size.width)
        room = width - cell_len(right) - 3
        self.set_class(trouble, "-trouble")
        text = f" {fitted(left, max(0, room))} {printable(right)} "
        self._put(Content(text), (text,))


class MessageLine(Line):
    """What was said last: a refusal, a hint, or what others do; in as many lines as it takes."""

    MOST = 3
    """More lines than any refusal has at 80 columns, in any language."""
    DEFAULT_CSS = """
    MessageLine { color: $foreground; padding: 0 1; }
    MessageLine.-refusal { color: $text-error; text-style: bold; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._said = ""

    def say(self, sentence: str, *, refusal: bool = False) -> None:
        """Says a sentence, with nothing in it that a terminal would obey."""
        self.set_class(refusal, "-refusal")
        self._said = printable(sentence)
        self._fit()

    def _fit(self) -> None:
        lines = wrapped(self._said, self.content_size.width, self.MOST) if self.content_size.width else [self._said]
        self.styles.height = len(lines)
        self._put(Content("\n".join(lines)), tuple(lines))

    def _on_resize(self, event: events.Resize) -> None:  # noqa: ARG002 - Textual's signature
        self._fit()

    @property
    def said(self) -> str:
        """What stands there."""
        return self._said


class KeyLine(Line):
    """The keys of a screen; a click does what the key does."""

    DEFAULT_CSS = """
    KeyLine { background: $panel; color: $text-muted; }
    """

    def __init__(self) -> None:
        super().__init__(id="keys")
        self._keys: Sequence[Key] = ()
        self._ends: list[int] = []

    def put(self, keys: Sequence[Key]) -> None:
        """Shows keys, as many as there is room for; always the last one, which is the way out."""
        width = self.size.width
        at = 1
        parts: list[Content] = [Content(" ")]
        self._keys, self._ends = _with_room(keys, width), []
        for key in self._keys:
            length = _length(key)
            parts.append(Content.styled(key.shown, "bold $text"))
            parts.append(Content(f" {key.does}  "))
            at += length
            self._ends.append(at)
        self._put(Content("").join(parts), (width, *keys))

    async def _on_click(self, event: events.Click) -> None:
        for key, end in zip(self._keys, self._ends, strict=False):
            if event.x < end:
                await self.screen.run_action(key.action)
                return


def _length(key: Key) -> int:
    return cell_len(key.shown) + 1 + cell_len(key.does) + 2


def _with_room(keys: Sequence[Key], width: int) -> list[Key]:
    """The first of the keys, and the last one, as many as a line has room for."""
    shown = list(keys)
    # One of the two cells after the last one may be missing.
    while len(shown) > 1 and 1 + sum(map(_length, shown)) > width + 1:
        del shown[-2]
    return shown
