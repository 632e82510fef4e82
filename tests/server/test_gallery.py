"""What spectators see of moves: at once, a minute later, or at the end; and each entry once, in order."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from cellrace.messages import EntrantStatus, Player, Spectate
from cellrace_server.core.facts import Done, Over, Tally
from cellrace_server.core.race import final_standings
from cellrace_server.core.spectating import DELAY
from cellrace_server.gallery import next_reveal, reveal, visible
from cellrace_server.net.views import logs
from cellrace_server.referee import Referee
from tests.server.races import ANN, BEN
from tests.server.shell import SHORT, WIN, FakeMember, Shell

EVE = Player(id="eve", name="Eve", bot=False)


async def played(here: Shell, spectate: Spectate, *, watched: bool = True) -> tuple[Referee, int]:
    """A race of two minutes, in which Ann played three moves after one second and one after a minute; its start."""
    race = await here.race(ANN, BEN, start_in=-120_000, settings=replace(SHORT, spectate=spectate))
    assert race.start_at is not None
    async with here.attended(race, FakeMember(ANN)) as referee:
        if watched:
            referee.room.attach(FakeMember(EVE))
        await here.move(referee, ANN, 0, *WIN[:3], at=race.start_at + 1_000)
        await here.move(referee, ANN, 3, WIN[3], at=race.start_at + 60_000)
    here.recorder.told.clear()
    return referee, race.start_at


def shown(here: Shell) -> list[tuple[str, int]]:
    """What spectators were shown: whose log, and up to where."""
    return [detail for kind, detail in here.recorder.told if kind == "shown"]  # type: ignore[misc]  # as it was noted


@pytest.mark.parametrize(
    ("spectate", "moments"),
    [
        (Spectate.LIVE, {1_000: 4}),
        (Spectate.DELAYED, {999 + DELAY: 0, 1_000 + DELAY: 3, 59_999 + DELAY: 3, 60_000 + DELAY: 4}),
        (Spectate.AFTER, {86_400_000: 0}),
    ],
)
async def test_how_much_may_be_seen_by_when(here: Shell, spectate: Spectate, moments: dict[int, int]) -> None:
    referee, start_at = await played(here, spectate)
    room = referee.room
    for elapsed, seq in moments.items():
        now = max(start_at + elapsed, here.now()) if spectate is Spectate.LIVE else start_at + elapsed
        assert visible(room, "ann", now) == seq
        told = logs(room, "eve", now)
        assert told is not None
        assert {log.player: log.moves for log in told}["ann"] == WIN[:seq]


async def test_what_was_held_back_is_shown_once_when_its_time_has_come(here: Shell) -> None:
    referee, start_at = await played(here, Spectate.DELAYED)
    for elapsed in (0, 1_000, 1_000, 30_000, 60_000, 60_000):
        reveal(referee.room, start_at + elapsed + DELAY)
    assert shown(here) == [("ann", 3), ("ann", 4)]


async def test_the_room_is_woken_for_what_is_held_back(here: Shell) -> None:
    referee, start_at = await played(here, Spectate.DELAYED)
    room = referee.room
    assert next_reveal(room) == start_at + 1_000 + DELAY
    reveal(room, start_at + 1_000 + DELAY)
    assert next_reveal(room) == start_at + 60_000 + DELAY
    reveal(room, start_at + 60_000 + DELAY)
    assert next_reveal(room) is None


@pytest.mark.parametrize("spectate", [Spectate.LIVE, Spectate.AFTER])
async def test_nor_is_it_woken_where_nothing_is_held_back_for_a_while(here: Shell, spectate: Spectate) -> None:
    referee, _ = await played(here, spectate)
    assert next_reveal(referee.room) is None


async def test_nor_where_nobody_watches(here: Shell) -> None:
    referee, _ = await played(here, Spectate.DELAYED, watched=False)
    assert next_reveal(referee.room) is None


@pytest.mark.parametrize("spectate", [Spectate.DELAYED, Spectate.AFTER])
async def test_when_the_race_is_over_what_was_held_back_goes_out_at_once(here: Shell, spectate: Spectate) -> None:
    referee, start_at = await played(here, spectate)
    room = referee.room
    reveal(room, start_at + 30_000)
    assert shown(here) == []
    done = [Done(who.id, EntrantStatus.CONCEDED, room.tally(who.id)) for who in (ANN, BEN)]
    ended = await here.append(room.race, *done)
    ended = await here.append(ended, Over(final_standings(ended)))
    record = await here.store.races.load(room.id)
    assert record is not None
    referee.tell(record.facts[room.race.version :])
    assert ended.standings is not None
    assert shown(here) == [("ann", 4)]
    assert visible(room, "ben", here.now()) == 0
    assert Tally() == room.tally("ben")
