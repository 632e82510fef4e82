"""Replays from the record: every game that can end verifies, and is shown to those who may see it."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import CancelReason, EntrantStatus, RaceKind, Settings
from cellrace.replay import sign_replay
from cellrace.verifying import verify
from cellrace_server.core.daily import closes_at, day_of, published_at
from cellrace_server.core.facts import Cancelled, CountdownBegan, Done, Joined, Over, Tally
from cellrace_server.core.race import Race, standings
from cellrace_server.replays import check_access, unsigned_replay
from cellrace_server.store.races import Entry
from tests.protocol.replays import KEY, KEYS, PUBLIC
from tests.server.races import ANN, BEN, START, after, new_race
from tests.server.shell import DEAL, SECRET, SHORT, WIN

END = START + 60_000


def begun(settings: Settings = SHORT, kind: RaceKind = RaceKind.RACE, start_at: int = START) -> Race:
    """A race of Ann and Ben that has begun."""
    commitment = SECRET.commitment(settings.variant)
    return after(new_race(settings, kind=kind), Joined(ANN), Joined(BEN), CountdownBegan(start_at, commitment))


def over(race: Race) -> Race:
    """The race when it is over."""
    race = after(
        race,
        *(Done(player.id, EntrantStatus.CONCEDED, Tally()) for player in (ANN, BEN) if _plays(race, player.id)),
        at=END,
    )
    return after(race, Over(standings(race)), at=END)


def _plays(race: Race, player: str) -> bool:
    entrant = race.entrant(player)
    return entrant is not None and entrant.done is None


def refused(race: Race, viewer: str, now: int = END) -> str | None:
    """The code with which somebody is refused."""
    try:
        check_access(race, viewer, now)
    except Refused as no:
        return no.code
    return None


class TestAccess:
    def test_it_is_too_early_until_the_race_is_over(self) -> None:
        open_race = after(new_race(SHORT), Joined(ANN))
        running = begun()
        for viewer in (ANN.id, "stranger", ""):
            assert refused(open_race, viewer) == ErrorCode.TOO_EARLY
            assert refused(running, viewer) == ErrorCode.TOO_EARLY
            assert refused(over(running), viewer) is None

    def test_who_is_done_must_wait_for_the_others(self) -> None:
        done = after(begun(), Done(ANN.id, EntrantStatus.CONCEDED, Tally()), at=START + 5)
        assert refused(done, ANN.id) == ErrorCode.TOO_EARLY

    def test_a_private_race_is_its_entrants_own(self) -> None:
        private = replace(SHORT, private=True)
        for race in (after(new_race(private), Joined(ANN)), begun(private), over(begun(private))):
            assert refused(race, "stranger") == ErrorCode.NOT_ALLOWED
            assert refused(race, "") == ErrorCode.NOT_ALLOWED
        assert refused(over(begun(private)), BEN.id) is None

    def test_a_cancelled_race_keeps_its_deal(self) -> None:
        cancelled = after(begun(), Cancelled(CancelReason.ALL_FORFEITED))
        assert refused(cancelled, ANN.id) == ErrorCode.TOO_EARLY

    def test_a_daily_is_everybody_s_when_it_is_published_and_not_before(self) -> None:
        start_at = 1_791_900_000_000
        daily = over(begun(replace(SHORT, private=True), RaceKind.DAILY, start_at))
        published = published_at(day_of(start_at))
        for now in (start_at, closes_at(day_of(start_at)), published - 1):
            assert refused(daily, ANN.id, now) == ErrorCode.TOO_EARLY
            assert refused(daily, "stranger", now) == ErrorCode.NOT_ALLOWED
        for viewer in (ANN.id, "stranger", ""):
            assert refused(daily, viewer, published) is None

    def test_an_attempt_after_midnight_belongs_to_the_day_on_which_it_began(self) -> None:
        start_at = closes_at(day_of(1_791_900_000_000)) - 1
        daily = over(begun(replace(SHORT, private=True), RaceKind.DAILY, start_at))
        assert refused(daily, "", start_at + 3_600_000) == ErrorCode.NOT_ALLOWED
        assert refused(daily, "", start_at + 1 + 3_600_000) is None


def log(*waits: int) -> list[Entry]:
    """The winning moves with these pauses, the last of them for all that are left."""
    at, entries = START, []
    for number, move in enumerate(WIN):
        at += waits[min(number, len(waits) - 1)]
        entries.append(Entry(at, move))
    return entries


def faults(race: Race, player: str, entries: list[Entry]) -> list[str]:
    """What of an entrant's replay does not verify."""
    entrant = race.entrant(player)
    assert entrant is not None
    assert entrant.finish is not None
    replay = unsigned_replay(race, entrant.finish, SECRET, entries)
    text = msgspec.json.encode(sign_replay(replay, PUBLIC, KEY.sign))
    return [check.sentence for check in verify(text, KEYS) if not check.holds]


@pytest.mark.parametrize("latency", [0, 37, 250])
@pytest.mark.parametrize("pause", [0, 10, 5_000])
def test_a_win_verifies_with_its_time(latency: int, pause: int) -> None:
    entries = log(pause)
    tally = Tally(len(WIN), 13, len(WIN), 0)
    race = over(after(begun(), Done(ANN.id, EntrantStatus.WON, tally, latency), at=entries[-1].at))
    assert faults(race, ANN.id, entries) == []
    winner = race.entrant(ANN.id)
    assert winner is not None
    assert winner.finish is not None
    replay = unsigned_replay(race, winner.finish, SECRET, entries)
    assert race.standings is not None
    standing = race.standings[0]
    assert (replay.result.time, replay.result.raw, replay.result.latency) == (
        standing.time,
        standing.raw,
        standing.latency,
    )
    assert replay.deal == DEAL


@pytest.mark.parametrize(
    "status",
    [EntrantStatus.CONCEDED, EntrantStatus.TIMED_OUT, EntrantStatus.FORFEITED, EntrantStatus.ABANDONED],
)
def test_every_other_end_verifies_without_a_time(status: EntrantStatus) -> None:
    entries = log(100)[:-1]
    home = 13 - _cards_of_the_last_move()
    race = over(after(begun(), Done(ANN.id, status, Tally(len(entries), home, len(entries), 0)), at=END))
    assert faults(race, ANN.id, entries) == []


def _cards_of_the_last_move() -> int:
    assert WIN[-1].endswith("h"), "a game without autoplay ends with a card that goes home"
    return 1


def test_a_game_that_ran_out_of_time_ended_at_the_limit_however_late_that_was_written() -> None:
    race = begun(replace(SHORT, time_limit=30))
    race = over(after(race, Done(ANN.id, EntrantStatus.TIMED_OUT, Tally()), at=START + 32_500))
    ann = race.entrant(ANN.id)
    assert ann is not None
    assert ann.finish is not None
    assert unsigned_replay(race, ann.finish, SECRET, []).ended == 30_000
    assert faults(race, ANN.id, []) == []


def test_who_forfeits_in_the_countdown_has_a_game_of_no_length() -> None:
    race = over(after(begun(), Done(ANN.id, EntrantStatus.FORFEITED, Tally()), at=START - 2_000))
    ann = race.entrant(ANN.id)
    assert ann is not None
    assert ann.finish is not None
    assert unsigned_replay(race, ann.finish, SECRET, []).ended == 0
    assert faults(race, ANN.id, []) == []
