"""Frames, bars and marks in ASCII, for terminals that show nothing else."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_CORNERS = dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼╶╴╷╵╺╸╹╻┏┓┗┛", "+")
_LINES = dict.fromkeys("─━╌▔▁▂▃▄▅▆▇", "-") | dict.fromkeys("│┃▊▎▕▏", "|")
_MARKS = {"█": "#", "░": ".", "…": ".", "●": "*", "○": "o", "−": "-", "–": "-", "‹": "<", "›": ">"}
_ARROWS = {"←": "<", "→": ">", "↑": "^", "↓": "v"}
_PLAIN = str.maketrans(_CORNERS | _LINES | _MARKS | _ARROWS)


class PlainMarks(LineFilter):
    """Replaces each sign by one of the same width."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 - Textual's signature
        """A line without them."""
        return [Segment(text.translate(_PLAIN), style, control) for text, style, control in segments]
