"""Ratings on record: what is believed of each player, and what each race did to it, applied once (NODES, 20)."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager

import msgspec
from msgspec import Struct

from cellrace_server.core.effects import rating_board
from cellrace_server.core.ratings import Applied, RatingStep, Skill
from cellrace_server.core.standins import is_stand_in
from cellrace_server.store import keys
from cellrace_server.store.library import Answer, Argument, Link

PATIENCE = 1.0
"""For how many seconds a race waits for its turn to change ratings."""


class RatingNow(Struct, frozen=True):
    """A player's skill, and since when the rating is what it is, ms."""

    skill: Skill
    at: int
    bot: bool


class Ledger(Struct, frozen=True):
    """All ratings of a game: the races in the order in which they were applied, and the skills as they stand."""

    number: int
    races: Mapping[str, Applied]
    numbers: Mapping[str, int]
    skills: Mapping[str, Skill]


class RatingStore:
    """Reads and writes ratings."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @asynccontextmanager
    async def turn(self, variant: str) -> AsyncIterator[None]:
        """The turn of one race among those of this node that have come into each other's way.

        It comes soon, or is not waited for: behind a store that does not answer nobody should stand in a row.
        """
        turn = self._turns[variant]
        try:
            async with asyncio.timeout(PATIENCE):
                await turn.acquire()
        except TimeoutError:
            yield
            return
        try:
            yield
        finally:
            turn.release()

    async def skills(self, variant: str, players: Sequence[str]) -> dict[str, Skill]:
        """What is known of the players' skills; of a new one, what is believed of everybody."""
        found: Answer = await self._link.command("HMGET", keys.skills(rating_board(variant)), *players)
        return {player: Skill() if text is None else _skill(text) for player, text in zip(players, found, strict=True)}

    async def apply(self, variant: str, race: str, applied: Applied) -> tuple[RatingStep, ...] | None:
        """Apply a race once; what its first applier did is returned ever after. None: somebody's skill has moved on."""
        changes = [
            part
            for step in applied.steps
            for part in (
                step.player,
                _skill_text(step.before) if step.before.games else "",
                _skill_text(step.after),
                _value(step.player, step.after),
                int(step.bot),
            )
        ]
        packed = msgspec.msgpack.encode(applied)
        count = len(applied.steps)
        answer: Answer = await self._link.call(
            "rating_apply", [_board(variant)], race, applied.at, packed, count, *changes
        )
        if answer[0] == b"behind":
            return None
        return msgspec.msgpack.decode(answer[1], type=Applied).steps

    async def ledger(self, variant: str) -> Ledger:
        """All that is on record of a game's ratings."""
        board = rating_board(variant)
        number, races, skills = await self._link.commands(
            (("GET", keys.applied_number(board)), ("HGETALL", keys.applied(board)), ("HGETALL", keys.skills(board)))
        )
        split = {race.decode(): value.partition(b":") for race, value in races.items()}
        ordered = sorted(split, key=lambda race: int(split[race][0]))
        return Ledger(
            int(number or 0),
            {race: msgspec.msgpack.decode(split[race][2], type=Applied) for race in ordered},
            {race: int(split[race][0]) for race in ordered},
            {player.decode(): _skill(text) for player, text in skills.items()},
        )

    async def rebuild(
        self,
        variant: str,
        ledger: Ledger,
        races: Mapping[str, Applied | None],
        players: Iterable[tuple[str, RatingNow | None]],
    ) -> bool:
        """Write races and skills over those of a ledger, None for what goes; False when that has changed meanwhile."""
        words: list[Argument] = [ledger.number, len(races)]
        for race, applied in races.items():
            packed = b"" if applied is None else b"%d:" % ledger.numbers[race] + msgspec.msgpack.encode(applied)
            words += (race, packed)
        for player, standing in players:
            if standing is None:
                words += (player, "", 0, 0, 0)
            else:
                skill = standing.skill
                words += (player, _skill_text(skill), _value(player, skill), standing.at, int(standing.bot))
        return bool(await self._link.call("rating_rebuild", [_board(variant)], *words))


def _board(variant: str) -> str:
    return keys.board(rating_board(variant))


def _value(player: str, skill: Skill) -> int | str:
    """What ranks a player on the board; nothing for those who are on none."""
    return "" if is_stand_in(player) else -skill.rating


def _skill_text(skill: Skill) -> str:
    return f"{skill.mu!r}:{skill.sigma!r}:{skill.games}"


def _skill(text: bytes) -> Skill:
    mu, sigma, games = text.decode().split(":")
    return Skill(float(mu), float(sigma), int(games))
