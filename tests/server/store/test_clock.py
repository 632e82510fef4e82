"""The race clock: within its bound of the store's time, never backwards, and honest when it is not good enough."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis.exceptions import ConnectionError as NotConnected

from cellrace_server.store import clock as clocks
from cellrace_server.store.clock import (
    DRIFT,
    LARGEST_DISAGREEMENT,
    LARGEST_ERROR,
    SLEW,
    STEP_AFTER,
    Estimate,
    RaceClock,
    Sample,
)
from cellrace_server.store.errors import StoreUnavailable
from tests.waiting import eventually

MS = 1_000
SECOND = 1_000_000
EPOCH = 1_700_000_000 * SECOND

moments = st.integers(0, 120 * SECOND)
round_trips = st.integers(0, 400 * MS)


def sample(received: int, ahead: int = 0, round_trip: int = 2 * MS) -> Sample:
    """What a store says whose clock is `ahead` of EPOCH + monotonic, halfway through a round trip."""
    sent = received - round_trip
    return Sample(sent, received, EPOCH + (sent + received) // 2 + ahead)


def shown_ahead(estimate: Estimate, monotonic: int) -> int:
    return estimate.now_at(monotonic) - EPOCH - monotonic


def fed_until(estimate: Estimate, start: int, end: int, ahead: int) -> Estimate:
    """Feed a sample every two seconds from `start` to `end`."""
    for moment in range(start, end + 1, 2 * SECOND):
        estimate = estimate.fed(sample(moment, ahead), moment)
    return estimate


class TestBounds:
    @given(
        drift=st.integers(-DRIFT // 2, DRIFT // 2),
        trips=st.lists(st.tuples(moments, round_trips, st.floats(0, 1)), min_size=1, max_size=50),
        later=moments,
    )
    def test_the_stores_time_lies_within_the_bound_of_what_the_samples_say(self, drift, trips, later):
        def store_at(moment: float) -> int:
            return EPOCH + int(moment + moment * drift / 1_000_000)

        samples = [
            Sample(received - trip, received, store_at(received - trip * late))
            for received, trip, late in sorted(trips)
        ]  # fmt: skip
        estimate = Estimate.start(samples[0])
        for each in samples[1:]:
            estimate = estimate.fed(each, each.received)
        moment = samples[-1].received + later
        told = moment + estimate.best.offset
        assert abs(told - store_at(moment)) <= estimate.error_bound_at(moment) + 2
        shown = estimate.now_at(moment)
        assert abs(shown - store_at(moment)) <= (estimate.error_bound_at(moment) + estimate.disagreement_at(moment) + 2)

    def test_the_bound_is_half_the_best_round_trip(self):
        estimate = Estimate.start(sample(0, round_trip=20 * MS))
        estimate = estimate.fed(sample(MS, round_trip=3 * MS), MS)
        estimate = estimate.fed(sample(2 * MS, round_trip=40 * MS), 2 * MS)
        assert estimate.error_bound_at(2 * MS) == 1_500

    def test_the_bound_of_an_old_sample_grows_until_a_newer_one_is_better(self):
        estimate = Estimate.start(sample(0, round_trip=2 * MS))
        assert estimate.error_bound_at(100 * SECOND) == MS + 100 * DRIFT
        estimate = estimate.fed(sample(100 * SECOND, round_trip=4 * MS), 100 * SECOND)
        assert estimate.error_bound_at(100 * SECOND) == 2 * MS

    def test_a_slow_answer_neither_moves_the_clock_nor_alarms(self):
        estimate = Estimate.start(sample(0))
        sent, received = SECOND, 3 * SECOND
        late = estimate.fed(Sample(sent, received, EPOCH + sent), received)
        assert late.best == estimate.best
        assert late.disagreement_at(received) == 0
        assert late.ready_at(received)


class TestReadings:
    @given(
        events=st.lists(st.tuples(st.integers(0, 5 * SECOND), round_trips, st.integers(-20 * SECOND, 20 * SECOND))),
        steps=st.lists(st.integers(0, SECOND), min_size=1, max_size=5),
    )
    def test_they_never_go_backwards_whatever_the_store_says(self, events, steps):
        estimate, moment = Estimate.start(sample(0)), 0
        readings = []
        for pause, round_trip, ahead in events:
            for step in steps:
                readings.append(estimate.now_at(moment))
                moment += step
            moment += pause
            readings.append(estimate.now_at(moment))
            estimate = estimate.fed(sample(moment, ahead, round_trip), moment)
            readings.append(estimate.now_at(moment))
        assert all(before <= after for before, after in pairwise(readings))

    @given(
        ahead=st.integers(-20 * SECOND, LARGEST_DISAGREEMENT),
        pauses=st.lists(st.integers(0, 3 * SECOND), min_size=1, max_size=30),
    )
    def test_they_are_corrected_by_at_most_five_ms_a_second(self, ahead, pauses):
        estimate, moment = Estimate.start(sample(0)), 0
        for pause in pauses:
            before, began = shown_ahead(estimate, moment), moment
            moment += pause
            estimate = estimate.fed(sample(moment, ahead), moment)
            correction = abs(shown_ahead(estimate, moment) - before)
            assert correction <= (moment - began) * SLEW / SECOND

    @given(st.integers(-LARGEST_DISAGREEMENT, LARGEST_DISAGREEMENT))
    def test_a_small_jump_is_made_good_at_that_pace_and_no_further(self, ahead):
        estimate = Estimate.start(sample(0)).fed(sample(2 * SECOND, ahead), 2 * SECOND)
        if abs(ahead) > 3 * MS:
            assert estimate.disagreement_at(2 * SECOND) == abs(ahead)
            assert shown_ahead(estimate, 3 * SECOND) == (5 * MS if ahead > 5 * MS else max(ahead, -5 * MS))
        assert estimate.disagreement_at(60 * SECOND) == 0

    def test_the_first_sample_is_believed_at_once(self):
        assert Estimate.start(sample(0, ahead=7 * SECOND)).now_at(0) == EPOCH + 7 * SECOND


class TestReadiness:
    @pytest.mark.parametrize("direction", [1, -1])
    def test_more_than_250_ms_of_disagreement_is_not_ready(self, direction):
        estimate = Estimate.start(sample(0))
        just = estimate.fed(sample(SECOND, direction * LARGEST_DISAGREEMENT), SECOND)
        assert just.ready_at(SECOND)
        more = estimate.fed(sample(SECOND, direction * (LARGEST_DISAGREEMENT + 1)), SECOND)
        assert not more.ready_at(SECOND)
        assert more.ready_at(2 * SECOND)

    def test_more_than_25_ms_of_error_is_not_ready(self):
        assert Estimate.start(sample(0, round_trip=2 * LARGEST_ERROR)).ready_at(0)
        assert not Estimate.start(sample(0, round_trip=2 * LARGEST_ERROR + 2)).ready_at(0)

    def test_a_store_that_says_nothing_for_minutes_makes_the_clock_unready(self):
        estimate = Estimate.start(sample(0))
        assert estimate.ready_at(60 * SECOND)
        assert not estimate.ready_at(300 * SECOND)

    def test_a_store_far_ahead_is_followed_in_one_step_after_ten_seconds(self):
        estimate = fed_until(Estimate.start(sample(0)), 2 * SECOND, 2 * SECOND + STEP_AFTER - 2 * SECOND, 5 * SECOND)
        assert not estimate.ready_at(STEP_AFTER)
        stepped = estimate.fed(sample(2 * SECOND + STEP_AFTER, 5 * SECOND), 2 * SECOND + STEP_AFTER)
        assert stepped.disagreement_at(2 * SECOND + STEP_AFTER) == 0
        assert stepped.ready_at(2 * SECOND + STEP_AFTER)

    def test_a_store_that_was_ahead_for_a_moment_is_not_followed(self):
        estimate = Estimate.start(sample(0)).fed(sample(2 * SECOND, 5 * SECOND), 2 * SECOND)
        estimate = fed_until(estimate, 4 * SECOND, 30 * SECOND, 0)
        estimate = estimate.fed(sample(32 * SECOND, 5 * SECOND), 32 * SECOND)
        assert estimate.disagreement_at(32 * SECOND) > 4 * SECOND

    def test_a_store_far_behind_is_only_approached(self):
        estimate = fed_until(Estimate.start(sample(0)), 2 * SECOND, 102 * SECOND, -5 * SECOND)
        assert shown_ahead(estimate, 102 * SECOND) == -500 * MS
        assert not estimate.ready_at(102 * SECOND)


class TestSampling:
    async def test_it_keeps_the_time_of_a_real_store(self, redis_client):
        async with await RaceClock.open(redis_client.time) as clock:
            await eventually(lambda: clock.ready)
            before = clock.now() - clock.margin
            seconds, micros = await redis_client.time()
            after = clock.now() + clock.margin
            assert before <= seconds * 1000 + micros / 1000 <= after + 1

    async def test_it_samples_fast_at_first(self, redis_client, monkeypatch):
        pauses: list[float] = []

        async def noted(seconds: float) -> None:
            pauses.append(seconds)
            await asyncio.sleep(0)

        monkeypatch.setattr(clocks, "asyncio", SimpleNamespace(**{**vars(asyncio), "sleep": noted}))
        async with await RaceClock.open(redis_client.time):
            await eventually(lambda: len(pauses) > 9)
        assert sum(pauses[:7]) < 1
        assert pauses[7] >= 1

    async def test_a_store_that_does_not_answer_stops_neither_the_clock_nor_the_sampling(self):
        answers = iter([(100, 0), NotConnected("gone"), NotConnected("gone"), (200, 0), (200, 0)])

        async def flaky() -> tuple[int, int]:
            answer = next(answers, (200, 0))
            if isinstance(answer, Exception):
                raise answer
            return answer

        async with await RaceClock.open(flaky, monotonic=lambda: 50.0) as clock:
            assert clock.now() == 100_000
            await eventually(lambda: clock.disagreement == 100_000)
            assert not clock.ready

    async def test_a_store_that_tells_no_time_at_the_start_is_unavailable(self):
        async def silent() -> tuple[int, int]:
            raise NotConnected("gone")

        with pytest.raises(StoreUnavailable, match="does not tell the time"):
            await RaceClock.open(silent)

    async def test_it_reads_in_milliseconds_and_waits_in_seconds(self):
        moment = 50.0

        async def read() -> tuple[int, int]:
            return 100, 250_999

        clock = await RaceClock.open(read, monotonic=lambda: moment)
        await clock.close()
        assert clock.now() == 100_250
        assert clock.at(50.5) == 100_750
        assert clock.seconds_until(101_000) == pytest.approx(0.749_001)
        assert clock.seconds_until(100_000) == 0
        assert (clock.error_bound, clock.disagreement, clock.margin) == (0, 0, 0)
        moment = 60.0
        assert clock.now() == 110_250
        assert clock.error_bound == 1.0
        assert clock.margin == 1

    async def test_closing_ends_the_sampling(self, redis_client):
        clock = await RaceClock.open(redis_client.time)
        before = asyncio.all_tasks()
        assert any(task.get_name() == "race-clock-sampler" for task in before)
        await clock.close()
        await clock.close()
        assert not any(task.get_name() == "race-clock-sampler" for task in asyncio.all_tasks())
