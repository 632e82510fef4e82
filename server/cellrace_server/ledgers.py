"""Ratings against the races that they come from: whether they add up, and how they come out anew."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from cellrace_server.core.effects import rating_board
from cellrace_server.core.race import Race
from cellrace_server.core.ratings import Applied, Skill, applied_to, is_rated, places_of, replayed
from cellrace_server.core.standins import StandIns, is_stand_in
from cellrace_server.marking import heed_marks
from cellrace_server.store import Store
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.ratings import Ledger, RatingNow

ATTEMPTS = 20
"""How often ratings are worked out anew when races end meanwhile."""
CLOSE = 1e-6
"""How near two skills must be to be taken for the same: another version of a library may round otherwise."""


async def check_ratings(
    store: Store, variant: str, races: Mapping[str, Race], settled: set[str], *, fix: bool
) -> list[tuple[str, str]]:
    """What is wrong with a game's ratings, by player. Raises StoreUnavailable."""
    rated = {race.id: race for race in races.values() if race.settings.variant == variant and is_rated(race)}
    for _ in range(ATTEMPTS):
        ledger = await store.ratings.ledger(variant)
        stray = settled & ledger.races.keys() - rated.keys()
        wrong = [("", f"race {race} is rated and does not count") for race in sorted(stray)]
        missing = [race for race_id, race in rated.items() if race_id in settled - ledger.races.keys()]
        wrong += [("", f"race {race.id} is not rated") for race in missing]
        due = {race: applied for race, applied in ledger.races.items() if race not in stray}
        for race_id, race in rated.items():
            if race_id in due and _says_otherwise(due[race_id], race):
                wrong.append(("", f"race {race_id} is rated by other places than its standings have"))
                due[race_id] = _by_places(race, due[race_id].at)
        anew, skills = replayed(due)
        wrong += _differences(ledger, anew, skills)
        wrong += await _board_differences(store, variant, ledger)
        if not wrong or not fix or await _rebuild(store, variant, ledger, anew, skills):
            break
    else:
        raise StoreUnavailable(f"The ratings of {variant} change too fast to be put right.")
    if fix:
        for race in missing:
            await _apply(store, race)
    return wrong


def _says_otherwise(applied: Applied, race: Race) -> bool:
    assert race.standings is not None, "only races that are over are rated"
    wanted = places_of(race.standings)
    return {step.player: step.place for step in applied.steps} != wanted


def _by_places(race: Race, at: int) -> Applied:
    assert race.standings is not None, "only races that are over are rated"
    places = places_of(race.standings)
    bots = {standing.player.id for standing in race.standings if standing.player.bot}
    return applied_to(places, bots, dict.fromkeys(places, Skill()), at)


def _differences(ledger: Ledger, anew: Mapping[str, Applied], skills: Mapping[str, Skill]) -> list[tuple[str, str]]:
    wrong = []
    for race, applied in anew.items():
        for was, now in zip(ledger.races[race].steps, applied.steps, strict=False):
            if not (_is_close(was.before, now.before) and _is_close(was.after, now.after)):
                told = f"is rated {was.after.rating} after race {race}, and should be {now.after.rating}"
                wrong.append((now.player, told))
    for player in sorted({*skills, *ledger.skills}):
        known, made = ledger.skills.get(player), skills.get(player)
        if known is None or made is None or not _is_close(known, made):
            told = (
                f"has {known.rating if known else 'nothing'}, and the races make {made.rating if made else 'nothing'}"
            )
            wrong.append((player, told))
    return wrong


async def _board_differences(store: Store, variant: str, ledger: Ledger) -> list[tuple[str, str]]:
    rows = await store.census.rows(rating_board(variant))
    known = await store.players.find_all(sorted(rows))
    wrong = []
    for player in sorted({*rows, *ledger.skills}):
        row, skill = rows.get(player), ledger.skills.get(player)
        shown = skill is not None and not is_stand_in(player)
        if (row is not None) != shown or (row and skill and (not row.sound or row.value != -skill.rating)):
            wrong.append((player, "has another row than its skill makes"))
        elif row is not None and row.people and player in known and known[player].bot:
            wrong.append((player, "is a bot among people"))
    return wrong


def _is_close(one: Skill, other: Skill) -> bool:
    return one.games == other.games and abs(one.mu - other.mu) < CLOSE and abs(one.sigma - other.sigma) < CLOSE


async def take_out(store: Store, variant: str, race_id: str) -> bool:
    """Rate all later races anew, as if a race had not been; False when it is not rated. Raises StoreUnavailable."""
    for _ in range(ATTEMPTS):
        ledger = await store.ratings.ledger(variant)
        if race_id not in ledger.races:
            return False
        anew, skills = replayed({race: applied for race, applied in ledger.races.items() if race != race_id})
        if await _rebuild(store, variant, ledger, anew, skills):
            return True
    raise StoreUnavailable(f"The ratings of {variant} change too fast to be put right.")


async def make_nameless(store: Store, variant: str, stand_ins: StandIns) -> bool:
    """Let others stand in for players in a game's ratings; False when they have none. Raises StoreUnavailable."""
    for _ in range(ATTEMPTS):
        ledger = await store.ratings.ledger(variant)
        if not any(step.player in stand_ins for applied in ledger.races.values() for step in applied.steps):
            return False
        anew, skills = replayed({race: _renamed(applied, stand_ins) for race, applied in ledger.races.items()})
        if await _rebuild(store, variant, ledger, anew, skills):
            return True
    raise StoreUnavailable(f"The ratings of {variant} change too fast to be put right.")


def _renamed(applied: Applied, stand_ins: StandIns) -> Applied:
    return Applied(
        applied.at, tuple(replace(step, player=stand_ins.get(step.player, step.player)) for step in applied.steps)
    )


async def _rebuild(
    store: Store, variant: str, ledger: Ledger, anew: Mapping[str, Applied], skills: Mapping[str, Skill]
) -> bool:
    """Write what differs; False when a race was applied meanwhile, or another act has rebuilt them."""
    races: dict[str, Applied | None] = {race: None for race in ledger.races if race not in anew}
    races |= {race: applied for race, applied in anew.items() if applied != ledger.races[race]}
    latest: dict[str, RatingNow] = {}
    for applied in anew.values():
        for step in applied.steps:
            latest[step.player] = RatingNow(step.after, applied.at, step.bot)
    rows = await store.census.rows(rating_board(variant))
    players = [(player, latest.get(player)) for player in sorted({*skills, *ledger.skills, *rows})]
    if not await store.ratings.rebuild(variant, ledger, races, players):
        return False
    # The races say what their players were then.
    await heed_marks(store, [rating_board(variant)], [player for player, now in players if now and not now.bot])
    return True


async def _apply(store: Store, race: Race) -> None:
    """Rate a race that was forgotten, now."""
    assert race.standings is not None, "only races that are over are rated"
    places = places_of(race.standings)
    bots = {standing.player.id for standing in race.standings if standing.player.bot}
    for _ in range(ATTEMPTS):
        before = await store.ratings.skills(race.settings.variant, list(places))
        applied = applied_to(places, bots, before, race.changed_at)
        if await store.ratings.apply(race.settings.variant, race.id, applied) is not None:
            await heed_marks(store, [rating_board(race.settings.variant)], places.keys() - bots)
            return
    raise StoreUnavailable("The ratings of this race's players change too fast.")
