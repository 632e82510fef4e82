"""What the end of a race leaves behind: each effect is without harm when repeated (NODES, 19, 20)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from cellrace.messages import EntrantStatus, RaceKind, RatingChange, Standing
from cellrace_server.core.daily import day_of, streak
from cellrace_server.core.facts import Fact, Over
from cellrace_server.core.race import Race
from cellrace_server.core.ratings import is_rated, rate
from cellrace_server.core.standings import Finish
from cellrace_server.store import Store
from cellrace_server.store.boards import RatingStep, RowInfo
from cellrace_server.store.errors import StoreUnavailable

NOT_WON = 10**9
"""What the rows of a daily board that are ranked by cards home stand behind: longer than any time, ms."""
FULL_HOME = 1_000
ATTEMPTS = 20
"""How often ratings are worked out anew when other races of the same players end at the same time."""


async def with_ratings(store: Store, race: Race, facts: Sequence[Fact]) -> list[Fact]:
    """The facts, an end of a rated race with what it did to the ratings: applied once, before the end is on record.

    Raises StoreUnavailable.
    """
    return [
        Over(await _rated(store, race, fact.standings)) if isinstance(fact, Over) and is_rated(race) else fact
        for fact in facts
    ]


async def _rated(store: Store, race: Race, standings: tuple[Standing, ...]) -> tuple[Standing, ...]:
    players = [standing.player.id for standing in standings]
    bots = {standing.player.id: standing.player.bot for standing in standings}
    variant = race.settings.variant
    for _ in range(ATTEMPTS):
        before = await store.boards.skills(variant, players)
        after = rate(standings, before)
        steps = [RatingStep(player, before[player], after[player]) for player in players]
        applied = await store.boards.apply_ratings(variant, race.id, race.changed_at, steps, bots)
        if applied is not None:
            changes = {
                step.player: RatingChange(before=step.before.rating, after=step.after.rating) for step in applied
            }
            return tuple(replace(standing, rating=changes.get(standing.player.id)) for standing in standings)
    raise StoreUnavailable("The ratings of this race's players change too fast.")


async def record_end(store: Store, race: Race) -> None:
    """All effects of a race that is over or cancelled, the last of which makes replays of its logs.

    Everything is taken from the race's facts, so that any node can do it, and do it again. Raises StoreUnavailable.
    """
    players = [entrant.player.id for entrant in race.entrants]
    await store.lists.end(race)
    await store.players.race_ended(players, race.id, race.created_at)
    if race.standings is not None and not _is_practice(race):
        for entrant in race.entrants:
            if entrant.finish is not None:
                await _record_finish(store, race, entrant.finish)
    await store.races.compact(race.id)


def _is_practice(race: Race) -> bool:
    """Whether somebody raced a known deal alone: it counts for nothing, for its solution may be known as well."""
    return race.settings.deal is not None and len(race.entrants) == 1


async def _record_finish(store: Store, race: Race, finish: Finish) -> None:
    variant, player = race.settings.variant, finish.player
    won = finish.status is EntrantStatus.WON
    time = finish.time if won and is_rated(race) else None
    await store.profiles.finished(player.id, variant, race.id, won=won, at=finish.at, time=time)
    info = RowInfo(race=race.id, time=finish.time, home=finish.home, moves=finish.moves)
    if race.kind is RaceKind.DAILY:
        await _record_daily(store, race, finish, info)
        return
    if finish.time is None:
        return
    boards = [f"best:{variant}"] if is_rated(race) else []
    secret = await store.races.secret(race.id)
    if secret is not None:
        boards.append(f"deal:{variant}:{secret.deal}")
    for board in boards:
        await store.boards.submit(board, player.id, finish.time, finish.at, player.bot, info)


async def _record_daily(store: Store, race: Race, finish: Finish, info: RowInfo) -> None:
    assert race.start_at is not None
    variant, player = race.settings.variant, finish.player
    day = day_of(race.start_at)
    value = NOT_WON + FULL_HOME - finish.home if finish.time is None else finish.time
    await store.boards.submit(f"daily:{day}:{variant}", player.id, value, finish.at, player.bot, info)
    if finish.time is not None:
        days = await store.profiles.win_day(player.id, variant, day)
        last = max(days)
        row = RowInfo(last=last.isoformat())
        board = f"streak:{variant}"
        await store.boards.submit(board, player.id, -streak(days, last), finish.at, player.bot, row, replace=True)
