"""When to come back, what time it is, how fast to send: pure, so nothing waits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellrace_client.connection.backoff import (
    LONGEST_TRY,
    LONGEST_WAIT,
    RESTART_SPREAD,
    Trying,
    comes_back,
    wait_before_return,
)
from cellrace_client.connection.clock import RaceClock
from cellrace_client.connection.throttle import TokenBucket

draws = st.floats(0, 1, exclude_max=True)


@given(st.integers(0, 10_000), draws, st.sampled_from([None, 1001, 1006, 4000, 4001]))
def test_no_wait_is_longer_than_the_longest(attempt: int, draw: float, code: int | None) -> None:
    """Waits are between nothing and the longest, whatever happened."""
    assert 0 <= wait_before_return(attempt, code, draw) <= max(LONGEST_WAIT, RESTART_SPREAD)


def test_waits_grow_with_each_attempt_and_are_spread_from_nothing() -> None:
    """Full jitter: each attempt doubles the longest wait, and any wait below it may come."""
    longest = [wait_before_return(attempt, None, 1.0) for attempt in range(8)]
    assert longest == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]
    assert wait_before_return(7, None, 0.0) == 0.0


def test_after_a_restart_the_first_return_is_spread_over_five_seconds() -> None:
    """1001 asks for a random delay of up to 5 s; what fails then goes on as usual."""
    assert wait_before_return(0, 1001, 1.0) == 5.0
    assert wait_before_return(1, 1001, 1.0) == 0.5


@pytest.mark.parametrize("code", [None, 1000, 1001, 1006, 1011, 4000, 4001, 4050])
def test_comes_back_after(code: int | None) -> None:
    """A cut, a restart, and all of 40xx."""
    assert comes_back(code)


@pytest.mark.parametrize("code", [1002, 1007, 1009, 4100, 4101, 4102, 4103, 4104, 4199])
def test_stays_away_after(code: int) -> None:
    """All of 41xx, and what it would do wrong again."""
    assert not comes_back(code)


@given(
    st.floats(0, 1e6),
    st.lists(st.tuples(st.floats(0.001, 2), st.floats(0, 1)), min_size=1, max_size=10),
    st.integers(1_600_000_000_000, 1_900_000_000_000),
)
def test_the_race_clock_is_right_within_half_the_best_round_trip(
    start: float, trips: list[tuple[float, float]], epoch: int
) -> None:
    """However a round trip splits into ways, the estimate is off by half of the shortest at most."""
    local = start

    def race_time(at: float) -> float:
        return epoch + (at - start) * 1000

    clock = RaceClock(lambda: local)
    for round_trip, share in trips:
        sent, local = local, local + round_trip
        clock.sample(sent, local, round(race_time(sent + round_trip * share)))
    best = min(round_trip for round_trip, _ in trips)
    assert abs(clock.now() - race_time(local)) <= best * 500 + 2


def test_the_race_clock_never_goes_back() -> None:
    """A better sample that says it is earlier stops the clock and does not turn it back."""
    local = 10.0
    clock = RaceClock(lambda: local)
    clock.sample(8.0, 10.0, 1_000_000)
    told = clock.now()
    clock.sample(10.0, 10.0, 1_000_000)
    assert clock.now() == told
    local = 13.0
    assert clock.now() == 1_003_000


@given(st.lists(st.floats(0.001, 0.5), min_size=1, max_size=40), st.floats(0.001, 2), st.floats(0, 1), st.data())
def test_a_clock_that_was_set_is_right_again_with_the_next_answer(
    trips: list[float], last: float, share: float, data: st.DataObject
) -> None:
    """Set forward or back, or the local one stood still: what was learnt before is believed no longer."""
    local, ahead = 1000.0, 1_700_000_000_000.0
    clock = RaceClock(lambda: local)

    def answered(round_trip: float, share: float) -> None:
        nonlocal local
        sent, told = local, (local + round_trip * share) * 1000 + ahead
        local += round_trip
        clock.sample(sent, local, round(told))

    for round_trip in trips:
        answered(round_trip, 0.5)
        clock.now()
    # By more than the uncertainty of both.
    ahead += data.draw(st.sampled_from([1, -1])) * data.draw(st.floats(4_000, 1e9))
    answered(last, share)
    assert abs(clock.now() - (local * 1000 + ahead)) <= last * 500 + 2


@given(st.lists(st.floats(0, LONGEST_TRY), max_size=20), st.floats(LONGEST_TRY, 1e6))
def test_only_the_time_in_which_somebody_tried_is_counted(tries: list[float], asleep: float) -> None:
    """A machine that slept, or a program that was stopped, has not tried in vain meanwhile."""
    now = 50.0
    trying = Trying(now)
    for seconds in tries:
        now += seconds
        trying.failed(now)
    assert trying.failed(now) == pytest.approx(sum(tries))
    assert trying.failed(now + asleep) == pytest.approx(sum(tries) + LONGEST_TRY)


def test_the_race_clock_is_unknown_before_the_first_sample() -> None:
    """Nobody is told a time that nobody knows."""
    clock = RaceClock(lambda: 0.0)
    assert clock.round_trip is None
    with pytest.raises(RuntimeError):
        clock.now()


@given(st.lists(st.floats(0, 0.2), min_size=1, max_size=300))
def test_the_bucket_lets_no_more_through_than_the_server_takes(pauses: list[float]) -> None:
    """Whoever waits as the bucket says never finds the server's bucket empty."""
    now, server, filled = 0.0, 60.0, 0.0
    bucket = TokenBucket(60, 30, now)
    for pause in pauses:
        now += pause
        while (wait := bucket.take(now)) > 0:
            now += wait + 1e-6
        server = min(60.0, server + (now - filled) * 30) - 1
        filled = now
        assert server >= 0
