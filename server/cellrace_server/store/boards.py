"""Leaderboards and ratings on record: the lowest value is the best, equal values lie in the order of finishing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from cellrace_server.core.ratings import Skill
from cellrace_server.store import keys
from cellrace_server.store.library import Answer, Link


class Row(Struct, frozen=True):
    """One row: the value it is ranked by, the place, and what else it shows."""

    player: str
    value: int
    place: int
    info: RowInfo


class RowInfo(Struct, frozen=True, omit_defaults=True):
    """What a row shows beside its value."""

    race: str | None = None
    time: int | None = None
    home: int | None = None
    moves: int | None = None
    last: str | None = None
    """For streaks: the last day with a win."""


class Rows(Struct, frozen=True):
    """Some rows of a board, how many it has in all, and the asking player's own."""

    total: int
    rows: tuple[Row, ...]
    own: Row | None


class RatingStep(Struct, frozen=True):
    """What one race did to one player's skill."""

    player: str
    before: Skill
    after: Skill


class BoardStore:
    """Reads and writes boards."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def submit(
        self, board: str, player: str, value: int, order: int, bot: bool, info: RowInfo, *, replace: bool = False
    ) -> None:
        """A player's value, finished at `order` (ms); a worse one than known changes nothing, unless `replace`."""
        row = (player, value, order, int(bot), msgspec.json.encode(info), int(replace))
        await self._link.call("board_submit", [keys.board(board)], *row)

    async def remove(self, board: str, player: str) -> None:
        """Take a player off a board."""
        await self._link.call("board_remove", [keys.board(board)], player)

    async def rows(self, board: str, offset: int, limit: int, player: str, *, around: bool, bots: bool) -> Rows:
        """Rows of a board from `offset` on, or around a player's own."""
        answer: Answer = await self._link.call(
            "board_rows", [keys.board(board)], int(not bots), offset, limit, player, int(around)
        )
        total, _, rows, own = answer
        return Rows(total, tuple(map(_row, rows)), _row(own) if own else None)

    async def skills(self, variant: str, players: Sequence[str]) -> dict[str, Skill]:
        """What is known of the players' skills; of a new one, what is believed of everybody."""
        found: Answer = await self._link.command("HMGET", keys.board(keys.rating(variant)) + ":skills", *players)
        return {player: _skill(text) for player, text in zip(players, found, strict=True)}

    async def apply_ratings(
        self, variant: str, race: str, at: int, steps: Sequence[RatingStep], bots: Mapping[str, bool]
    ) -> tuple[RatingStep, ...] | None:
        """Apply a race once; what its first applier did is returned ever after. None: somebody's skill has moved on."""
        new = await self.skills(variant, [step.player for step in steps])
        changes = [
            part
            for step in steps
            for part in (
                step.player,
                "" if new[step.player].games == 0 else _skill_text(step.before),
                _skill_text(step.after),
                -step.after.rating,
                int(bots[step.player]),
            )
        ]
        packed = msgspec.msgpack.encode(steps)
        board = keys.board(keys.rating(variant))
        answer: Answer = await self._link.call("rating_apply", [board], race, at, packed, len(steps), *changes)
        if answer[0] == b"behind":
            return None
        return msgspec.msgpack.decode(answer[1], type=tuple[RatingStep, ...])


def _row(parts: Answer) -> Row:
    player, value, place, info = parts
    return Row(player.decode(), int(float(value)), int(place), msgspec.json.decode(info or b"{}", type=RowInfo))


def _skill_text(skill: Skill) -> str:
    return f"{skill.mu!r}:{skill.sigma!r}:{skill.games}"


def _skill(text: bytes | None) -> Skill:
    if text is None:
        return Skill()
    mu, sigma, games = text.decode().split(":")
    return Skill(float(mu), float(sigma), int(games))
