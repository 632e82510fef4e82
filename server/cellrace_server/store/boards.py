"""Leaderboards on record: the lowest value is the best, equal values lie in the order of finishing."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec
from msgspec import Struct

from cellrace_server.core.effects import RowInfo, Score, is_deal_board
from cellrace_server.store import keys
from cellrace_server.store.library import Answer, Link, versioned

DEAL_BOARDS_KEPT = 365 * 24 * 3_600_000
"""How long the board of a deal is kept after its last new row, ms: nearly every race leaves one."""

AT_ONCE = 500
"""Of many boards so many are written in one go, so that others get their turn in between."""


class Row(Struct, frozen=True):
    """One row: the value it is ranked by, the place, and what else it shows."""

    player: str
    value: int
    place: int
    info: RowInfo


class Rule(StrEnum):
    """When a value takes the place of the one that a player has on a board."""

    BETTER = "better"
    """When it is lower, or as low and finished before."""
    NEWER = "newer"
    """When it is from later, or from then and lower: for what changes from day to day."""
    ANY = "any"


class Rows(Struct, frozen=True):
    """Some rows of a board, how many it has in all, and the asking player's own."""

    total: int
    rows: tuple[Row, ...]
    own: Row | None


class BoardStore:
    """Reads and writes boards."""

    def __init__(self, link: Link, deal_boards_kept: int = DEAL_BOARDS_KEPT) -> None:
        self._link = link
        self._deal_boards_kept = deal_boards_kept

    async def submit(self, score: Score, rule: Rule = Rule.BETTER, until: int | None = None) -> None:
        """A player's value, where the rule lets it take the place of the one that is known.

        With `until` (ms) the row goes then, by `prune`.
        """
        player, info = score.player, msgspec.json.encode(score.info)
        row = (player.id, score.value, score.order, int(player.bot), info, rule, "" if until is None else until)
        lives = self._deal_boards_kept if is_deal_board(score.board) else ""
        await self._link.call("board_submit", [keys.board(score.board)], *row, lives)

    async def remove(self, board: str, player: str) -> bool:
        """Take a player off a board; whether there was such a row."""
        return bool(await self._link.call("board_remove", [keys.board(board)], player))

    async def mark(self, boards: Sequence[str], player: str) -> None:
        """Take a player who is a bot out from among people on these boards; the rows stay."""
        calls = [("FCALL", versioned("board_mark"), 1, keys.board(board), player) for board in boards]
        for first in range(0, len(calls), AT_ONCE):
            await self._link.commands(calls[first : first + AT_ONCE])

    async def prune(self, board: str, now: int) -> None:
        """Take those rows off a board whose time is over."""
        await self._link.call("board_prune", [keys.board(board)], now)

    async def rows(self, board: str, offset: int, limit: int, player: str, *, around: bool, bots: bool) -> Rows:
        """Rows of a board from `offset` on, or around a player's own."""
        answer: Answer = await self._link.call(
            "board_rows", [keys.board(board)], int(not bots), offset, limit, player, int(around)
        )
        total, _, rows, own = answer
        return Rows(total, tuple(map(_row, rows)), _row(own) if own else None)


def _row(parts: Answer) -> Row:
    player, value, place, info = parts
    return Row(player.decode(), int(float(value)), int(place), msgspec.json.decode(info or b"{}", type=RowInfo))
