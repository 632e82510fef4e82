"""Entrants as bars of cards home, for a column beside the board. Pure."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content

from cellrace.messages import Entrant, EntrantStatus, RaceState
from cellrace_client.language import _, n_
from cellrace_client.race_view import DONE, RaceView
from cellrace_client.terminal.app.fitting import fitted_name
from cellrace_client.terminal.counts import moves_counted
from cellrace_client.terminal.speech import length_text
from cellrace_client.terminal.standings_lines import entrant_marks, status_text

_FULL = "█"
_REST = "░"


def bar(home: int, pack: int, width: int, *, letters: bool = False) -> str:
    """Cards home as a bar: full only when all are home, empty only when none is."""
    full = min(width, width * home // max(1, pack))
    if home and not full:
        full = 1
    return ("#" if letters else _FULL) * full + ("." if letters else _REST) * (width - full)


def in_order(view: RaceView) -> list[Entrant]:
    """The entrants as they stand: those who have won by place, then by cards home."""
    last = len(view.entrants) + 1
    return sorted(
        view.entrants,
        key=lambda entrant: (
            entrant.place if entrant.place and entrant.status is EntrantStatus.WON else last,
            entrant.status in (EntrantStatus.FORFEITED, EntrantStatus.ABANDONED),
            -entrant.home,
        ),
    )


def entrant_lines(view: RaceView, width: int, height: int, *, letters: bool = False) -> list[Content]:
    """The entrants in so many lines: two each with room for all of them, else one, else as many as can be seen."""
    entrants = in_order(view)
    pack = view.variant.pack_size if view.variant else 52
    lines: list[Content] = []
    two = len(entrants) * 3 - 1 <= height
    tight = len(entrants) * 2 <= height
    if two or tight:
        for i, entrant in enumerate(entrants):
            if two and i:
                lines.append(Content(" " * width))
            lines += _two_lines(entrant, view, pack, width, letters=letters)
        return lines
    shown = entrants if len(entrants) <= height else entrants[: height - 1]
    if view.me is not None and view.me not in shown and len(shown) > 1:
        # Oneself is always there.
        shown = [*shown[:-1], view.me]
    lines = [_one_line(entrant, view, pack, width, letters=letters) for entrant in shown]
    left = len(entrants) - len(shown)
    if left:
        lines.append(Content(n_("… and {count} more", "… and {count} more", left).format(count=left)))
    return lines


def _two_lines(entrant: Entrant, view: RaceView, pack: int, width: int, *, letters: bool) -> list[Content]:
    count = f"{entrant.home}/{pack}"
    right = count if entrant.online or entrant.status in DONE else f"{_('offline')} {count}"
    name = fitted_name(entrant.player.name, entrant_marks(entrant, view.player), width - len(right) - 1)
    first = Content(f"{name} {right}").stylize("bold" if entrant.player.id == view.player else "")
    if not entrant.online and entrant.status not in DONE:
        first = first.stylize("$text-warning", len(name) + 1, len(name) + 1 + len(_("offline")))
    if entrant.status is EntrantStatus.WON and entrant.time is not None:
        end = f"{_('won')} {length_text(entrant.time)}"
    elif entrant.status in DONE:
        end = status_text(entrant.status)
    else:
        end = moves_counted(entrant.moves)
    end = f" {end:>9}"
    drawn = bar(entrant.home, pack, max(1, width - cell_len(end)), letters=letters)
    return [first, Content(drawn + end).stylize(_bar_style(entrant, view), 0, len(drawn))]


def _one_line(entrant: Entrant, view: RaceView, pack: int, width: int, *, letters: bool) -> Content:
    mark = " " if entrant.online or entrant.status in DONE else "?"
    if entrant.status is EntrantStatus.WON:
        mark = "*"
    elif entrant.status in DONE:
        mark = "x"
    length = max(4, width // 4)
    count = f"{entrant.home:>2}"
    drawn = bar(entrant.home, pack, length, letters=letters)
    name = fitted_name(entrant.player.name, entrant_marks(entrant, view.player), width - length - len(count) - 4)
    line = Content(f"{name} {drawn} {count} {mark}").stylize(_bar_style(entrant, view), len(name) + 1, -4)
    return line.stylize("bold") if entrant.player.id == view.player else line


def _bar_style(entrant: Entrant, view: RaceView) -> str:
    if entrant.player.id == view.player:
        return "$accent"
    if entrant.status not in DONE and (entrant.online or view.state is not RaceState.RUNNING):
        return "$primary"
    return "$success" if entrant.status is EntrantStatus.WON else "$text-muted"
