"""What a referee decides on one room: exactly once, on what is on record, whatever is lost and whoever else acts."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from cellrace.commitment import commitment
from cellrace.errors import ErrorCode, Refused
from cellrace.messages import CancelReason, Ends, EntrantStatus, LeftReason, Player
from cellrace_server import referee as referee_module
from cellrace_server.core.commands import Concede, Join, Kick, Leave, SetReady, Start
from cellrace_server.core.facts import Cancelled, CountdownBegan, Done, Joined, Left, Over, ReadySet, Tally
from cellrace_server.core.presence import Nodes
from cellrace_server.core.race import LATE_COMMITS, Race, standings
from cellrace_server.referee import LONGEST_WAIT, Referee
from cellrace_server.stock import load_stock
from cellrace_server.store import keys
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.races import LostTrack, Secret
from tests.server.races import ANN, BEN, CAT
from tests.server.shell import SHORT, WIN, FakeMember, Shell


async def recorded(shell: Shell, race_id: str) -> Race:
    """The race as the store has it."""
    record = await shell.store.races.load(race_id)
    assert record is not None
    return record.race


def knows_for_long(shell: Shell) -> None:
    """This node has been in contact with the store for long enough to judge absences."""
    now, beats = shell.now(), shell.store.nodes.nodes.beats
    shell.store.nodes.nodes = Nodes({**beats, shell.store.races.node: now}, 0, now - 60_000, now)


async def opened(shell: Shell, *players: Player, ready: bool = False) -> Referee:
    """An open race of these, connected here."""
    race = await shell.race(*players)
    if ready:
        race = await shell.append(race, *(ReadySet(player.id, True) for player in players))
    async with shell.attended(race, *(FakeMember(player) for player in players)) as referee:
        return referee


async def running(shell: Shell, start_in: int = -5_000) -> Referee:
    race = await shell.race(ANN, BEN, start_in=start_in)
    async with shell.attended(race, FakeMember(ANN), FakeMember(BEN)) as referee:
        return referee


class TestAsking:
    async def test_a_win_that_is_learnt_of_before_its_moves_is_not_told_without_them(self, here: Shell) -> None:
        """Nobody has told of the moves; what was decided by then lets them be read (a seed of the simulation)."""
        referee = await running(here)
        async with here.attended(referee.room.race) as elsewhere:
            await here.open(referee.room.race, ANN)
            await here.move(elsewhere, ANN, 0, *WIN)
        tally = referee.room.tally(BEN.id)
        referee.tell(await referee.ask(lambda: Concede(BEN.id, tally)))
        assert referee.room.tally(ANN.id).seq == len(WIN)

    async def test_facts_are_on_record_and_told_when_the_caller_says_so(self, here: Shell) -> None:
        referee = await opened(here, ANN)
        facts = await referee.ask(lambda: Join(BEN))
        assert "Joined" not in here.recorder.kinds
        referee.tell(facts)
        assert here.recorder.told[-1] == ("Joined", 2)
        assert await recorded(here, referee.room.id) == referee.room.race

    async def test_what_another_node_wrote_is_no_reason_to_refuse_because_it_was_not_heard_yet(
        self, here: Shell, there: Shell
    ) -> None:
        """Who was answered there and asks here is at one with the record: ready elsewhere, there is enough to start."""
        referee = await opened(here, ANN, BEN)
        race = await there.append(referee.room.race, ReadySet(ANN.id, True), ReadySet(BEN.id, True))
        await referee.check(lambda: Start(ANN.id, "c"))
        assert referee.room.race == race
        await there.append(race, Joined(CAT))
        referee.tell(await referee.ask(lambda: Kick(ANN.id, CAT.id)))
        assert (await recorded(here, race.id)).entrants == race.entrants

    async def test_a_refusal_by_the_record_reads_no_more_of_it(self, here: Shell) -> None:
        referee = await opened(here, ANN, BEN)
        read = here.store.counts.resyncs
        with pytest.raises(Refused, match="ready"):
            await referee.check(lambda: Start(ANN.id, "c"))
        with pytest.raises(Refused):
            await referee.ask(lambda: Kick(ANN.id, CAT.id))
        assert here.store.counts.resyncs == read

    async def test_who_cannot_reach_the_store_refuses_nothing(self, here: Shell) -> None:
        referee = await opened(here, ANN, BEN)
        here.link.lose_request("HGET")
        with pytest.raises(StoreUnavailable):
            await referee.ask(lambda: Kick(ANN.id, CAT.id))
        with pytest.raises(Refused):
            await referee.ask(lambda: Kick(ANN.id, CAT.id))

    async def test_what_another_node_wrote_first_is_told_and_then_it_is_decided_anew(
        self, here: Shell, there: Shell
    ) -> None:
        referee = await opened(here, ANN, BEN)
        await there.append(referee.room.race, Left("ben", LeftReason.KICKED))
        with pytest.raises(Refused) as refused:
            await referee.ask(lambda: SetReady("ben", True))
        assert refused.value.code == ErrorCode.NOT_ENTRANT
        assert here.recorder.told[-1] == ("Left", 3)

    async def test_of_two_nodes_that_take_the_last_seat_one_is_refused(self, here: Shell, there: Shell) -> None:
        race = await here.race(ANN, settings=replace(SHORT, seats=2))
        async with here.attended(race, FakeMember(ANN)) as one, there.attended(race) as other:
            results = await asyncio.gather(
                one.ask(lambda: Join(BEN)), other.ask(lambda: Join(CAT)), return_exceptions=True
            )
        refused = [result for result in results if isinstance(result, Refused)]
        assert [error.code for error in refused] == [ErrorCode.RACE_FULL]
        assert len((await recorded(here, race.id)).entrants) == 2

    async def test_a_lost_reply_leaves_a_doubt_and_the_fact_is_found_on_record(self, here: Shell) -> None:
        referee = await opened(here, ANN)
        here.link.lose_reply("race_append")
        with pytest.raises(StoreUnavailable):
            await referee.ask(lambda: Join(BEN))
        assert referee.room.doubtful
        referee.tell(await referee.ask(lambda: Join(BEN)))
        assert here.recorder.kinds.count("Joined") == 1
        assert (await recorded(here, referee.room.id)).version == referee.room.race.version == 2

    async def test_a_request_sent_again_by_redis_py_is_one_fact(self, here: Shell) -> None:
        referee = await opened(here, ANN)
        here.link.resend("race_append")
        facts = await referee.ask(lambda: Join(BEN))
        assert [fact.version for fact in facts] == [2]
        assert (await recorded(here, referee.room.id)).version == 2

    async def test_the_race_is_due_before_the_facts_are_on_record(self, here: Shell) -> None:
        referee = await opened(here, ANN, BEN)
        await here.store.due.forget(referee.room.id)
        gate = here.link.hold_request("race_append")
        asking = asyncio.create_task(referee.ask(lambda: SetReady("ann", True)))
        await gate.reached.wait()
        claimed, _ = await here.store.due.claim(here.now() + LONGEST_WAIT)
        assert claimed == (referee.room.id,)
        gate.open()
        await asking

    async def test_a_race_that_is_gone_from_the_store_loses_track(self, here: Shell) -> None:
        referee = await opened(here, ANN)
        await here.link.command("DEL", keys.race(referee.room.id))
        with pytest.raises(LostTrack):
            await referee.ask(lambda: Join(BEN))

    async def test_a_history_that_was_rolled_back_and_went_on_otherwise_loses_track(self, here: Shell) -> None:
        """NODES 2: the version is the same, the id of the last fact is not."""
        referee = await opened(here, ANN, BEN)
        base = keys.race(referee.room.id)
        await here.link.command("RPOP", base + ":facts")
        rolled_back = replace(referee.room.race, version=1, last_id=referee.room.facts[0].command_id)
        await here.link.command("HSET", base, "version", 1, "last", rolled_back.last_id)
        await here.append(rolled_back, Left("ben", LeftReason.OFFLINE))
        with pytest.raises(LostTrack):
            await referee.ask(lambda: SetReady("ann", True))

    async def test_lists_that_cannot_be_put_right_do_not_make_a_fact_unknown(self, here: Shell) -> None:
        referee = await opened(here, ANN, BEN)
        here.link.lose_request("ZREM")
        referee.tell(await referee.ask(lambda: Kick("ann", "ben")))
        assert here.recorder.told[-1] == ("Left", 3)
        assert not referee.room.doubtful


class TestGuards:
    async def test_a_terminal_fact_names_the_whole_log(self, here: Shell, there: Shell) -> None:
        """NODES 3: moves committed at another node meanwhile are counted, or the fact is not written."""
        referee = await running(here)
        async with there.attended(referee.room.race, FakeMember(ANN, "2.t")) as other:
            await there.move(other, ANN, 0, *WIN[:3], sid="2.t")
        room = referee.room
        (fact,) = await referee.ask(lambda: Concede("ann", room.tally("ann")))
        assert isinstance(fact.fact, Done)
        assert fact.fact.tally.seq == 3
        assert room.plays["ann"].moves == WIN[:3]

    async def test_moves_that_come_in_between_are_waited_for(self, here: Shell) -> None:
        referee = await running(here)
        room = referee.room
        gate = here.link.hold_request("race_append")
        asking = asyncio.create_task(referee.ask(lambda: Concede("ann", room.tally("ann"))))
        await gate.reached.wait()
        await here.move(referee, ANN, 0, *WIN[:2])
        gate.open()
        (fact,) = await asking
        assert isinstance(fact.fact, Done)
        assert fact.fact.tally == room.tally("ann")
        assert fact.fact.tally.seq == 2

    async def test_a_node_that_does_not_agree_with_the_store_gives_up(self, here: Shell) -> None:
        referee = await running(here)
        await here.move(referee, ANN, 0, WIN[0])
        with pytest.raises(StoreUnavailable):
            await referee.ask(lambda: Concede("ann", Tally()))

    async def test_a_node_that_has_not_learned_the_deal_yet_learns_it_with_the_logs(
        self, here: Shell, there: Shell
    ) -> None:
        """Else it would take the log for empty for ever, and ask again and again."""
        race = await there.race(ANN, BEN)
        async with here.attended(race, FakeMember(BEN)) as referee:
            pass
        secret = Secret(load_stock(SHORT.variant).numbers[0], "0" * 32)
        began = CountdownBegan(here.now() - 5_000, secret.commitment(SHORT.variant))
        await there.append(race, began, secret=secret)
        record = await here.store.races.load(race.id)
        assert record is not None
        referee.room.apply_facts(record.facts)
        async with there.attended(race, FakeMember(ANN, "2.t")) as other:
            await there.move(other, ANN, 0, *WIN[:2], sid="2.t")
        room = referee.room
        assert room.plays == {}
        async with asyncio.timeout(60):
            (fact,) = await referee.ask(lambda: Leave("ann", room.tally("ann")))
        assert isinstance(fact.fact, Done)
        assert fact.fact.tally.seq == 2


class TestBeginning:
    async def test_when_all_are_ready_the_countdown_begins_on_a_deal_that_is_a_secret(self, here: Shell) -> None:
        referee = await opened(here, ANN, BEN, ready=True)
        assert await referee.wake()
        room = referee.room
        secret = await here.store.races.secret(room.id)
        assert secret == room.secret
        assert secret is not None
        assert room.race.commitment == commitment(SHORT.variant, secret.deal, secret.salt)
        assert secret.deal in load_stock(SHORT.variant).numbers
        assert here.recorder.told[-1] == ("CountdownBegan", room.race.version)
        record = await here.link.command("LRANGE", keys.race(room.id) + ":facts", 0, -1)
        assert not any(secret.salt.encode() in fact for fact in record)

    async def test_the_deal_is_on_record_in_the_same_call_as_the_countdown(self, here: Shell) -> None:
        referee = await opened(here, ANN, BEN, ready=True)
        here.link.lose_reply("race_append")
        with pytest.raises(StoreUnavailable):
            await referee.wake()
        await referee.make_sure()
        assert referee.room.race.start_at is not None
        assert referee.room.secret == await here.store.races.secret(referee.room.id) is not None
        assert set(referee.room.plays) == {"ann", "ben"}

    async def test_not_while_one_of_them_is_gone(self, here: Shell) -> None:
        referee = await opened(here, ANN, BEN, ready=True)
        await here.admission.gone(referee, "ben", "1.s", here.now())
        assert not await referee.wake()
        assert referee.room.race.start_at is None

    async def test_of_two_nodes_one_begins_and_both_know_its_deal(self, here: Shell, there: Shell) -> None:
        race = await here.append(await here.race(ANN, BEN), ReadySet("ann", True), ReadySet("ben", True))
        async with here.attended(race, FakeMember(ANN)) as one, there.attended(race, FakeMember(BEN, "2.t")) as other:
            one.room.set_presence("ben", other.room.presence["ben"])
            other.room.set_presence("ann", one.room.presence["ann"])
            await here.store.nodes.beat(here.now())
            await there.store.nodes.beat(there.now())
            await here.store.nodes.beat(here.now())
            await asyncio.gather(one.wake(), other.wake())
            await asyncio.gather(one.wake(), other.wake())
        assert one.room.race == other.room.race
        assert one.room.secret == other.room.secret == await here.store.races.secret(race.id)
        assert sum(isinstance(fact.fact, CountdownBegan) for fact in one.room.facts) == 1
        for name in ("ann", "ben"):
            had = await here.link.command("HLEN", keys.player_deals(name, SHORT.variant))
            assert had == 1, "the loser's number is let go"

    async def test_if_there_is_no_deal_the_race_is_open_again_and_all_unready(self, here: Shell) -> None:
        referee = await opened(here, ANN, BEN, ready=True)
        numbers = load_stock(SHORT.variant).numbers
        had = [part for number in numbers for part in (number, "before")]
        await here.link.command("HSET", keys.player_deals("ben", SHORT.variant), *had)
        await referee.wake()
        assert here.recorder.kinds[-3:] == ["ReadySet", "ReadySet", "delayed"]
        assert not any(entrant.ready for entrant in referee.room.race.entrants)
        assert await here.store.races.secret(referee.room.id) is None

    async def test_whoever_gets_ready_meanwhile_is_not_given_a_deal_that_was_drawn_without_asking(
        self, here: Shell, there: Shell
    ) -> None:
        referee = await opened(here, ANN, BEN, ready=True)
        race = referee.room.race
        gate = here.link.hold_request("race_append")
        waking = asyncio.create_task(referee.wake())
        await gate.reached.wait()
        joined = await there.append(race, Joined(CAT), ReadySet("cat", True))
        assert joined.version == race.version + 2
        gate.open()
        await waking
        drawn = referee.room.secret
        assert drawn is not None
        for name in ("ann", "ben", "cat"):
            assert await here.link.command("HKEYS", keys.player_deals(name, SHORT.variant)) == [
                str(drawn.deal).encode()
            ]

    async def test_the_host_starts_and_is_answered_before_anybody_is_told(self, here: Shell) -> None:
        referee = await opened(here, ANN, BEN, ready=True)
        told: list[int] = []
        before = len(here.recorder.told)
        await referee.start(
            lambda secret: Start("ann", secret.commitment(SHORT.variant)),
            lambda: told.append(len(here.recorder.told)),
        )
        assert told == [before]
        assert here.recorder.kinds[-1] == "CountdownBegan"

    async def test_a_start_that_is_refused_draws_nothing(self, here: Shell) -> None:
        referee = await opened(here, ANN, BEN)
        here.link.sent.clear()
        with pytest.raises(Refused) as refused:
            await referee.start(lambda secret: Start("ann", "c"), lambda: None)
        assert refused.value.code == ErrorCode.TOO_FEW
        assert here.link.sent == ["HGET", "HGETALL"], "read whether the record has gone on"


class TestWaking:
    async def test_the_deal_is_told_at_the_start_and_not_before(self, here: Shell) -> None:
        early, late = await running(here, start_in=60_000), await running(here)
        late.room.released = False
        await early.wake()
        assert "started" not in here.recorder.kinds
        await late.wake()
        assert here.recorder.kinds.count("started") == 1

    async def test_a_race_past_its_limit_is_ended_in_two_steps(self, here: Shell) -> None:
        referee = await running(here, start_in=-1_800_000 - LATE_COMMITS)
        await referee.wake()
        await referee.wake()
        assert here.recorder.kinds[-3:] == ["Done", "Done", "Over"]
        assert not await referee.wake()
        race = await recorded(here, referee.room.id)
        assert race.standings is not None
        assert {line.status for line in race.standings} == {EntrantStatus.TIMED_OUT}

    async def test_nobody_is_timed_out_shortly_after_the_store_has_failed(
        self, here: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """NODES 4: a move that arrived in time may still be on its way."""
        monkeypatch.setattr(referee_module, "AFTER_STORE_ERROR", 3600.0)
        referee = await running(here, start_in=-1_800_000 - LATE_COMMITS)
        here.link.lose_request("GET")
        with pytest.raises(StoreUnavailable):
            await here.link.command("GET", "x")
        assert not await referee.wake()
        assert "Done" not in here.recorder.kinds

    async def test_an_entrant_gone_for_longer_than_grace_is_abandoned(self, here: Shell) -> None:
        referee = await running(here, start_in=-200_000)
        knows_for_long(here)
        await here.store.races.gone(referee.room.id, "ben", "1.s", here.now() - 130_000)
        referee.room.doubt()
        await referee.wake()
        entrant = referee.room.race.entrant("ben")
        assert entrant is not None
        assert entrant.done == Done("ben", EntrantStatus.ABANDONED, Tally())

    async def test_not_if_the_player_is_back_at_another_node(self, here: Shell, there: Shell) -> None:
        """NODES 11: `abandoned` names the sid that it judged; nothing of the return was heard here."""
        referee = await running(here, start_in=-200_000)
        knows_for_long(here)
        await here.store.races.gone(referee.room.id, "ben", "1.s", here.now() - 130_000)
        referee.room.doubt()
        await referee.make_sure()
        await there.open(referee.room.race, BEN, "2.t")
        await there.store.nodes.beat(there.now())
        await here.store.nodes.beat(here.now())
        knows_for_long(here)
        assert not await referee.wake()
        assert "Done" not in here.recorder.kinds
        assert referee.room.presence["ben"].sid == "2.t"

    async def test_a_node_that_has_just_come_judges_nobody(self, here: Shell) -> None:
        """NODES 10: after a restart the last connections are all lost, and their players are on their way back."""
        referee = await running(here, start_in=-200_000)
        await here.store.races.gone(referee.room.id, "ben", "1.s", here.now() - 130_000)
        referee.room.doubt()
        assert not await referee.wake()
        here.store.nodes.nodes = Nodes({}, 0, 0, 0)
        assert not await referee.wake()
        assert "Done" not in here.recorder.kinds

    async def test_the_first_win_ends_a_race_that_is_to_end_so(self, here: Shell) -> None:
        race = await here.race(ANN, BEN, start_in=-5_000, settings=replace(SHORT, ends=Ends.FIRST_WIN))
        async with here.attended(race, FakeMember(ANN), FakeMember(BEN)) as referee:
            await here.move(referee, BEN, 0, *WIN[:3])
            await here.move(referee, ANN, 0, *WIN)
            await referee.wake()
            await referee.wake()
        standing = referee.room.race.standings
        assert standing is not None
        assert [(line.player.id, line.status) for line in standing] == [
            ("ann", EntrantStatus.WON),
            ("ben", EntrantStatus.TIMED_OUT),
        ]


class TestTheNextLook:
    async def test_at_once_when_something_is_in_doubt_and_never_when_it_has_ended(self, here: Shell) -> None:
        referee = await running(here)
        now = here.now()
        referee.room.doubt()
        assert referee.next_look(now) == now
        await referee.make_sure()
        race = referee.room.race
        for name in ("ann", "ben"):
            race = await here.append(race, Done(name, EntrantStatus.CONCEDED, Tally()))
        await here.append(race, Over(standings(race)))
        referee.room.doubt()
        await referee.make_sure()
        assert referee.next_look(now) is None

    async def test_at_the_start_with_what_the_clock_may_be_wrong(self, here: Shell) -> None:
        referee = await running(here, start_in=9_000)
        start_at = referee.room.race.start_at
        assert start_at is not None
        before = here.store.clock.margin
        look = referee.next_look(here.now())
        assert look is not None
        # The margin of a clock grows with the age of its best sample, and shrinks as it is corrected.
        after = here.store.clock.margin
        assert min(before, after) <= look - start_at <= max(before, after)

    async def test_never_much_later_than_now(self, here: Shell) -> None:
        """A node may die at any time, and absences begin with that."""
        referee = await running(here)
        now = here.now()
        assert referee.next_look(now) == now + LONGEST_WAIT

    async def test_an_absence_that_cannot_be_judged_yet_is_looked_at_again_and_not_all_the_time(
        self, here: Shell
    ) -> None:
        referee = await running(here)
        await here.store.races.gone(referee.room.id, "ben", "1.s", here.now())
        referee.room.doubt()
        await referee.make_sure()
        now = here.now()
        assert now + 1_000 <= (referee.next_look(now) or 0) <= now + LONGEST_WAIT
        here.store.nodes.nodes = Nodes({}, 0, 0, 0)
        assert now + 1_000 <= (referee.next_look(now) or 0) <= now + LONGEST_WAIT


async def test_the_effects_of_an_end_can_be_repeated_and_then_the_race_is_due_no_more(here: Shell) -> None:
    race = await here.race(ANN, BEN)
    await here.store.lists.add(race)
    await here.store.players.enter("ann", race.id, race.created_at)
    await here.append(race, Cancelled(CancelReason.UNCHANGED))
    async with here.attended(race) as referee:
        await referee.finish()
        await referee.finish()
    assert await here.store.due.size() == 0
    assert await here.store.players.races("ann") == ()
    assert (await recorded(here, race.id)).cancelled is CancelReason.UNCHANGED
