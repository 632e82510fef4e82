"""What each player has done in each game, and on which days."""

from __future__ import annotations

from datetime import date

from cellrace.messages import GameRecord
from cellrace.variants import VARIANTS
from cellrace_server.core.effects import DayWon, Finished
from cellrace_server.store import keys
from cellrace_server.store.library import Answer, Link
from cellrace_server.store.records import pairs

_FIELDS = ("played", "won", "streak", "best_streak", "best_time")


class ProfileStore:
    """Reads and writes the records of players."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def finish(self, finished: Finished) -> None:
        """A player has finished a game: counted once, however often this is told."""
        time = "" if finished.time is None else finished.time
        words = (finished.variant, finished.race, int(finished.won), finished.at, time)
        await self._link.call("player_finished", [keys.player(finished.player)], *words)

    async def unfinish(self, finished: Finished) -> bool:
        """A game does not count after all; whether it did."""
        time = "" if finished.time is None else finished.time
        words = (finished.variant, finished.race, int(finished.won), time)
        return bool(await self._link.call("player_unfinished", [keys.player(finished.player)], *words))

    async def recount(self, player: str, variant: str) -> None:
        """Count a player's record from all the games once more."""
        await self._link.call("player_recount", [keys.player(player)], variant)

    async def finished(self, player: str, variant: str) -> tuple[Finished, ...]:
        """All games that a player has finished, in the order of finishing."""
        key = keys.player_finished(player, variant)
        found: Answer = await self._link.command("ZRANGE", key, 0, -1, "WITHSCORES")
        return tuple(_finished(player, variant, member.decode(), int(float(at))) for member, at in pairs(found))

    async def records(self, player: str) -> dict[str, GameRecord]:
        """What a player has done, by game; games never played are left out."""
        answers: list[Answer] = await self._link.commands(
            [("HMGET", keys.player_record(player, variant), *_FIELDS) for variant in VARIANTS]
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

    async def win_day(self, won: DayWon) -> dict[date, int]:
        """A day with a win; all the player's days with one, and when each was won (ms)."""
        key = keys.player_days(won.player.id, won.variant)
        await self._link.command("ZADD", key, "NX", won.at, won.day.isoformat())
        return await self.days(won.player.id, won.variant)

    async def unwin_day(self, player: str, variant: str, day: date) -> dict[date, int]:
        """A win that does not count after all; the days that are left."""
        await self._link.command("ZREM", keys.player_days(player, variant), day.isoformat())
        return await self.days(player, variant)

    async def days(self, player: str, variant: str) -> dict[date, int]:
        """The days on which a player has won the daily challenge of a game, and when (ms)."""
        found: Answer = await self._link.command("ZRANGE", keys.player_days(player, variant), 0, -1, "WITHSCORES")
        return {date.fromisoformat(day.decode()): int(float(at)) for day, at in pairs(found)}


def _finished(player: str, variant: str, member: str, at: int) -> Finished:
    won, race, time = member.split(":")
    return Finished(player, variant, race, won == "1", at, int(time) if time else None)
