"""Ratings on record: each race is applied once, on the skills as they stand, and what it did is told ever after."""

from __future__ import annotations

import asyncio

import pytest
import pytest_asyncio

from cellrace_server.core.effects import rating_board
from cellrace_server.core.ratings import Applied, RatingStep, Skill, rate
from cellrace_server.store.boards import BoardStore
from cellrace_server.store.library import Link
from cellrace_server.store.ratings import RatingNow, RatingStore

GAME = "freecell"


@pytest_asyncio.fixture
async def ratings(link: Link) -> RatingStore:
    """The ratings of one node."""
    return RatingStore(link)


async def worked_out(ratings: RatingStore, *ranked: str, at: int = 5) -> Applied:
    """What a race with these places would do to the skills as they stand."""
    places = {name: place for place, name in enumerate(ranked, 1)}
    before = await ratings.skills(GAME, ranked)
    after = rate(places, before)
    return Applied(at, tuple(RatingStep(p, place, p == "robo", before[p], after[p]) for p, place in places.items()))


async def board(link: Link, *, bots: bool = True) -> list[tuple[str, int]]:
    rows = await BoardStore(link).rows(rating_board(GAME), 0, 100, "", around=False, bots=bots)
    return [(row.player, -row.value) for row in rows.rows]


async def test_a_new_player_is_believed_to_be_like_everybody(ratings: RatingStore) -> None:
    assert await ratings.skills(GAME, ["ann"]) == {"ann": Skill()}


async def test_a_race_changes_skills_and_board_at_once(ratings: RatingStore, link: Link) -> None:
    applied = await worked_out(ratings, "ann", "robo")
    assert await ratings.apply(GAME, "r1", applied) == applied.steps
    assert await ratings.skills(GAME, ["ann", "robo"]) == {step.player: step.after for step in applied.steps}
    assert await board(link) == [("ann", 1138), ("robo", 927)]
    assert await board(link, bots=False) == [("ann", 1138)]


async def test_a_skill_is_kept_to_the_last_bit(ratings: RatingStore) -> None:
    """Else a repeat would find another skill than the one that it was worked out on."""
    for n in range(20):
        applied = await worked_out(ratings, *(("ann", "ben") if n % 3 else ("ben", "ann")))
        assert await ratings.apply(GAME, f"r{n}", applied) == applied.steps


async def test_a_repeat_changes_nothing_and_is_told_what_the_first_one_did(ratings: RatingStore, link: Link) -> None:
    """NODES 20: also when other races came between, and when it was worked out anew meanwhile."""
    first = await worked_out(ratings, "ann", "ben")
    await ratings.apply(GAME, "r1", first)
    await ratings.apply(GAME, "r2", await worked_out(ratings, "ben", "ann"))
    shown = await board(link)
    for again in (first, await worked_out(ratings, "ann", "ben"), await worked_out(ratings, "ben", "ann")):
        assert await ratings.apply(GAME, "r1", again) == first.steps
    assert await board(link) == shown


async def test_what_was_worked_out_on_older_skills_is_not_applied(ratings: RatingStore) -> None:
    """NODES 20: the befores are compared; without that one of two races that end at once would be lost."""
    one, other = await worked_out(ratings, "ann", "ben"), await worked_out(ratings, "ann", "cat")
    assert await ratings.apply(GAME, "r1", one) == one.steps
    assert await ratings.apply(GAME, "r2", other) is None
    assert (await ratings.skills(GAME, ["cat"]))["cat"].games == 0, "all of the race, or nothing"
    again = await worked_out(ratings, "ann", "cat")
    assert await ratings.apply(GAME, "r2", again) == again.steps
    assert (await ratings.skills(GAME, ["ann"]))["ann"].games == 2


async def test_of_two_first_races_of_a_player_the_second_is_worked_out_anew(ratings: RatingStore) -> None:
    one, other = await worked_out(ratings, "ann", "ben"), await worked_out(ratings, "ann", "cat")
    applied = await asyncio.gather(ratings.apply(GAME, "r1", one), ratings.apply(GAME, "r2", other))
    assert sorted(steps is None for steps in applied) == [False, True]


async def test_games_have_ratings_of_their_own(ratings: RatingStore) -> None:
    await ratings.apply(GAME, "r1", await worked_out(ratings, "ann", "ben"))
    assert (await ratings.skills("one-suit", ["ann"]))["ann"] == Skill()


async def test_the_ledger_has_the_races_in_the_order_in_which_they_were_applied(ratings: RatingStore) -> None:
    for n in range(12):
        await ratings.apply(GAME, f"r{n}", await worked_out(ratings, "ann", "ben", at=100 - n))
    ledger = await ratings.ledger(GAME)
    assert list(ledger.races) == [f"r{n}" for n in range(12)]
    assert ledger.number == 12
    assert ledger.skills == await ratings.skills(GAME, ["ann", "ben"])
    assert [applied.at for applied in ledger.races.values()] == [100 - n for n in range(12)]


async def test_a_ledger_can_be_written_over_unless_it_has_grown(ratings: RatingStore, link: Link) -> None:
    await ratings.apply(GAME, "r1", await worked_out(ratings, "ann", "ben"))
    await ratings.apply(GAME, "r2", await worked_out(ratings, "ann", "ben"))
    ledger = await ratings.ledger(GAME)
    first = ledger.races["r1"]
    skills = {step.player: step.after for step in first.steps}
    players: list[tuple[str, RatingNow | None]] = [("ann", RatingNow(skills["ann"], 5, False)), ("ben", None)]
    await ratings.apply(GAME, "r3", await worked_out(ratings, "cat", "dan"))
    assert not await ratings.rebuild(GAME, ledger, {"r2": None}, players)
    ledger = await ratings.ledger(GAME)
    assert await ratings.rebuild(GAME, ledger, {"r2": None, "r1": first}, players)
    after = await ratings.ledger(GAME)
    assert list(after.races) == ["r1", "r3"]
    assert after.skills["ann"] == skills["ann"]
    assert "ben" not in after.skills
    assert [name for name, _ in await board(link)] == ["ann", "cat", "dan"]
    # Another act that has read what was there before this one would undo it.
    assert not await ratings.rebuild(GAME, ledger, {"r1": None}, players)
    assert await ratings.ledger(GAME) == after


@pytest.mark.parametrize("count", [2, 250])
async def test_races_of_any_size_are_applied(ratings: RatingStore, count: int) -> None:
    names = [f"p{n}" for n in range(count)]
    applied = await worked_out(ratings, *names)
    assert await ratings.apply(GAME, "r1", applied) == applied.steps
    assert (await ratings.ledger(GAME)).races["r1"] == applied
