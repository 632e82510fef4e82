"""A player's moves: judged, committed, answered, told; and what becomes of them when a reply is lost or late."""

from __future__ import annotations

import asyncio

import pytest

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import CancelReason, EntrantStatus, LeftReason, Moved, Player
from cellrace_server.core.commands import Concede
from cellrace_server.core.facts import Cancelled, Done, Left, Over, Tally
from cellrace_server.core.race import standings
from cellrace_server.referee import Referee
from cellrace_server.room import Room
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.races import Superseded
from tests.server.races import ANN, BEN, DAN
from tests.server.shell import WIN, FakeMember, Shell
from tests.waiting import eventually


async def running(shell: Shell, start_in: int = -5_000) -> Referee:
    """A running race of Ann and Ben, both connected here."""
    race = await shell.race(ANN, BEN, start_in=start_in)
    async with shell.attended(race, FakeMember(ANN), FakeMember(BEN)) as referee:
        return referee


def log_of(room: Room, player: str) -> list[str]:
    return list(room.plays[player].moves)


async def stored_log(shell: Shell, referee: Referee, player: str) -> list[str]:
    record = await shell.store.races.load(referee.room.id)
    assert record is not None
    return [entry.move for entry in record.logs[player]]


class TestAnswers:
    async def test_moves_are_on_record_when_they_are_answered(self, here: Shell) -> None:
        referee = await running(here)
        answer = await here.move(referee, ANN, 0, *WIN[:2])
        assert (answer.seq, answer.home, answer.won) == (2, 1, False)
        assert answer.steps == ((WIN[0],), (WIN[1],))
        assert await stored_log(here, referee, "ann") == list(WIN[:2])
        assert ("moved", ("ann", list(WIN[:2]))) in here.recorder.told

    async def test_entries_of_one_message_share_an_instant_that_never_falls(self, here: Shell) -> None:
        referee = await running(here)
        late = here.now()
        first = await here.move(referee, ANN, 0, WIN[0], at=late)
        second = await here.move(referee, ANN, 1, *WIN[1:3], at=late - 3_000)
        assert second.at == first.at == late - (referee.room.race.start_at or 0)

    async def test_a_repeat_gets_the_same_answer_and_changes_nothing(self, here: Shell) -> None:
        referee = await running(here)
        first = await here.move(referee, ANN, 0, *WIN[:3])
        await here.move(referee, ANN, 3, WIN[3])
        told = len(here.recorder.told)
        assert await here.move(referee, ANN, 0, *WIN[:3]) == first
        assert len(here.recorder.told) == told
        assert await stored_log(here, referee, "ann") == list(WIN[:4])

    async def test_a_win_is_answered_and_then_its_fact_is_told(self, here: Shell) -> None:
        referee = await running(here)
        answer = await here.move(referee, ANN, 0, *WIN)
        assert answer.won
        assert here.recorder.told[-2:] == [
            ("moved", ("ann", list(WIN))),
            ("Done", referee.room.race.version),
        ]
        entrant = referee.room.race.entrant("ann")
        assert entrant is not None
        assert entrant.done is not None
        assert entrant.done.status is EntrantStatus.WON

    async def test_a_win_makes_the_race_due_before_it_is_on_record(self, here: Shell) -> None:
        """NODES 7: a node killed right after the last win must not leave a race that ends with its time limit only."""
        referee = await running(here)
        gate = here.link.hold_request("race_commit")
        moving = asyncio.create_task(here.move(referee, ANN, 0, *WIN))
        await gate.reached.wait()
        claimed, _ = await here.store.due.claim(here.now())
        assert referee.room.id in claimed
        gate.open()
        await moving


class TestRefusals:
    @pytest.mark.parametrize(
        ("start_in", "who", "seq", "moves", "code"),
        [
            (-5_000, DAN, 0, ["1h"], ErrorCode.NOT_ENTRANT),
            (60_000, ANN, 0, ["1h"], ErrorCode.NOT_STARTED),
            (None, ANN, 0, ["1h"], ErrorCode.NOT_STARTED),
            (-5_000, ANN, 1, ["1h"], ErrorCode.STALE),
            (-5_000, ANN, 0, ["ch"], ErrorCode.ILLEGAL_MOVE),
            (-2_000_000, ANN, 0, [WIN[0]], ErrorCode.ALREADY_DONE),
        ],
    )
    async def test_each_code_has_its_case(
        self, here: Shell, start_in: int | None, who: Player, seq: int, moves: list[str], code: ErrorCode
    ) -> None:
        race = await here.race(ANN, BEN, start_in=start_in)
        async with here.attended(race, FakeMember(ANN)) as referee:
            with pytest.raises(Refused) as refused:
                await here.move(referee, who, seq, *moves)
        assert refused.value.code == code
        assert await stored_log(here, referee, "ann") == []

    async def test_a_message_is_carried_out_whole_or_not_at_all(self, here: Shell) -> None:
        referee = await running(here)
        with pytest.raises(Refused) as refused:
            await here.move(referee, ANN, 0, WIN[0], WIN[1], "4h")
        assert (refused.value.index, refused.value.move, refused.value.seq) == (2, "4h", 0)
        assert await stored_log(here, referee, "ann") == log_of(referee.room, "ann") == []

    async def test_whoever_is_done_moves_no_more_but_a_repeat_is_answered(self, here: Shell) -> None:
        referee = await running(here)
        first = await here.move(referee, ANN, 0, WIN[0])
        referee.tell(await referee.ask(lambda: Concede("ann", Tally(1, 0, 1, 0))))
        with pytest.raises(Refused) as refused:
            await here.move(referee, ANN, 1, WIN[1])
        assert refused.value.code == ErrorCode.ALREADY_DONE
        assert await here.move(referee, ANN, 0, WIN[0]) == first

    async def test_a_cancelled_race_does_not_run(self, here: Shell) -> None:
        race = await here.race(ANN, BEN, start_in=-5_000)
        await here.append(race, Cancelled(CancelReason.ALL_FORFEITED))
        async with here.attended(race) as referee:
            with pytest.raises(Refused) as refused:
                await here.move(referee, ANN, 0, WIN[0])
        assert refused.value.code == ErrorCode.NOT_RUNNING

    async def test_in_a_race_that_is_over_everybody_is_done(self, here: Shell) -> None:
        race = await here.race(ANN, BEN, start_in=-5_000)
        for name in ("ann", "ben"):
            race = await here.append(race, Done(name, EntrantStatus.FORFEITED, Tally()))
        race = await here.append(race, Over(standings(race)))
        async with here.attended(race) as referee:
            with pytest.raises(Refused) as refused:
                await here.move(referee, ANN, 0, WIN[0])
        assert refused.value.code == ErrorCode.ALREADY_DONE


class TestLostReplies:
    async def test_an_unknown_outcome_is_found_on_record_when_the_message_is_repeated(self, here: Shell) -> None:
        referee = await running(here)
        here.link.lose_reply("race_commit")
        with pytest.raises(StoreUnavailable):
            await here.move(referee, ANN, 0, *WIN[:2])
        assert referee.room.doubtful
        answer = await here.move(referee, ANN, 0, *WIN[:2])
        assert answer.seq == 2
        assert await stored_log(here, referee, "ann") == log_of(referee.room, "ann") == list(WIN[:2])

    async def test_what_never_came_to_the_store_is_carried_out_when_it_is_repeated(self, here: Shell) -> None:
        referee = await running(here)
        here.link.lose_request("race_commit")
        with pytest.raises(StoreUnavailable):
            await here.move(referee, ANN, 0, *WIN[:2])
        assert (await here.move(referee, ANN, 0, *WIN[:2])).seq == 2
        assert await stored_log(here, referee, "ann") == list(WIN[:2])

    async def test_a_request_that_redis_py_sends_again_is_carried_out_once(self, here: Shell) -> None:
        referee = await running(here)
        here.link.resend("race_commit")
        assert (await here.move(referee, ANN, 0, *WIN[:2])).seq == 2
        assert await stored_log(here, referee, "ann") == log_of(referee.room, "ann") == list(WIN[:2])

    async def test_a_win_whose_reply_was_lost_is_one_fact(self, here: Shell) -> None:
        referee = await running(here)
        here.link.lose_reply("race_commit")
        with pytest.raises(StoreUnavailable):
            await here.move(referee, ANN, 0, *WIN)
        assert (await here.move(referee, ANN, 0, *WIN)).won
        assert here.recorder.kinds.count("Done") == 1
        here.link.resend("race_commit")
        assert (await here.move(referee, BEN, 0, *WIN)).won
        assert here.recorder.kinds.count("Done") == 2
        record = await here.store.races.load(referee.room.id)
        assert record is not None
        assert record.race == referee.room.race


class TestReadingTheRecordMeanwhile:
    async def test_the_record_is_read_only_after_the_commit_in_flight(self, here: Shell) -> None:
        """NODES 5: else news of a move would come before its answer."""
        referee = await running(here)
        gate = here.link.hold_reply("race_commit")
        moving = asyncio.create_task(here.move(referee, ANN, 0, *WIN))
        await gate.reached.wait()
        referee.room.doubt()
        waking = asyncio.create_task(referee.make_sure())
        loads = here.link.sent.count("race_load")
        await asyncio.sleep(0)
        assert not waking.done()
        assert here.link.sent.count("race_load") == loads
        assert "moved" not in here.recorder.kinds
        gate.open()
        assert (await moving).won
        await waking
        assert here.recorder.kinds.count("moved") == here.recorder.kinds.count("Done") == 1
        assert not referee.room.doubtful

    async def test_moves_wait_for_the_record_that_is_being_read(self, here: Shell) -> None:
        referee = await running(here)
        referee.room.doubt()
        gate = here.link.hold_reply("race_load")
        waking = asyncio.create_task(referee.make_sure())
        await gate.reached.wait()
        moving = asyncio.create_task(here.move(referee, ANN, 0, WIN[0]))
        await asyncio.sleep(0)
        assert "race_commit" not in here.link.sent
        gate.open()
        assert (await moving).seq == 1
        await waking

    async def test_a_board_that_another_node_has_overtaken_is_read_again(self, here: Shell, there: Shell) -> None:
        """The player moved at the other node; nothing of it was heard here."""
        referee = await running(here)
        race = referee.room.race
        async with there.attended(race, FakeMember(ANN, "2.t")) as other:
            await there.move(other, ANN, 0, *WIN[:2], sid="2.t")
        await here.open(race, ANN, "3.h")
        with pytest.raises(Refused) as refused:
            await here.move(referee, ANN, 0, "3b", sid="3.h")
        assert refused.value.code == ErrorCode.STALE
        assert refused.value.seq == 2
        assert (await here.move(referee, ANN, 2, WIN[2], sid="3.h")).seq == 3
        assert log_of(referee.room, "ann") == list(WIN[:3])

    async def test_the_others_wait_for_nobody_whose_commit_hangs(self, here: Shell) -> None:
        """Entrants never contend: a commit in flight holds up no decision that needs no reading."""
        referee = await running(here)
        gate = here.link.hold_reply("race_commit")
        moving = asyncio.create_task(here.move(referee, ANN, 0, WIN[0]))
        await gate.reached.wait()
        referee.tell(await referee.ask(lambda: Concede("ben", Tally())))
        assert here.recorder.kinds[-1] == "Done"
        gate.open()
        await moving


class TestFencing:
    async def test_an_older_connection_is_fenced_and_nothing_is_written(self, here: Shell) -> None:
        referee = await running(here)
        await here.open(referee.room.race, ANN, "2.t")
        with pytest.raises(Superseded):
            await here.move(referee, ANN, 0, WIN[0], sid="1.s")
        assert await stored_log(here, referee, "ann") == []
        assert (await here.move(referee, ANN, 0, WIN[0], sid="2.t")).seq == 1

    async def test_moves_that_arrive_after_the_store_has_ended_the_game_are_refused(
        self, here: Shell, there: Shell
    ) -> None:
        referee = await running(here)
        race = await there.append(referee.room.race, Done("ann", EntrantStatus.TIMED_OUT, Tally()))
        with pytest.raises(Refused) as refused:
            await here.move(referee, ANN, 0, WIN[0])
        assert refused.value.code == ErrorCode.ALREADY_DONE
        assert referee.room.race.version == race.version

    async def test_an_arrival_after_the_limit_is_refused_even_if_the_room_is_still_open(self, here: Shell) -> None:
        race = await here.race(ANN, BEN, start_in=-1_800_000)
        async with here.attended(race, FakeMember(ANN)) as referee:
            limit = referee.room.race.limit_at
            assert limit is not None
            assert (await here.move(referee, ANN, 0, WIN[0], at=limit)).seq == 1
            with pytest.raises(Refused) as refused:
                await here.move(referee, ANN, 1, WIN[1], at=limit + 1)
        assert refused.value.code == ErrorCode.ALREADY_DONE

    async def test_a_kicked_player_who_moves_is_no_entrant(self, here: Shell) -> None:
        race = await here.race(ANN, BEN)
        await here.append(race, Left("ben", LeftReason.KICKED))
        async with here.attended(race) as referee:
            with pytest.raises(Refused) as refused:
                await here.move(referee, BEN, 0, WIN[0])
        assert refused.value.code == ErrorCode.NOT_ENTRANT


async def test_a_commit_whose_connection_has_ended_still_reaches_the_store(here: Shell) -> None:
    """The session is cut off while its move is on the way: the room is in doubt, so that it reads what came of it."""
    referee = await running(here)
    gate = here.link.hold_reply("race_commit")
    moving: asyncio.Task[Moved] = asyncio.create_task(here.move(referee, ANN, 0, WIN[0]))
    await gate.reached.wait()
    moving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await moving
    assert referee.room.doubtful
    gate.open()
    await eventually(lambda: here.store.committer.backlog == 0)
    await referee.make_sure()
    assert log_of(referee.room, "ann") == [WIN[0]]
