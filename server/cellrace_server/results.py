"""Carries out what the end of a race leaves behind: each effect is without harm when repeated (NODES, 19, 20)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from msgspec.structs import replace

from cellrace.messages import Player, RatingChange, Standing
from cellrace_server.core.effects import Effects, effects_of, streak_board, streak_ends_at, streak_score
from cellrace_server.core.facts import Fact, Over
from cellrace_server.core.race import Race
from cellrace_server.core.ratings import applied_to, is_rated, places_of
from cellrace_server.store import Store
from cellrace_server.store.boards import Rule
from cellrace_server.store.errors import StoreUnavailable

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
    variant = race.settings.variant
    # Who is deleted while the race runs is rated without a name, as in all the other races by then.
    names = (await store.acts.verdicts(race.id)).stand_ins
    places = {names.get(player, player): place for player, place in places_of(standings).items()}
    bots = {names.get(standing.player.id, standing.player.id) for standing in standings if standing.player.bot}
    for _ in range(ATTEMPTS):
        before = await store.ratings.skills(variant, list(places))
        applied = await store.ratings.apply(variant, race.id, applied_to(places, bots, before, race.changed_at))
        if applied is not None:
            changes = {
                step.player: RatingChange(before=step.before.rating, after=step.after.rating) for step in applied
            }
            return tuple(
                replace(standing, rating=changes.get(names.get(standing.player.id, standing.player.id)))
                for standing in standings
            )
    raise StoreUnavailable("The ratings of this race's players change too fast.")


async def record_end(store: Store, race: Race) -> None:
    """All effects of a race that is over or cancelled, the last of which makes replays of its logs.

    Everything is taken from the race's facts, so that any node can do it, and do it again. Raises StoreUnavailable.
    """
    verdicts = await store.acts.verdicts(race.id)
    players = [entrant.player.id for entrant in race.entrants if entrant.player.id not in verdicts.stand_ins]
    await store.lists.end(race)
    await store.players.race_ended(players, race.id, race.created_at)
    secret = await store.races.secret(race.id) if race.standings is not None else None
    if secret is not None and not verdicts.void:
        await record_effects(store, effects_of(race, secret.deal), frozenset(players))
    await store.races.compact(race.id)
    if verdicts.stand_ins:
        await store.races.stand_in(race.id, verdicts.stand_ins)
        await store.acts.forgotten(race.id)


async def record_effects(store: Store, effects: Effects, players: frozenset[str]) -> None:
    """Write the effects of a race that concern these players. Raises StoreUnavailable."""
    for finished in effects.finished:
        if finished.player in players:
            await store.profiles.finish(finished)
    for score in effects.scores:
        if score.player.id in players:
            await store.boards.submit(score)
    for won in effects.days:
        if won.player.id in players:
            await set_streak(store, won.variant, won.player, await store.profiles.win_day(won))


async def set_streak(
    store: Store, variant: str, player: Player, days: Mapping[date, int], rule: Rule = Rule.NEWER
) -> None:
    """Put a player's streak on its board, or take it off where there is none. Raises StoreUnavailable."""
    if not days:
        await store.boards.remove(streak_board(variant), player.id)
        return
    score = streak_score(variant, player, days)
    await store.boards.submit(score, rule, until=streak_ends_at(max(days)))
