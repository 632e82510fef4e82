"""What each player has done in each game, and on which days."""

from __future__ import annotations

from datetime import date

from cellrace.messages import GameRecord
from cellrace.variants import VARIANTS
from cellrace_server.store import keys
from cellrace_server.store.library import Answer, Link


class ProfileStore:
    """Reads and writes the records of players."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def finished(self, player: str, variant: str, race: str, *, won: bool, at: int, time: int | None) -> None:
        """A player has finished a race; `time` (ms) is that of a win which counts for records."""
        finished = (variant, race, int(won), at, "" if time is None else time)
        await self._link.call("player_finished", [keys.player(player)], *finished)

    async def records(self, player: str) -> dict[str, GameRecord]:
        """What a player has done, by game; games never played are left out."""
        fields = ("played", "won", "streak", "best_streak", "best_time")
        answers: list[Answer] = await self._link.commands(
            [("HMGET", keys.player_record(player, variant), *fields) for variant in VARIANTS]
        )
        return {
            variant: GameRecord(
                played=int(played),
                won=int(won),
                streak=int(streak),
                best_streak=int(best),
                best_time=None if time is None else int(time),
            )
            for variant, (played, won, streak, best, time) in zip(VARIANTS, answers, strict=True)
            if played is not None
        }

    async def win_day(self, player: str, variant: str, day: date) -> frozenset[date]:
        """A day with a win, and all the player's days with one."""
        key = keys.player_days(player, variant)
        await self._link.command("SADD", key, day.isoformat())
        return await self.days(player, variant)

    async def days(self, player: str, variant: str) -> frozenset[date]:
        """The days on which a player has won the daily challenge of a game."""
        found: Answer = await self._link.command("SMEMBERS", keys.player_days(player, variant))
        return frozenset(date.fromisoformat(day.decode()) for day in found)
