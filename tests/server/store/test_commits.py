"""Moves on their way into the store: checked in order, written once, in batches of which each entry stands alone."""

from __future__ import annotations

import asyncio

import pytest

from cellrace.messages import CancelReason, EntrantStatus
from cellrace_server.core.facts import Cancelled, Done, Over, Tally
from cellrace_server.core.race import Race, standings
from cellrace_server.store import keys
from cellrace_server.store.commits import BATCH, Barred, Commit, Committed, Fenced, Outcome, Stale
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.races import Entry
from tests.server.races import ANN, BEN
from tests.server.shell import WIN, Shell
from tests.waiting import eventually


async def running(shell: Shell, start_in: int = -5_000) -> Race:
    race = await shell.race(ANN, BEN, start_in=start_in)
    await shell.open(race, ANN)
    await shell.open(race, BEN)
    return race


def commit(
    shell: Shell,
    race: Race,
    *moves: str,
    seq: int = 0,
    player: str = "ann",
    sid: str = "1.s",
    at: int | None = None,
    command_id: str = "c1",
    done: bool = False,
) -> Commit:
    tally = Tally(seq + len(moves), 0, seq + len(moves), 0)
    won = Done(player, EntrantStatus.WON, tally, 12) if done else None
    return Commit(race.id, player, sid, seq, shell.now() if at is None else at, moves, tally, command_id, won)


async def write(shell: Shell, *commits: Commit) -> list[Outcome]:
    return list(await asyncio.gather(*(shell.store.committer.submit(one) for one in commits)))


async def log_of(shell: Shell, race: Race, player: str = "ann") -> tuple[Entry, ...]:
    record = await shell.store.races.load(race.id)
    assert record is not None
    return record.logs[player]


async def recorded(shell: Shell, race: Race) -> Race:
    record = await shell.store.races.load(race.id)
    assert record is not None
    return record.race


class TestOneCommit:
    async def test_moves_are_entries_of_the_log_with_their_arrival(self, here: Shell) -> None:
        race = await running(here)
        at = here.now() - 40
        assert await write(here, commit(here, race, *WIN[:2], at=at)) == [Committed(at)]
        assert await log_of(here, race) == (Entry(at, WIN[0]), Entry(at, WIN[1]))

    async def test_stamps_never_fall_and_never_lie_in_the_future(self, here: Shell) -> None:
        race = await running(here)
        first = here.now() - 10
        await write(here, commit(here, race, WIN[0], at=first))
        assert await write(here, commit(here, race, WIN[1], seq=1, at=first - 900)) == [Committed(first)]
        (outcome,) = await write(here, commit(here, race, WIN[2], seq=2, at=here.now() + 60_000))
        assert isinstance(outcome, Committed)
        assert first <= outcome.at <= here.now()
        stamps = [entry.at for entry in await log_of(here, race)]
        assert stamps == sorted(stamps)

    async def test_a_win_writes_its_fact_in_the_same_call_with_the_same_stamp(self, here: Shell) -> None:
        race = await running(here)
        sent = here.link.sent.count("race_commit")
        (outcome,) = await write(here, commit(here, race, *WIN, done=True))
        assert isinstance(outcome, Committed)
        assert outcome.version == race.version + 1
        assert here.link.sent.count("race_commit") == sent + 1
        after = await recorded(here, race)
        entrant = after.entrant("ann")
        assert entrant is not None
        assert entrant.finish is not None
        assert entrant.finish.raw == outcome.at - (race.start_at or 0)
        assert (await log_of(here, race))[-1].at == after.changed_at == outcome.at


class TestRepeats:
    @pytest.mark.parametrize("lost", ["resend", "repeat"])
    async def test_the_same_moves_again_are_answered_and_not_written_again(self, here: Shell, lost: str) -> None:
        race = await running(here)
        one = commit(here, race, *WIN[:3])
        if lost == "resend":
            here.link.resend("race_commit")
            (outcome,) = await write(here, one)
        else:
            (first,) = await write(here, one)
            (outcome,) = await write(here, commit(here, race, *WIN[:3], at=here.now() + 5, command_id="c2"))
            assert isinstance(first, Committed)
        assert outcome == Committed(one.at, repeat=True)
        assert len(await log_of(here, race)) == 3

    async def test_a_win_sent_twice_is_one_fact(self, here: Shell) -> None:
        race = await running(here)
        here.link.resend("race_commit")
        (outcome,) = await write(here, commit(here, race, *WIN, done=True))
        assert isinstance(outcome, Committed)
        assert outcome.repeat
        assert (await recorded(here, race)).version == race.version + 1

    async def test_part_of_what_is_on_record_is_a_repeat_too(self, here: Shell) -> None:
        race = await running(here)
        await write(here, commit(here, race, *WIN[:4]))
        (outcome,) = await write(here, commit(here, race, *WIN[1:3], seq=1))
        assert isinstance(outcome, Committed)
        assert outcome.repeat

    @pytest.mark.parametrize(
        ("moves", "seq"),
        [
            pytest.param(["3b"], 0, id="another move in its place"),
            pytest.param(list(WIN[:3]), 0, id="more than is on record"),
            pytest.param([WIN[0]], 7, id="beyond the end"),
        ],
    )
    async def test_other_moves_are_stale(self, here: Shell, moves: list[str], seq: int) -> None:
        race = await running(here)
        await write(here, commit(here, race, *WIN[:2]))
        assert await write(here, commit(here, race, *moves, seq=seq)) == [Stale(2)]
        assert len(await log_of(here, race)) == 2


class TestTheOrderOfChecks:
    """NODES 3: connection, repeat, status, phase and limit, seq: whatever else is wrong, the first of them answers."""

    async def test_the_connection_comes_first(self, here: Shell) -> None:
        race = await running(here)
        await write(here, commit(here, race, WIN[0]))
        await here.open(race, ANN, "2.t")
        assert await write(here, commit(here, race, WIN[0])) == [Fenced()]
        assert await write(here, commit(here, race, "3b", seq=9)) == [Fenced()]

    async def test_a_repeat_is_answered_also_when_the_game_is_done(self, here: Shell) -> None:
        race = await running(here)
        await write(here, commit(here, race, WIN[0]))
        race = await here.append(race, Done("ann", EntrantStatus.CONCEDED, Tally()))
        (outcome,) = await write(here, commit(here, race, WIN[0]))
        assert isinstance(outcome, Committed)

    async def test_the_status_before_the_phase(self, here: Shell) -> None:
        race = await running(here)
        for name in ("ann", "ben"):
            race = await here.append(race, Done(name, EntrantStatus.FORFEITED, Tally()))
        await here.append(race, Over(standings(race)))
        assert await write(here, commit(here, race, WIN[0])) == [Barred("done")]

    async def test_the_phase_before_the_seq(self, here: Shell) -> None:
        opened, cancelled = await here.race(ANN), await here.race(ANN, start_in=-5_000)
        await here.append(cancelled, Cancelled(CancelReason.ALL_FORFEITED))
        for race in (opened, cancelled):
            await here.open(race, ANN)
        assert await write(here, commit(here, opened, WIN[0], seq=9)) == [Barred("not_started")]
        assert await write(here, commit(here, cancelled, WIN[0], seq=9)) == [Barred("not_running")]

    async def test_start_and_limit_by_the_arrival_and_before_the_seq(self, here: Shell) -> None:
        # Well in the past: nothing arrives later than now.
        race = await running(here, start_in=-1_900_000)
        start_at, limit_at = race.start_at, race.limit_at
        assert start_at is not None
        assert limit_at is not None
        assert await write(here, commit(here, race, WIN[0], seq=9, at=start_at - 1)) == [Barred("not_started")]
        assert await write(here, commit(here, race, WIN[0], seq=9, at=limit_at + 1)) == [Barred("late")]
        assert await write(here, commit(here, race, WIN[0], seq=9, at=limit_at)) == [Stale(0)]
        assert await write(here, commit(here, race, WIN[0], at=limit_at)) == [Committed(limit_at)]

    async def test_whoever_is_no_entrant_writes_nothing(self, here: Shell) -> None:
        race = await running(here)
        await here.store.races.open(race.id, "cat", "1.s")
        assert await write(here, commit(here, race, WIN[0], player="cat")) == [Barred("done")]


class TestBatches:
    async def test_what_arrives_during_a_round_trip_goes_into_the_next(self, here: Shell) -> None:
        races = [await running(here) for _ in range(6)]
        gate = here.link.hold_reply("race_commit")
        first = here.store.committer.submit(commit(here, races[0], WIN[0]))
        await gate.reached.wait()
        others = [
            here.store.committer.submit(commit(here, race, WIN[0], player=player))
            for race in races
            for player in ("ann", "ben")
            if (race, player) != (races[0], "ann")
        ]
        sent = here.link.sent.count("race_commit")
        assert here.store.committer.backlog == len(others)
        gate.open()
        outcomes = await asyncio.gather(first, *others)
        assert all(isinstance(outcome, Committed) and not outcome.repeat for outcome in outcomes)
        assert here.link.sent.count("race_commit") == sent + 1
        for race in races:
            assert len(await log_of(here, race, "ann")) == len(await log_of(here, race, "ben")) == 1

    async def test_no_batch_is_larger_than_its_bound(self, here: Shell) -> None:
        race = await running(here)
        sent = here.link.sent.count("race_commit")
        outcomes = await write(here, *(commit(here, race, "3b", seq=90, player="ben") for _ in range(BATCH + 1)))
        assert outcomes == [Stale(0)] * (BATCH + 1)
        assert here.link.sent.count("race_commit") == sent + 2

    async def test_an_entry_that_fails_does_not_harm_the_others(self, here: Shell) -> None:
        races = [await running(here) for _ in range(3)]
        await here.link.command("SET", keys.log(races[1].id, "ann"), "no list")
        results = await asyncio.gather(
            *(here.store.committer.submit(commit(here, race, WIN[0])) for race in races), return_exceptions=True
        )
        assert isinstance(results[0], Committed)
        assert isinstance(results[1], StoreUnavailable)
        assert isinstance(results[2], Committed)
        assert await write(here, commit(here, races[2], WIN[1], seq=1)) == [
            Committed((await log_of(here, races[2]))[1].at)
        ]

    async def test_refused_and_accepted_entries_of_one_batch_get_their_own_answers(self, here: Shell) -> None:
        one, other = await running(here), await running(here)
        await here.open(other, ANN, "2.t")
        outcomes = await write(
            here,
            commit(here, one, WIN[0]),
            commit(here, other, WIN[0]),
            commit(here, one, WIN[0], seq=4, player="ben"),
            commit(here, other, WIN[0], player="ben"),
        )
        assert [type(outcome) for outcome in outcomes] == [Committed, Fenced, Stale, Committed]

    async def test_a_lost_reply_leaves_every_outcome_of_the_batch_unknown_and_the_next_batch_works(
        self, here: Shell
    ) -> None:
        one, other = await running(here), await running(here)
        here.link.lose_reply("race_commit")
        results = await asyncio.gather(
            *(here.store.committer.submit(commit(here, race, WIN[0])) for race in (one, other)),
            return_exceptions=True,
        )
        assert all(isinstance(result, StoreUnavailable) for result in results)
        for outcome in await write(here, commit(here, one, WIN[0]), commit(here, other, WIN[0])):
            assert isinstance(outcome, Committed)
            assert outcome.repeat

    async def test_what_a_session_no_longer_waits_for_is_on_record_all_the_same(self, here: Shell) -> None:
        race = await running(here)
        gate = here.link.hold_request("race_commit")
        future = here.store.committer.submit(commit(here, race, WIN[0]))
        await gate.reached.wait()
        future.cancel()
        gate.open()

        async def written() -> bool:
            return len(await log_of(here, race)) == 1

        await eventually(written)
        assert await write(here, commit(here, race, WIN[0], player="ben"))
