"""Since when an entrant is gone, and whether this node may say so (NODES, 10 and 11)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellrace_server.core.presence import (
    FIRST_CONTACT,
    NODE_SILENCE,
    Nodes,
    Presence,
    absences,
    absent_since,
    is_set_back,
    judges,
)
from tests.server.races import ANN, BEN, CAT, open_race

NOW = 1_000_000
ALIVE = Nodes(
    {"here": NOW - 1_000, "dead": NOW - 20_000, "stopped": NOW - 3_000},
    up_since=500_000,
    contact_at=600_000,
    seen_at=NOW - 1_000,
    left=frozenset({"stopped"}),
)


@pytest.mark.parametrize(
    ("presence", "since"),
    [
        pytest.param(Presence("1.a", "here", None), None, id="connected at a node that lives"),
        pytest.param(Presence("1.a", "here", NOW - 7_000), NOW - 7_000, id="its connection was lost"),
        pytest.param(Presence("1.a", "dead", None), NOW - 20_000, id="its node has beaten no more since then"),
        pytest.param(Presence("1.a", "dead", NOW - 30_000), NOW - 30_000, id="gone before its node died"),
        pytest.param(Presence("1.a", "stopped", None), NOW - 3_000, id="its node has said that it ends"),
        pytest.param(Presence("1.a", "unknown", None), 500_000, id="a node without any beat: since there was a node"),
        pytest.param(Presence("1.a", "here", 400_000), 500_000, id="no absence starts before there was a node"),
    ],
)
def test_an_absence_begins_with_what_was_lost_first(presence: Presence, since: int | None) -> None:
    assert absent_since(presence, ALIVE, NOW) == since


@pytest.mark.parametrize(("age", "dead"), [(NODE_SILENCE - 1, False), (NODE_SILENCE, True)])
def test_a_node_is_dead_after_ten_seconds_without_a_beat(age: int, dead: bool) -> None:
    nodes = Nodes({"n": NOW - age}, 0, 0, NOW)
    assert (absent_since(Presence("1.a", "n", None), nodes, NOW) is not None) is dead


def test_a_node_that_has_never_looked_judges_nobody() -> None:
    assert not judges(Nodes({}, 0, 0, 0), NOW)


@pytest.mark.parametrize(("contact", "may"), [(NOW - FIRST_CONTACT + 1, False), (NOW - FIRST_CONTACT, True)])
def test_a_node_judges_nobody_in_its_first_fifteen_seconds(contact: int, may: bool) -> None:
    assert judges(Nodes({"here": NOW}, contact, contact, NOW), NOW) is may


@pytest.mark.parametrize(("age", "may"), [(NODE_SILENCE - 1, True), (NODE_SILENCE, False)])
def test_a_node_without_contact_judges_nobody_for_its_own_beat_seems_old_too(age: int, may: bool) -> None:
    """After an outage of the store the beats known here are old, and everybody would seem to be gone."""
    nodes = Nodes({"here": NOW - age}, 0, 0, NOW - age)
    assert judges(nodes, NOW) is may
    if absent_since(Presence("1.a", "here", None), nodes, NOW) is not None:
        assert not judges(nodes, NOW)


@given(st.integers(0, NOW) | st.none(), st.integers(0, NOW) | st.none(), st.integers(0, NOW))
def test_no_absence_starts_before_up_since_or_in_the_future(gone_at: int | None, beat: int | None, up: int) -> None:
    nodes = Nodes({} if beat is None else {"n": beat}, up, 0, NOW)
    since = absent_since(Presence("1.a", "n", gone_at), nodes, NOW)
    assert since is None or up <= since <= NOW


def test_the_absent_of_a_race_are_the_entrants_without_a_connection() -> None:
    race = open_race(ANN, BEN, CAT)
    connections = {
        "ann": Presence("1.a", "here", None),
        "ben": Presence("1.b", "here", NOW - 7_000),
        "dan": Presence("1.d", "dead", None),
    }
    assert absences(race, connections, ALIVE, NOW) == {"ben": NOW - 7_000, "cat": race.changed_at}


@pytest.mark.parametrize(
    ("presence", "known"),
    [
        (Presence("1.a", "here", None), True),
        (Presence("1.a", "dead", None), True),
        (Presence("1.a", "unknown", None), False),
        (Presence("1.a", "unknown", NOW), True),
    ],
)
def test_a_connection_is_known_whose_node_has_beaten_and_one_that_is_gone(presence: Presence, known: bool) -> None:
    assert ALIVE.know(presence) is known


@pytest.mark.parametrize(
    ("known", "set_back"), [("", True), ("2.a", True), ("3.a", False), ("3.b", False), ("10.a", False)]
)
def test_a_record_that_knows_no_connection_or_an_older_one_was_set_back(known: str, set_back: bool) -> None:
    assert is_set_back(known, "3.a") is set_back
