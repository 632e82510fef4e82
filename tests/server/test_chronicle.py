"""One line when a race begins and one when it ends, and the counts of both."""

from __future__ import annotations

from structlog.testing import capture_logs

from cellrace.messages import CancelReason, EntrantStatus, LeftReason, Player, RaceKind, settle
from cellrace_server import chronicle
from cellrace_server.core.facts import Cancelled, CountdownBegan, Done, Fact, Joined, Left, Over, Stamped, Tally
from cellrace_server.core.race import Race, evolve, standings
from cellrace_server.counts import Counts

ANN, BOB = Player(id="p1", name="Ann", bot=False), Player(id="p2", name="Bob", bot=True)
BEGUN = CountdownBegan(5_000, "c" * 64)


def race_after(*facts: Fact) -> Race:
    """A race of FreeCell after some facts, one a second."""
    race = Race(id="r1", kind=RaceKind.RACE, settings=settle(None), created_at=0, created_by="p1")
    for stamped in stamp(race, *facts):
        race = evolve(race, stamped)
    return race


def stamp(race: Race, *facts: Fact) -> list[Stamped]:
    """The facts on record after a race, one a second."""
    return [Stamped(race.version + n, "c", 1000 * (race.version + n), fact) for n, fact in enumerate(facts, 1)]


def test_a_race_begins_with_those_who_are_still_in_it() -> None:
    counts, race = Counts(), race_after(Joined(ANN), Joined(BOB))
    with capture_logs() as lines:
        chronicle.note(counts, race, stamp(race, Left("p2", LeftReason.NOT_READY), BEGUN))
    assert lines == [
        {
            "event": "race begun",
            "log_level": "info",
            "race": "r1",
            "variant": "freecell",
            "entrants": 1,
            "start_at": 5000,
        }
    ]
    assert counts.begun == {"freecell": 1}


def test_a_race_ends_with_its_winner_and_how_long_it_took() -> None:
    won = Done("p1", EntrantStatus.WON, Tally(80, 52, 80, 0), 200)
    lost = Done("p2", EntrantStatus.CONCEDED, Tally(5, 3, 5, 0))
    counts, race = Counts(), race_after(Joined(ANN), Joined(BOB), CountdownBegan(3_500, "c" * 64), won, lost)
    with capture_logs() as lines:
        chronicle.note(counts, race, stamp(race, Over(standings(race))))
    (line,) = lines
    assert line["event"] == "race ended"
    assert line["log_level"] == "info"
    assert (line["race"], line["entrants"], line["winner"]) == ("r1", 2, "p1")
    assert line["time"] == 0.3, "4,000 is the stamp of the win; 200 ms of latency are taken off"
    assert line["duration"] == 2.5
    assert counts.over == {"freecell": 1}


def test_a_race_without_a_winner_ends_without_one() -> None:
    done = Done("p1", EntrantStatus.FORFEITED, Tally())
    counts, race = Counts(), race_after(Joined(ANN), BEGUN, done)
    with capture_logs() as lines:
        chronicle.note(counts, race, stamp(race, Over(standings(race))))
    assert not {"winner", "time"} & lines[0].keys()
    assert lines[0]["duration"] == 0, "an end before the start is none of less than no time"


def test_only_a_race_that_was_begun_owes_the_log_its_cancelling() -> None:
    counts = Counts()
    with capture_logs() as lines:
        for race in (race_after(Joined(ANN)), race_after(Joined(ANN), BEGUN)):
            chronicle.note(counts, race, stamp(race, Cancelled(CancelReason.ALL_FORFEITED)))
    assert [line["log_level"] for line in lines] == ["debug", "info"]
    assert counts.cancelled == {"freecell": 2}


def test_other_facts_are_not_told() -> None:
    race = race_after()
    with capture_logs() as lines:
        chronicle.note(Counts(), race, stamp(race, Joined(ANN)))
    assert lines == []
