"""Takes back what the end of a race has left behind, when an operator decides that it shall not be there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date

from cellrace.messages import Player
from cellrace_server.core.effects import (
    DayWon,
    Effects,
    Finished,
    RowInfo,
    Score,
    best_board,
    boards_of,
    effects_of,
    streak_board,
    streak_ends_at,
    streak_score,
)
from cellrace_server.core.race import Race
from cellrace_server.marking import heed_marks
from cellrace_server.store import Store
from cellrace_server.store.boards import Rule


async def set_streak(
    store: Store, variant: str, player: Player, days: Mapping[date, int], rule: Rule = Rule.NEWER
) -> None:
    """Put a player's streak on its board, or take it off where there is none. Raises StoreUnavailable."""
    if not days:
        await store.boards.remove(streak_board(variant), player.id)
        return
    score = streak_score(variant, player, days)
    await store.boards.submit(score, rule, until=streak_ends_at(max(days)))


async def take_back(store: Store, race: Race, effects: Effects) -> None:
    """Undo the effects of a race that counts for nothing; what else a player has done takes their place.

    Raises StoreUnavailable.
    """
    for finished in effects.finished:
        await store.profiles.unfinish(finished)
    for won in effects.days:
        await _take_back_day(store, won)
    for score in effects.scores:
        row = (await store.census.rows(score.board)).get(score.player.id)
        if row is None or row.info.race != race.id:
            continue
        await store.boards.remove(score.board, score.player.id)
        for finished in await store.profiles.finished(score.player.id, race.settings.variant):
            await _submit_again(store, score, finished)
    written = {score.player.id for score in effects.scores}
    await heed_marks(store, boards_of(effects, race.settings.variant), written)


async def _take_back_day(store: Store, won: DayWon) -> None:
    days = await store.profiles.days(won.player.id, won.variant)
    if days.get(won.day) == won.at:
        left = await store.profiles.unwin_day(won.player.id, won.variant, won.day)
        await set_streak(store, won.variant, won.player, left, Rule.ANY)


async def _submit_again(store: Store, gone: Score, finished: Finished) -> None:
    """What another game of the player is worth on the board that a row has gone from."""
    head = await store.races.head(finished.race)
    secret = None if head is None else await store.races.secret(finished.race)
    if head is not None and secret is not None:
        for score in effects_of(head.race, secret.deal).scores:
            if (score.board, score.player.id) == (gone.board, gone.player.id):
                await store.boards.submit(score)
    elif finished.time is not None and gone.board == best_board(finished.variant):
        # It is not kept any more; the player's record still has its time.
        info = RowInfo(race=finished.race, time=finished.time)
        await store.boards.submit(Score(gone.board, gone.player, finished.time, finished.at, info))


async def take_away(store: Store, race: Race, effects: Effects, players: Collection[str]) -> None:
    """Leave nothing of a race with players who are deleted. Raises StoreUnavailable."""
    for finished in effects.finished:
        if finished.player in players:
            await store.profiles.unfinish(finished)
    for won in effects.days:
        if won.player.id in players:
            await store.profiles.unwin_day(won.player.id, won.variant, won.day)
            await store.boards.remove(streak_board(won.variant), won.player.id)
    for score in effects.scores:
        if score.player.id in players:
            await store.boards.remove(score.board, score.player.id)
    await store.players.unlist(players, race.id)
