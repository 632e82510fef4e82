"""Ratings of any number of entrants, with ties: Bradley–Terry as openskill has it, people and bots in one pool.

A race is a duel of each with each other, a tie half won, and what these would change is averaged: a race of many counts
like one duel with somebody like all of them. So of equals the better place always gains more, and equal places gain the
same. (Plackett–Luce gives a third who is behind two tied firsts more than these.)
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from msgspec import Struct
from openskill.models import BradleyTerryFull

from cellrace.messages import RaceKind, Standing
from cellrace_server.core.race import Race


def _surer(c: float, k: int, _mu: float, sigma_squared: float, *_: object) -> float:
    """By how much one duel of a race of `k` makes surer: openskill's own measure, as a part of all the duels."""
    return math.sqrt(sigma_squared) / c / (k - 1)


_MODEL = BradleyTerryFull(gamma=_surer)
_SCALE = 40
_BASE = 1000
"""A rating is `_BASE` and `_SCALE` times what the skill is at least, which is 0 for a new player."""


class Skill(Struct, frozen=True, array_like=True):
    """What is believed of a player's skill in one game: a mean, how unsure it is, and after how many races."""

    mu: float = 25.0
    sigma: float = 25.0 / 3
    games: int = 0

    @property
    def rating(self) -> int:
        """The rating as it is shown: what the skill is at least, with three sigma; a new player has 1000."""
        return max(0, round(_BASE + _SCALE * (self.mu - 3 * self.sigma)))


class RatingStep(Struct, frozen=True, array_like=True):
    """What one race did to one player's skill, and why: the place."""

    player: str
    place: int
    bot: bool
    before: Skill
    after: Skill


class Applied(Struct, frozen=True, array_like=True):
    """What one race did to all its players' skills; `at` is when its last game ended, ms."""

    at: int
    steps: tuple[RatingStep, ...]


def is_rated(race: Race) -> bool:
    """Whether a race counts for ratings and records: ranked, and at least two raced."""
    return race.kind is RaceKind.RACE and race.settings.ranked and len(race.entrants) >= 2


def rate(places: Mapping[str, int], before: Mapping[str, Skill]) -> dict[str, Skill]:
    """The skills after a race, by player; equal places are ties, and unfinished games count by their places."""
    teams = [[_MODEL.rating(mu=before[player].mu, sigma=before[player].sigma)] for player in places]
    rated = _MODEL.rate(teams, ranks=list(places.values()))
    after: dict[str, Skill] = {}
    for player, team in zip(places, rated, strict=True):
        skill = before[player]
        mu = skill.mu + (team[0].mu - skill.mu) / (len(places) - 1)
        after[player] = Skill(mu, team[0].sigma, skill.games + 1)
    return after


def places_of(standings: tuple[Standing, ...]) -> dict[str, int]:
    """The places in a race, by player, the best first."""
    return {standing.player.id: standing.place for standing in standings}


def applied_to(places: Mapping[str, int], bots: Collection[str], before: Mapping[str, Skill], at: int) -> Applied:
    """What a race does to skills."""
    after = rate(places, before)
    return Applied(at, tuple(RatingStep(p, place, p in bots, before[p], after[p]) for p, place in places.items()))


def replayed(races: Mapping[str, Applied]) -> tuple[dict[str, Applied], dict[str, Skill]]:
    """What races do when each is rated anew, one after the other from the beginning, and the skills after them."""
    skills: dict[str, Skill] = {}
    anew: dict[str, Applied] = {}
    for race, applied in races.items():
        places = {step.player: step.place for step in applied.steps}
        bots = {step.player for step in applied.steps if step.bot}
        anew[race] = applied_to(places, bots, {p: skills.get(p, Skill()) for p in places}, applied.at)
        skills |= {step.player: step.after for step in anew[race].steps}
    return anew, skills
