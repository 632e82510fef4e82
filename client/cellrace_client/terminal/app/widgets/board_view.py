"""A board on the screen: drawn line by line, and only the lines that have changed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from cellrace.board import Board
from cellrace_client.terminal.app.board_layout import BoardLayout, Hit, lay_out
from cellrace_client.terminal.app.board_painter import NO_MARKS, BoardPainter, Marks
from cellrace_client.terminal.app.desk import Taste
from cellrace_client.terminal.app.steps import pause


class BoardView(Widget):
    """Shows one board, and tells where the mouse was pressed on it."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    BoardView { width: 1fr; height: 1fr; }
    """

    class Pressed(Message):
        """A button went down on a pile."""

        def __init__(self, hit: Hit) -> None:
            super().__init__()
            self.hit = hit

    class Released(Message):
        """A button that went down on a pile went up elsewhere: on another one, or beside all of them."""

        def __init__(self, hit: Hit | None) -> None:
            super().__init__()
            self.hit = hit

    class DoubleClicked(Message):
        """A pile was clicked twice."""

        def __init__(self, hit: Hit) -> None:
            super().__init__()
            self.hit = hit

    def __init__(self, taste: Taste, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self._taste = taste
        self._board: Board | None = None
        self._marks = NO_MARKS
        self._lines: list[list[Segment]] = []
        self._pressed: Hit | None = None
        self._between: list[Board] = []
        self._timer: Timer | None = None

    @property
    def stepping(self) -> bool:
        """Whether the last move is still shown step by step."""
        return self._timer is not None

    def show(self, board: Board | None, marks: Marks = NO_MARKS, through: Sequence[Board] = ()) -> None:
        """Shows a board; `through` boards that lead to it, one after the other, until anything else is shown."""
        self.finish_steps()
        self._board, self._marks = board, marks
        if len(through) > 1:
            self._between = list(through)
            self._timer = self.set_interval(pause(len(through)), self._next_step)
            self._next_step()
        else:
            self._paint(board, marks)

    def finish_steps(self) -> None:
        """Shows the end of the last move at once."""
        if self._timer is None:
            return
        self._timer.stop()
        self._timer = None
        self._between = []
        self._paint(self._board, self._marks)

    def _next_step(self) -> None:
        board = self._between.pop(0)
        if not self._between:
            self.finish_steps()
        else:
            self._paint(board, NO_MARKS)

    def repaint(self) -> None:
        """Paints anew: the deck is another one."""
        self._lines = []
        self._paint(self._board, self._marks)

    def _layout(self, board: Board) -> BoardLayout:
        return lay_out(board, self.size.width, self.size.height)

    def _paint(self, board: Board | None, marks: Marks) -> None:
        if not self.size.area:
            return
        lines: list[list[Segment]] = []
        if board is not None:
            taste = self._taste
            painter = BoardPainter(board, self._layout(board), taste.deck, marks, letters=taste.letters)
            lines = painter.lines()
        width = self.size.width
        before, self._lines = self._lines, lines
        if len(before) != len(lines):
            self.refresh()
            return
        changed = [Region(0, y, width, 1) for y, line in enumerate(lines) if line != before[y]]
        if changed:
            self.refresh(*changed)

    def render_line(self, y: int) -> Strip:
        """A line of the board."""
        if y < len(self._lines):
            return Strip(self._lines[y], self.size.width)
        return Strip.blank(self.size.width, self._taste.deck.felt)

    def _on_resize(self, event: events.Resize) -> None:  # noqa: ARG002 - Textual's signature
        self.finish_steps()
        self.repaint()

    def _hit(self, event: events.MouseEvent) -> Hit | None:
        if self._board is None:
            return None
        return self._layout(self._board).hit(self._board, event.x, event.y)

    async def _on_mouse_down(self, event: events.MouseDown) -> None:
        self._pressed = self._hit(event)
        if self._pressed is not None and event.button == 1:
            self.capture_mouse()
            self.post_message(self.Pressed(self._pressed))

    async def _on_mouse_up(self, event: events.MouseUp) -> None:
        self.release_mouse()
        pressed, self._pressed = self._pressed, None
        hit = self._hit(event)
        if pressed is not None and (hit is None or hit.pile != pressed.pile):
            self.post_message(self.Released(hit))

    async def _on_click(self, event: events.Click) -> None:
        hit = self._hit(event)
        if hit is not None and event.chain == 2:
            self.post_message(self.DoubleClicked(hit))
