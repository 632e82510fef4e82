"""Ratings of any number of entrants, with ties: Plackett–Luce as openskill has it, people and bots in one pool."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from openskill.models import PlackettLuce

from cellrace.messages import RaceKind, Standing
from cellrace_server.core.race import Race

_MODEL = PlackettLuce()
_SCALE = 40
_BASE = 1000


class Skill(Struct, frozen=True):
    """What is believed of a player's skill in one game: a mean, how unsure it is, and after how many races."""

    mu: float = 25.0
    sigma: float = 25.0 / 3
    games: int = 0

    @property
    def rating(self) -> int:
        """The rating as it is shown: what the skill is at least, with three sigma; a new player has 1000."""
        return max(0, round(_BASE + _SCALE * (self.mu - 3 * self.sigma)))


def is_rated(race: Race) -> bool:
    """Whether a race counts for ratings and records: ranked, and at least two raced."""
    return race.kind is RaceKind.RACE and race.settings.ranked and len(race.entrants) >= 2


def rate(standings: tuple[Standing, ...], before: Mapping[str, Skill]) -> dict[str, Skill]:
    """The skills after a race, by player; equal places are ties, and unfinished games count by their places."""
    teams = [[_MODEL.rating(mu=skill.mu, sigma=skill.sigma)] for skill in (before[s.player.id] for s in standings)]
    rated = _MODEL.rate(teams, ranks=[standing.place for standing in standings])
    return {
        standing.player.id: Skill(team[0].mu, team[0].sigma, before[standing.player.id].games + 1)
        for standing, team in zip(standings, rated, strict=True)
    }
