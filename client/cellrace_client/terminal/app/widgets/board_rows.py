"""The rows of a leaderboard in a list, and one's own below them where it is on another page."""

from __future__ import annotations

from textual.content import Content

from cellrace.messages import BoardRow, Leaderboard
from cellrace_client.terminal.app.rows import board_row
from cellrace_client.terminal.app.widgets.options import Options


class BoardRows(Options):
    """A list of rows, of which one can be chosen."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, markup=False)
        self._rows: dict[str, BoardRow] = {}

    def put(self, found: Leaderboard | None, me: str) -> None:
        """Shows what was found."""
        rows = () if found is None else found.rows
        self._rows = {str(i): row for i, row in enumerate(rows)}
        own = None if found is None or found.you in rows else found.you
        if own is not None:
            self._rows["own"] = own
        board = "" if found is None else found.board
        width = max(20, self.content_size.width - 2)
        lines = [(name, board_row(board, row, me, width)) for name, row in self._rows.items()]
        if own is not None:
            lines.insert(len(rows), ("gap", Content("…")))
        self.fill(lines)

    def row_of(self, name: str | None) -> BoardRow | None:
        """The row of an option, if it is one."""
        return self._rows.get(name or "")
