"""A room: what it takes in, what it tells, and how it knows that a record goes on where it left off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from msgspec.structs import replace

from cellrace.messages import CancelReason, CloseCode, EntrantStatus, LeftReason
from cellrace_server.core.facts import (
    Cancelled,
    CountdownBegan,
    Done,
    Fact,
    Joined,
    Left,
    Over,
    ReadySet,
    Stamped,
    Tally,
)
from cellrace_server.core.presence import Presence
from cellrace_server.core.race import Race, evolve
from cellrace_server.room import Room
from cellrace_server.store.races import Entry, Record
from tests.server.races import ANN, BEN, BORN, START, new_race, stamped
from tests.server.shell import SECRET, SHORT, WIN, FakeMember, Recorder

HERE = Presence("1.s", "here", None)
GONE = Presence("1.s", "here", START)


def recorded(
    race: Race,
    *facts: Fact,
    presence: Mapping[str, Presence] | None = None,
    logs: Mapping[str, Sequence[Entry]] | None = None,
) -> Record:
    """The record of a new race with these facts, each of a command of its own."""
    kept: list[Stamped] = []
    for fact in facts:
        kept += stamped(race, [fact], BORN)
        race = evolve(race, kept[-1])
    return Record(race, tuple(kept), dict(presence or {}), {name: tuple(log) for name, log in (logs or {}).items()})


LINED_UP: tuple[Fact, ...] = (Joined(ANN), Joined(BEN), ReadySet("ann", True), ReadySet("ben", True))
BEGUN: tuple[Fact, ...] = (*LINED_UP, CountdownBegan(START, "c"))
NEW = new_race(SHORT)


def entries(*moves: str, at: int = START + 1_000) -> tuple[Entry, ...]:
    return tuple(Entry(at, move) for move in moves)


def room_of(record: Record, *, secret: bool = True) -> tuple[Room, Recorder]:
    recorder = Recorder()
    return Room(record, SECRET if secret else None, recorder), recorder


class TestFacts:
    def test_new_ones_are_taken_in_told_and_known_ones_passed_over(self) -> None:
        room, recorder = room_of(recorded(NEW, Joined(ANN)))
        more = recorded(NEW, Joined(ANN), Joined(BEN), ReadySet("ann", True)).facts
        assert room.apply_facts(more)
        assert recorder.told == [("Joined", 2), ("ReadySet", 3)]
        assert room.apply_facts(more)
        assert len(recorder.told) == 2
        assert room.race.version == 3
        assert list(more) == room.facts

    def test_on_a_gap_nothing_is_taken_in_or_told(self) -> None:
        room, recorder = room_of(recorded(NEW, Joined(ANN)))
        whole = recorded(NEW, *LINED_UP)
        assert not room.apply_facts(whole.facts[2:])
        assert room.race.version == 1
        assert recorder.told == []

    def test_whoever_asked_is_answered_when_the_race_has_changed_and_before_anybody_is_told(self) -> None:
        room, recorder = room_of(recorded(NEW, Joined(ANN)))
        seen: list[object] = []
        room.apply_facts(
            recorded(NEW, Joined(ANN), Joined(BEN)).facts,
            lambda: seen.append((room.race.version, len(recorder.told))),
        )
        assert seen == [(2, 0)]

    def test_whoever_leaves_hears_of_it_and_then_no_more(self) -> None:
        room, recorder = room_of(recorded(NEW, *LINED_UP))
        ben = FakeMember(BEN)
        room.attach(ben)
        heard: list[bool] = []
        recorder.facts = lambda r, facts: heard.append(ben in r.members())  # type: ignore[method-assign, assignment]  # a spy
        room.apply_facts(recorded(NEW, *LINED_UP, Left("ben", LeftReason.KICKED)).facts)
        assert heard == [True]
        assert ben not in room.members()

    def test_a_spectator_who_joins_is_an_entrant_from_then_on(self) -> None:
        room, _ = room_of(recorded(NEW, Joined(ANN)))
        ben = FakeMember(BEN)
        room.attach(ben)
        assert list(room.spectators) == [ben]
        room.apply_facts(recorded(NEW, Joined(ANN), Joined(BEN)).facts)
        assert not room.spectators
        assert room.entrants_here == {"ben": ben}

    def test_a_race_that_is_over_hides_nothing_also_where_it_has_not_begun(self) -> None:
        """A clock may be behind by more than a whole race lasts; nobody is told that it starts any more."""
        facts = (*BEGUN, Done("ann", EntrantStatus.FORFEITED, Tally()), Done("ben", EntrantStatus.FORFEITED, Tally()))
        room, recorder = room_of(recorded(NEW, *facts))
        assert not room.released
        room.apply_facts(recorded(NEW, *facts, Over(())).facts)
        assert room.released
        assert "started" not in recorder.kinds
        assert room_of(recorded(NEW, *facts, Over(())))[0].released

    def test_round_trips_are_measured_at_the_countdown_and_at_the_start(self) -> None:
        room, _ = room_of(recorded(NEW, *LINED_UP))
        ann = FakeMember(ANN)
        room.attach(ann)
        room.apply_facts(recorded(NEW, *BEGUN).facts)
        assert ann.measured == 1
        room.release()
        assert ann.measured == 2


class TestTheDeal:
    def test_every_entrant_gets_the_same_game_once_it_is_known(self) -> None:
        room, _ = room_of(recorded(NEW, *BEGUN), secret=False)
        assert room.plays == {}
        room.learn_secret(SECRET)
        assert set(room.plays) == {"ann", "ben"}
        assert room.plays["ann"].game == room.plays["ben"].game

    def test_the_start_is_told_once(self) -> None:
        room, recorder = room_of(recorded(NEW, *BEGUN))
        assert not room.released
        room.release()
        room.release()
        assert recorder.told == [("started", "r")]

    def test_without_the_deal_nothing_is_told(self) -> None:
        room, recorder = room_of(recorded(NEW, *BEGUN), secret=False)
        room.release()
        assert not room.released
        assert recorder.told == []

    def test_that_of_a_race_cancelled_before_its_start_is_never_released(self) -> None:
        forfeits = [Done(name, EntrantStatus.FORFEITED, Tally()) for name in ("ann", "ben")]
        room, recorder = room_of(recorded(NEW, *BEGUN, *forfeits, Cancelled(CancelReason.ALL_FORFEITED)))
        room.release()
        assert not room.released
        assert recorder.told == []


class TestLogs:
    def test_entries_that_follow_are_told_known_ones_passed_over_and_gaps_refused(self) -> None:
        room, recorder = room_of(recorded(NEW, *BEGUN))
        assert room.extend_log("ann", 2, entries(*WIN[:2]))
        assert room.extend_log("ann", 2, entries(*WIN[:2]))
        assert room.extend_log("ann", 3, entries(*WIN[1:3]))
        assert not room.extend_log("ann", 5, entries(WIN[4]))
        assert recorder.told == [("moved", ("ann", list(WIN[:2]))), ("moved", ("ann", [WIN[2]]))]
        assert room.tally("ann") == Tally(3, room.plays["ann"].game.board.cards_home, 3, 0)

    def test_before_the_deal_is_known_they_cannot_be_taken_in(self) -> None:
        room, _ = room_of(recorded(NEW, *BEGUN), secret=False)
        assert not room.extend_log("ann", 1, entries(WIN[0]))


class TestPresence:
    def test_only_a_change_is_told(self) -> None:
        room, recorder = room_of(recorded(NEW, *LINED_UP, presence={"ann": HERE}))
        room.set_presence("ann", replace(HERE, sid="2.t"))
        room.set_presence("ann", GONE)
        room.set_presence("ann", replace(GONE, gone_at=START + 1))
        room.set_presence("ann", HERE)
        assert recorder.told == [("online", ("ann", False)), ("online", ("ann", True))]

    def test_nothing_is_told_of_those_who_are_no_entrants(self) -> None:
        room, recorder = room_of(recorded(NEW, Joined(ANN)))
        room.set_presence("ben", HERE)
        assert recorder.told == []


class TestReadingAgain:
    def test_what_is_new_is_taken_in_and_told(self) -> None:
        room, recorder = room_of(recorded(NEW, *LINED_UP), secret=False)
        room.doubt()
        before = room.known()
        room.secret = SECRET
        record = recorded(NEW, *BEGUN, presence={"ann": HERE}, logs={"ann": entries(*WIN[:2]), "ben": ()})
        assert room.refresh(record, before)
        assert not room.doubtful
        assert recorder.told == [
            ("CountdownBegan", 5),
            ("online", ("ann", True)),
            ("moved", ("ann", list(WIN[:2]))),
        ]

    def test_a_deal_that_is_learned_late_brings_the_logs_with_it(self) -> None:
        room, _ = room_of(recorded(NEW, *BEGUN), secret=False)
        room.secret = SECRET
        assert room.refresh(recorded(NEW, *BEGUN, logs={"ann": entries(WIN[0])}), room.known())
        assert room.plays["ann"].moves == (WIN[0],)

    def test_an_older_reading_is_not_another_history(self) -> None:
        """Facts and moves were heard while the record was on its way: they stay, and nobody is sent away."""
        room, _ = room_of(recorded(NEW, *BEGUN, logs={"ann": entries(WIN[0])}))
        before = room.known()
        older = recorded(NEW, *BEGUN, presence={"ann": HERE}, logs={"ann": entries(WIN[0]), "ben": ()})
        room.extend_log("ann", 2, entries(*WIN[:2]))
        room.apply_facts(recorded(NEW, *BEGUN, Done("ben", EntrantStatus.CONCEDED, Tally())).facts)
        room.set_presence("ann", GONE)
        assert room.refresh(older, before)
        assert room.race.version == 6
        assert room.plays["ann"].moves == WIN[:2]
        assert room.presence["ann"] == GONE

    def test_a_doubt_that_came_up_meanwhile_needs_another_reading(self) -> None:
        room, _ = room_of(recorded(NEW, *BEGUN))
        room.doubt()
        before = room.known()
        room.doubt()
        assert room.refresh(recorded(NEW, *BEGUN), before)
        assert room.doubtful

    @pytest.mark.parametrize(
        "record",
        [
            pytest.param(recorded(NEW, *LINED_UP), id="fewer facts"),
            pytest.param(
                recorded(NEW, *LINED_UP, ReadySet("ann", False), ReadySet("ann", True)), id="other facts in their place"
            ),
            pytest.param(recorded(NEW, *BEGUN, logs={"ann": ()}), id="fewer moves"),
            pytest.param(recorded(NEW, *BEGUN, logs={"ann": entries("3b", "31", "1a")}), id="other moves"),
            pytest.param(
                recorded(NEW, *BEGUN, logs={"ann": entries(*WIN[:2], at=START + 7)}), id="the same at another time"
            ),
        ],
    )
    def test_another_history_is_never_taken_for_this_one(self, record: Record) -> None:
        room, _ = room_of(recorded(NEW, *BEGUN, logs={"ann": entries(*WIN[:2])}))
        assert not room.refresh(record, room.known())


def test_whoever_comes_into_a_room_that_has_lost_track_is_sent_away() -> None:
    room, _ = room_of(recorded(NEW, *LINED_UP))
    room.lost = True
    ann = FakeMember(ANN)
    room.attach(ann)
    assert ann.closed is CloseCode.LOST_TRACK
