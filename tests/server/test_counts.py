"""What a node counts, in plain numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellrace_server.counts import SECONDS, Counts, Histogram

VALUES = st.one_of(st.sampled_from(SECONDS), st.floats(0, 20))


@given(st.lists(VALUES))
def test_a_histogram_counts_each_value_once_at_the_first_bound_that_holds_it(values: list[float]) -> None:
    histogram = Histogram(SECONDS)
    for value in values:
        histogram.observe(value)
    bounds = (*SECONDS, float("inf"))
    for place, bound in enumerate(bounds):
        assert sum(histogram.counts[: place + 1]) == sum(value <= bound for value in values)
    assert histogram.total == pytest.approx(sum(values))


def test_a_move_is_counted_with_the_length_of_each_stage() -> None:
    counts = Counts()
    counts.add_move(3, read=10.0, judged=10.001, committed=10.003, answered=10.0035)
    assert counts.moves == 3
    stages = (counts.judging, counts.committing, counts.answering)
    assert [stage.total for stage in stages] == pytest.approx([0.001, 0.002, 0.0005])
    assert [sum(stage.counts) for stage in stages] == [1, 1, 1]
