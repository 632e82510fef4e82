"""Standings that anyone can check."""

from __future__ import annotations

from typing import Any

import pytest

from cellrace.messages import EntrantStatus, Player, Standing
from cellrace_client.verdict import standings_faults


def standing(name: str, place: int, status: EntrantStatus, home: int = 0, **fields: Any) -> Standing:
    """A line of the standings."""
    player = Player(id=name, name=name, bot=False)
    return Standing(player=player, place=place, status=status, home=home, moves=1, undos=0, **fields)


def win(name: str, place: int, raw: int, latency: int = 0, **fields: Any) -> Standing:
    """A winner."""
    times = {"time": max(0, raw - latency), "raw": raw, "latency": latency} | fields
    return standing(name, place, EntrantStatus.WON, 52, **times)


RIGHT = (
    win("A", 1, 1000, 250),
    win("B", 1, 760, 10),
    win("C", 3, 900),
    standing("D", 4, EntrantStatus.TIMED_OUT, 40),
    standing("E", 5, EntrantStatus.CONCEDED, 30),
    standing("F", 5, EntrantStatus.TIMED_OUT, 30),
    standing("G", 7, EntrantStatus.ABANDONED, 50),
    standing("H", 8, EntrantStatus.FORFEITED, 2),
)


def test_right_standings_have_no_fault() -> None:
    """Winners by time, then cards home, then those who gave up; ties share a place."""
    assert standings_faults(RIGHT) == []
    assert standings_faults(()) == []


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ((win("A", 2, 100),), "place"),
        ((win("A", 1, 100, time=99),), "less the latency"),
        ((win("A", 1, 1000, 251),), "above 250"),
        ((standing("A", 1, EntrantStatus.WON, 52, time=100),), "without"),
        ((standing("A", 1, EntrantStatus.CONCEDED, time=5),), "without a win"),
        ((standing("A", 1, EntrantStatus.PLAYING),), "no end"),
        ((win("A", 2, 200), win("B", 1, 100)), "first"),
        ((win("A", 1, 100), win("A", 1, 100)), "twice"),
        ((standing("A", 1, EntrantStatus.FORFEITED, 9), standing("B", 2, EntrantStatus.CONCEDED)), "place"),
    ],
)
def test_each_fault_is_found(wrong: tuple[Standing, ...], word: str) -> None:
    """A sentence says what is wrong."""
    assert any(word in fault for fault in standings_faults(wrong))
