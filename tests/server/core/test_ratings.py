"""Ratings: fair to places, to ties and to the order in which races are told; what counts for them."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from cellrace.messages import EntrantStatus, RaceKind, Settings
from cellrace_server.core.race import standings
from cellrace_server.core.ratings import Skill, applied_to, is_rated, places_of, rate
from tests.server.races import ANN, BEN, START, begun, done, player

SKILLS = st.builds(
    Skill,
    mu=st.floats(0, 50, allow_nan=False).map(lambda mu: round(mu, 3)),
    sigma=st.floats(0.8, 25 / 3).map(lambda sigma: round(sigma, 3)),
    games=st.integers(0, 500),
)


@st.composite
def fields(draw: st.DrawFn, most: int = 12) -> dict[str, int]:
    """Places of a race, by player, the best first; with ties, as standings have them: 1, 1, 3."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=most // 2))
    if sum(sizes) < 2:
        sizes.append(1)
    places: dict[str, int] = {}
    for size in sizes:
        place = len(places) + 1
        places |= {f"p{len(places) + n:02}": place for n in range(size)}
    return places


@given(fields(), SKILLS)
def test_a_better_place_never_loses_more_than_a_worse_one(places: dict[str, int], skill: Skill) -> None:
    """Of players with equal skills before; for whoever is rated much higher than the others loses even by a place
    that is good, but not as good as was expected, and that is what makes it a rating."""
    after = rate(places, dict.fromkeys(places, skill))
    for (better, place), (worse, next_place) in pairwise(places.items()):
        assert after[better].mu >= after[worse].mu - 1e-9
        assert after[better].rating >= after[worse].rating
        if place < next_place:
            assert after[better].mu > after[worse].mu


@given(fields(), SKILLS)
def test_equal_places_of_equal_skills_move_alike(places: dict[str, int], skill: Skill) -> None:
    after = rate(places, dict.fromkeys(places, skill))
    moved: dict[int, set[tuple[float, float]]] = {}
    for name, place in places.items():
        moved.setdefault(place, set()).add((round(after[name].mu, 9), round(after[name].sigma, 9)))
    assert all(len(alike) == 1 for alike in moved.values())


@given(fields(), st.lists(SKILLS, min_size=20, max_size=20), st.randoms())
def test_the_order_in_which_equals_are_listed_makes_no_difference(
    places: dict[str, int], skills: list[Skill], shuffled: Random
) -> None:
    before = dict(zip(places, skills, strict=False))
    listed = list(places.items())
    shuffled.shuffle(listed)
    one, other = rate(places, before), rate(dict(listed), before)
    for name in places:
        assert one[name].mu == pytest.approx(other[name].mu, abs=1e-9)
        assert one[name].sigma == pytest.approx(other[name].sigma, abs=1e-9)


@given(st.lists(SKILLS, min_size=2, max_size=2))
def test_of_two_the_winner_never_loses_and_the_loser_never_gains(skills: list[Skill]) -> None:
    """In what is believed of them: the mean. What is shown is what somebody can do at least, and with each race of a
    new player that is surer, so that even one who loses can be shown a little higher."""
    before = {"ann": skills[0], "ben": skills[1]}
    after = rate({"ann": 1, "ben": 2}, before)
    assert after["ann"].mu >= before["ann"].mu
    assert after["ben"].mu <= before["ben"].mu


@given(fields(), st.lists(SKILLS, min_size=20, max_size=20))
def test_each_race_is_counted(places: dict[str, int], skills: list[Skill]) -> None:
    before = dict(zip(places, skills, strict=False))
    after = rate(places, before)
    assert {name: skill.games for name, skill in after.items()} == {name: before[name].games + 1 for name in places}


def test_a_new_player_is_shown_at_1000_and_nobody_below_nothing() -> None:
    assert Skill().rating == 1000
    assert Skill(mu=0.0, sigma=25 / 3).rating == 0


@pytest.mark.parametrize("many", [3, 5, 12])
def test_a_race_of_many_equals_makes_nobody_surer_than_a_duel(many: int) -> None:
    def sigma(entrants: int) -> float:
        places = {str(place): place for place in range(1, entrants + 1)}
        return rate(places, dict.fromkeys(places, Skill()))["1"].sigma

    assert sigma(many) == pytest.approx(sigma(2), abs=1e-9)


def test_what_a_race_does_is_told_with_who_is_a_bot() -> None:
    applied = applied_to({"ann": 1, "robo": 2}, {"robo"}, {"ann": Skill(), "robo": Skill()}, at=START)
    assert [(step.player, step.place, step.bot) for step in applied.steps] == [("ann", 1, False), ("robo", 2, True)]
    assert applied.at == START


def test_who_wins_again_and_again_rises_and_the_other_falls() -> None:
    skills = {"ann": Skill(), "ben": Skill()}
    shown = [(1000, 1000)]
    for _ in range(10):
        skills = rate({"ann": 1, "ben": 2}, skills)
        shown.append((skills["ann"].rating, skills["ben"].rating))
    assert [ann for ann, _ in shown] == sorted({ann for ann, _ in shown})
    assert shown[-1][0] > 1500 > 1000 > shown[-1][1]


def test_the_places_are_those_of_the_standings_also_of_games_that_were_not_finished() -> None:
    cat = player("Cat", bot=True)
    race = begun(ANN, BEN, cat, settings=Settings(seats=4))
    race = done(race, "ben", EntrantStatus.WON)
    race = done(race, "cat", EntrantStatus.TIMED_OUT, home=20)
    race = done(race, "ann", EntrantStatus.ABANDONED, home=40)
    assert places_of(standings(race)) == {"ben": 1, "cat": 2, "ann": 3}


class TestWhatCounts:
    def test_a_ranked_race_of_two_counts(self) -> None:
        assert is_rated(begun(ANN, BEN))

    def test_a_race_of_one_does_not_count(self) -> None:
        assert not is_rated(begun(ANN, settings=Settings(seats=1)))

    def test_an_unranked_race_does_not_count(self) -> None:
        assert not is_rated(begun(ANN, BEN, settings=Settings(seats=4, ranked=False)))

    def test_a_daily_does_not_count(self) -> None:
        assert not is_rated(replace(begun(ANN, BEN), kind=RaceKind.DAILY))

    def test_an_entrant_who_forfeits_counts(self) -> None:
        race = done(begun(ANN, BEN), "ann", EntrantStatus.FORFEITED, at=START + 1)
        assert is_rated(race)
