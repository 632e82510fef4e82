"""Carries out what the end of a race leaves behind: each effect is without harm when repeated (NODES, 19, 20)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence

from msgspec.structs import replace

from cellrace.messages import RatingChange, Standing
from cellrace_server.core.effects import Effects, boards_of, effects_of
from cellrace_server.core.facts import Fact, Over
from cellrace_server.core.race import Race
from cellrace_server.core.ratings import RatingStep, applied_to, is_rated, places_of
from cellrace_server.core.standins import is_stand_in
from cellrace_server.ledgers import make_nameless, take_out
from cellrace_server.marking import heed_marks
from cellrace_server.revoking import set_streak, take_away, take_back
from cellrace_server.store import Store
from cellrace_server.store.acts import Verdicts
from cellrace_server.store.errors import StoreUnavailable

ATTEMPTS = 20
"""How often ratings are worked out anew when races of the same players end at other nodes at the same time."""


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

    async def applied() -> tuple[RatingStep, ...] | None:
        before = await store.ratings.skills(variant, list(places))
        return await store.ratings.apply(variant, race.id, applied_to(places, bots, before, race.changed_at))

    steps = await applied() or await _applied_in_turn(store, variant, applied)
    changes = {step.player: RatingChange(before=step.before.rating, after=step.after.rating) for step in steps}
    return tuple(
        replace(standing, rating=changes.get(names.get(standing.player.id, standing.player.id)))
        for standing in standings
    )


async def _applied_in_turn(
    store: Store, variant: str, applied: Callable[[], Awaitable[tuple[RatingStep, ...] | None]]
) -> tuple[RatingStep, ...]:
    async with store.ratings.turn(variant):
        for _ in range(ATTEMPTS):
            if steps := await applied():
                return steps
    raise StoreUnavailable("The ratings of this race's players change too fast.")


async def record_end(store: Store, race: Race) -> None:
    """All effects of a race that is over or cancelled, the last of which makes replays of its logs.

    Everything is taken from the race's facts, so that any node can do it, and do it again. Raises StoreUnavailable.
    """
    verdicts = await _verdicts(store, race)
    players = frozenset(entrant.player.id for entrant in race.entrants) - verdicts.stand_ins.keys()
    await store.lists.end(race)
    await store.players.race_ended(sorted(players), race.id, race.created_at)
    secret = await store.races.secret(race.id) if race.standings is not None else None
    effects = Effects() if secret is None else effects_of(race, secret.deal)
    if not verdicts.void:
        await record_effects(store, effects, players)
    await store.races.compact(race.id)
    await _obey(store, race, effects, verdicts)
    people = {entrant.player.id for entrant in race.entrants if not entrant.player.bot}
    await heed_marks(store, boards_of(effects, race.settings.variant), people)


async def _verdicts(store: Store, race: Race) -> Verdicts:
    """What operators have decided about a race; of who is taken out of it already, only the record tells."""
    head, noted = await store.races.head(race.id), await store.acts.verdicts(race.id)
    now = race.entrants if head is None else head.race.entrants
    taken_out = {e.player.id: n.player.id for e, n in zip(race.entrants, now, strict=False) if is_stand_in(n.player.id)}
    return Verdicts(noted.void, {**taken_out, **noted.stand_ins})


async def _obey(store: Store, race: Race, effects: Effects, known: Verdicts) -> None:
    """Do what operators have decided, of which only `known` was known when the effects were written.

    They decide first and clean up then: what was written after their cleaning up was written after their decision, and
    is found here.
    """
    verdicts, variant = await _verdicts(store, race), race.settings.variant
    if late := verdicts.stand_ins.keys() - known.stand_ins.keys():
        await take_away(store, race, effects, late)
    if verdicts.stand_ins:
        await make_nameless(store, variant, verdicts.stand_ins)
        await store.races.stand_in(race.id, verdicts.stand_ins)
    if verdicts.void:
        await take_out(store, variant, race.id)
        if not known.void:
            await take_back(store, race, effects)


async def record_effects(store: Store, effects: Effects, players: Collection[str]) -> None:
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
