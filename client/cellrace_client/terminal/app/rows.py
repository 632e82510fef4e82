"""Days, rows of leaderboards, records and races of players as lines in the width that there is. Pure."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content

from cellrace.messages import BoardRow, Daily, EntrantStatus, GameRecord, PlayerAnswer, Summary
from cellrace_client.language import _
from cellrace_client.terminal.app.fitting import fitted, fitted_name
from cellrace_client.terminal.competing import value_text
from cellrace_client.terminal.speech import day_text, length_text, printable
from cellrace_client.terminal.standings_lines import entrant_text, player_marks, status_text
from cellrace_client.terminal.titles import game_title

_LEAST_NAME = 12
"""A name has at least so much room; what it is ranked by is shortened before."""


def aligned(left: str, right: str, width: int, marks: str = "") -> str:
    """Something on the left and something on the right of a line; the left one is shortened, but for its marks."""
    right = printable(right)
    room = max(_LEAST_NAME, width - cell_len(right) - 1)
    if room + 1 + cell_len(right) > width:
        right = fitted(right, width - room - 1)
    return f"{fitted_name(left, marks, room)} {right}"


def day_row(variant: str, daily: Daily | None, width: int) -> str:
    """A game in the list of a day's challenges, with how one's own attempt stands."""
    return aligned(game_title(variant), "" if daily is None else attempt_word(daily), width)


def attempt_word(daily: Daily) -> str:
    """How one's own attempt stands, in a word or two."""
    you = daily.you
    if you is None:
        return _("not begun")
    if you.status is EntrantStatus.WON and you.time is not None:
        return length_text(you.time)
    return status_text(you.status)


def board_row(board: str, row: BoardRow, me: str, width: int) -> Content:
    """A row of a leaderboard: place, player, what it is ranked by; the moves of a game too where there is room."""
    place = f"{row.place}."
    value = value_text(board, row)
    if row.time is not None and width < 44:
        value = length_text(row.time)
    line = f"{place:>4} " + aligned(row.player.name, value, width - 5, player_marks(row.player, me))
    return Content(line).stylize("bold $accent") if row.player.id == me else Content(line)


_COLUMNS = (8, 10, 8, 9, 13, 9)
"""The widths of games, wins, the streak now, the longest, the fastest win and the rating; the game has what is left."""


def record_lines(player: PlayerAnswer, width: int) -> list[Content]:
    """What a player has done: a line for each game under a heading."""
    if not player.games:
        return [Content(_("No game has been finished yet."))]
    heading = _record_line(
        width, _("Game"), _("Games"), _("Wins"), _("Streak"), _("Longest"), _("Fastest"), _("Rating")
    )
    lines = [Content(heading).stylize("$text-muted")]
    for variant, record in player.games.items():
        lines.append(Content(_record_line(width, game_title(variant), *_record_cells(record))))
    if any(record.won and record.best_time is None for record in player.games.values()):
        lines.append(Content(_("Fastest wins and ratings are of ranked races.")).stylize("$text-muted"))
    return lines


def _record_cells(record: GameRecord) -> tuple[str, ...]:
    share = f" ({100 * record.won // record.played} %)" if record.played else ""
    return (
        str(record.played),
        f"{record.won}{share}",
        str(record.streak),
        str(record.best_streak),
        "" if record.best_time is None else length_text(record.best_time),
        "" if record.rating is None else str(record.rating),
    )


def _record_line(width: int, game: str, *cells: str) -> str:
    room = max(6, width - sum(_COLUMNS))
    return fitted(game, room) + "".join(
        f" {fitted(cell, size - 1).rstrip():>{size - 1}}" for cell, size in zip(cells, _COLUMNS, strict=True)
    )


_DATE, _GAME, _HOW = 10, 15, 20
_ROOMY = 100
"""From this width on every game's name and every ending has room, in any language."""


def race_row(summary: Summary, player: str, me: str, width: int) -> str:
    """A race of a player: the day, the game, how it ended for the player, and against whom it was."""
    entrant = next((one for one in summary.entrants if one.player.id == player), None)
    day = day_text(summary.created_at)
    how = "" if entrant is None else status_text(entrant.status)
    if entrant is not None and entrant.time is not None:
        how = length_text(entrant.time)
    if entrant is not None and entrant.place is not None and len(summary.entrants) > 1:
        how = _("{place} of {count}: {how}").format(place=entrant.place, count=len(summary.entrants), how=how)
    others = ", ".join(entrant_text(one, me) for one in summary.entrants if one.player.id != player)
    more = 8 if width >= _ROOMY else 0
    start = f"{day:<{_DATE}}  {fitted(game_title(summary.variant), _GAME + more)}  {fitted(how, _HOW + more)}  "
    return start + fitted(others or _("alone"), width - cell_len(start))
