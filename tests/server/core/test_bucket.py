"""The token bucket: what it gives, what it holds back, and for how long."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cellrace_server.core.bucket import full_bucket


def test_a_full_bucket_gives_its_burst_and_then_no_more() -> None:
    bucket = full_bucket(60, 30, now=100.0)
    assert [bucket.take(1, 100.0) for _ in range(60)] == [0.0] * 60
    assert bucket.take(1, 100.0) > 0


def test_it_says_after_how_long_there_will_be_enough() -> None:
    bucket = full_bucket(10, 2, now=0.0)
    bucket.drain(10, 0.0)
    assert bucket.take(1, 0.0) == 0.5
    assert bucket.take(3, 0.0) == 1.5
    assert bucket.take(3, 1.5) == 0.0


def test_what_is_refused_takes_nothing() -> None:
    bucket = full_bucket(2, 1, now=0.0)
    assert bucket.take(3, 0.0) == 1.0
    assert bucket.take(2, 0.0) == 0.0


def test_it_never_holds_more_than_its_burst() -> None:
    bucket = full_bucket(5, 30, now=0.0)
    assert [bucket.take(1, 3600.0) for _ in range(5)] == [0.0] * 5
    assert bucket.take(1, 3600.0) > 0


def test_draining_ends_at_nothing_so_that_nobody_is_locked_out() -> None:
    bucket = full_bucket(5, 1, now=0.0)
    for _ in range(50):
        bucket.drain(4, 0.0)
    assert bucket.tokens == 0
    assert bucket.take(1, 1.0) == 0.0


@given(st.lists(st.tuples(st.floats(0, 5), st.integers(1, 5)), max_size=80))
def test_in_any_time_it_gives_no_more_than_burst_and_refill(steps: list[tuple[float, int]]) -> None:
    bucket, now, given_out = full_bucket(10, 3, now=0.0), 0.0, 0
    for pause, cost in steps:
        now += pause
        wait = bucket.take(cost, now)
        assert wait >= 0
        if not wait:
            given_out += cost
    assert given_out <= 10 + 3 * now + 1e-6
