"""Who races whom: the nearest at first, anybody in the end, the longest waiting first; bots only who wants one."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellrace.queueing import ANYBODY, BOT_AFTER, FIRST_RANGE, WIDENING
from cellrace_server.core.matchmaking import Waiting, pairs
from tests.server.races import player

NOW = 1_000_000


def waiting(name: str, *, for_ms: int = 0, rating: int = 1000, bot: bool = False, bots: bool = False) -> Waiting:
    """Somebody who has waited so long."""
    return Waiting(player(name, bot=bot), f"1.{name}", "here", NOW - for_ms, rating, bots)


def matched(*queue: Waiting) -> list[tuple[str, str]]:
    """Who races whom now, by name."""
    return [(one.player.name, other.player.name) for one, other in pairs(queue, NOW)]


WAITING = st.builds(
    waiting,
    name=st.uuids().map(lambda name: name.hex),
    for_ms=st.integers(0, 60_000),
    rating=st.integers(0, 3000),
    bot=st.booleans(),
    bots=st.booleans(),
)


def test_two_who_are_near_each_other_race_at_once() -> None:
    assert matched(waiting("ann"), waiting("ben", rating=1000 + FIRST_RANGE)) == [("ann", "ben")]


def test_one_alone_waits() -> None:
    assert matched(waiting("ann", for_ms=ANYBODY)) == []
    assert matched() == []


def test_the_range_grows_with_each_second_that_one_of_them_has_waited() -> None:
    far = FIRST_RANGE + 10 * WIDENING
    for ann_waits, ben_waits in ((10_000, 0), (0, 10_000)):
        ann, ben = waiting("ann", for_ms=ann_waits), waiting("ben", for_ms=ben_waits, rating=1000 + far)
        assert len(matched(ann, ben)) == 1
    assert matched(waiting("ann", for_ms=9_999), waiting("ben", rating=1000 + far)) == []


def test_in_the_end_anybody_will_do() -> None:
    assert matched(waiting("ann", for_ms=ANYBODY - 1, rating=0), waiting("ben", rating=3000)) == []
    assert matched(waiting("ann", for_ms=ANYBODY, rating=0), waiting("ben", rating=3000)) == [("ann", "ben")]


def test_the_longest_waiting_chooses_first_and_takes_the_nearest() -> None:
    ann = waiting("ann", for_ms=9_000, rating=1000)
    ben = waiting("ben", for_ms=3_000, rating=1090)
    cat = waiting("cat", for_ms=1_000, rating=1030)
    dan = waiting("dan", for_ms=2_000, rating=1095)
    assert matched(cat, dan, ben, ann) == [("ann", "cat"), ("ben", "dan")]


@pytest.mark.parametrize(("ben", "cat", "nearest"), [(910, 1020, "cat"), (980, 1090, "ben")])
def test_the_nearest_may_be_better_or_worse(ben: int, cat: int, nearest: str) -> None:
    ann = waiting("ann", for_ms=9)
    assert matched(ann, waiting("ben", rating=ben), waiting("cat", rating=cat)) == [("ann", nearest)]


def test_of_equally_near_rivals_the_longer_waiting_one_is_taken() -> None:
    ann, ben, cat = (waiting(name, for_ms=ms) for name, ms in (("ann", 900), ("ben", 500), ("cat", 700)))
    assert matched(ann, ben, cat) == [("ann", "cat")]


class TestBots:
    def test_who_wants_none_gets_none(self) -> None:
        assert matched(waiting("ann", for_ms=ANYBODY), waiting("robo", bot=True, bots=True)) == []

    def test_who_wants_one_is_offered_one_after_ten_seconds(self) -> None:
        robo = waiting("robo", bot=True)
        assert BOT_AFTER == 10_000
        assert matched(waiting("ann", for_ms=BOT_AFTER - 1, bots=True), robo) == []
        assert matched(waiting("ann", for_ms=BOT_AFTER, bots=True), robo) == [("ann", "robo")]

    def test_how_long_the_bot_has_waited_does_not_count(self) -> None:
        assert matched(waiting("ann", bots=True), waiting("robo", for_ms=ANYBODY, bot=True, bots=True)) == []

    def test_a_bot_is_offered_whatever_its_rating_the_nearest_first(self) -> None:
        ann = waiting("ann", for_ms=BOT_AFTER, rating=500, bots=True)
        strong, stronger = (waiting(name, rating=rating, bot=True) for name, rating in (("b1", 2000), ("b2", 2600)))
        assert matched(ann, stronger, strong) == [("ann", "b1")]

    def test_a_person_comes_before_any_bot(self) -> None:
        ann = waiting("ann", for_ms=BOT_AFTER, bots=True)
        assert matched(ann, waiting("robo", bot=True), waiting("ben", rating=1250)) == [("ann", "ben")]

    def test_two_bots_race_if_both_want_to(self) -> None:
        one, other = waiting("b1", bot=True, bots=True), waiting("b2", bot=True, bots=True)
        assert matched(one, other) == [("b1", "b2")]

    @pytest.mark.parametrize("wanting", [False, True])
    def test_bots_that_wait_for_people_do_not_race_each_other(self, wanting: bool) -> None:
        one = waiting("b1", for_ms=ANYBODY, bot=True)
        assert matched(one, waiting("b2", for_ms=ANYBODY, bot=True, bots=wanting)) == []


@given(st.lists(WAITING, max_size=20))
def test_nobody_races_twice_or_against_themselves_or_a_bot_unasked(queue: list[Waiting]) -> None:
    found = pairs(queue, NOW)
    racing = [who.player.id for pair in found for who in pair]
    assert len(racing) == len(set(racing))
    for pair in found:
        for who, rival in (pair, pair[::-1]):
            if rival.player.bot:
                assert who.bots
                assert who.player.bot or NOW - who.since >= BOT_AFTER


@given(st.lists(WAITING, max_size=20))
def test_two_who_may_race_are_never_both_left_waiting(queue: list[Waiting]) -> None:
    racing = {who.player.id for pair in pairs(queue, NOW) for who in pair}
    left = [who for who in queue if who.player.id not in racing]
    assert pairs(left, NOW) == []


@given(st.lists(WAITING, min_size=2, max_size=20), st.randoms(use_true_random=False))
def test_fair_to_the_longest_waiting(queue: list[Waiting], chance: Random) -> None:
    """Whoever has waited longest races if there is anybody whom they may race, in whichever order the store lists."""
    chance.shuffle(queue)
    first = min(queue, key=lambda who: (who.since, who.player.id))
    if any(pairs((first, rival), NOW) for rival in queue if rival is not first):
        assert first in pairs(queue, NOW)[0]
