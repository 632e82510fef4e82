"""NODES, line by line: one test for each rule that one node stands on, which fails when the rule is taken out.

Each docstring names the line and what breaks without it. Lines 10 to 23 and 27 are tested where many nodes are.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from importlib.resources import files

import pytest
from msgspec.structs import replace

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import CloseCode, EntrantStatus, Player, RaceJoin, RaceState
from cellrace_server import referee as referee_module
from cellrace_server.core.commands import Concede, Join, Leave, SetReady
from cellrace_server.core.facts import CountdownBegan, Done, Joined, ReadySet, Stamped, Tally
from cellrace_server.core.race import LATE_COMMITS, Race
from cellrace_server.referee import LONGEST_WAIT, Referee
from cellrace_server.room import Room
from cellrace_server.store import keys
from cellrace_server.store.clock import RaceClock
from cellrace_server.store.commits import Barred, Commit, Committed, Fenced, Stale
from cellrace_server.store.due import CLAIM
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.races import Guard, LostTrack, Moved
from tests.server.races import ANN, BEN, CAT, new_race
from tests.server.shell import SECRET, SHORT, WIN, FakeMember, Shell
from tests.waiting import eventually


async def recorded(shell: Shell, race_id: str) -> Race:
    record = await shell.store.races.load(race_id)
    assert record is not None
    return record.race


async def running(shell: Shell, start_in: int = -5_000) -> Referee:
    race = await shell.race(ANN, BEN, start_in=start_in)
    async with shell.attended(race, FakeMember(ANN), FakeMember(BEN)) as referee:
        return referee


class TestLine1:
    async def test_a_command_has_its_effect_once_and_its_first_answer_always(self, here: Shell, there: Shell) -> None:
        """Line 1: redis-py resends when a reply is lost; without the command's id the fact would stand there twice, or
        the one who wrote it would be told of somebody who was faster."""
        race = await here.race(ANN)
        first = await here.store.races.append(race, "c1", [Joined(BEN)], here.now())
        await there.append(await recorded(there, race.id), Joined(CAT))
        again = await here.store.races.append(race, "c1", [Joined(BEN)], here.now())
        assert again[: len(first)] == first
        assert (await recorded(here, race.id)).version == 3

    async def test_asking_again_for_what_already_holds_succeeds(self, here: Shell) -> None:
        """Line 1: whoever was told `retry_later` repeats; without this the repeat would be refused, or told twice."""
        race = await here.race(ANN, BEN)
        async with here.attended(race, FakeMember(ANN), FakeMember(BEN)) as referee:
            for command in (Join(CAT), SetReady("ann", True), Leave("ben")):
                referee.tell(await referee.ask(lambda command=command: command))  # type: ignore[misc]  # bound at once
                told = len(here.recorder.told)
                referee.tell(await referee.ask(lambda command=command: command))  # type: ignore[misc]  # the same
                assert len(here.recorder.told) == told


class TestLine2:
    async def test_a_history_rolled_back_is_never_taken_for_the_same_one(self, here: Shell) -> None:
        """Line 2: after a failover that lost a fact the versions may be equal again; the ids of the facts are not."""
        race = await here.race(ANN, BEN)
        await here.append(race, ReadySet("ann", True))
        base = keys.race(race.id)
        lost = await recorded(here, race.id)
        await here.link.command("RPOP", base + ":facts")
        await here.link.command("HSET", base, "version", race.version, "last", race.last_id)
        await here.append(race, ReadySet("ben", True))
        assert (await recorded(here, race.id)).version == lost.version
        with pytest.raises(LostTrack):
            await here.store.races.append(lost, "c9", [Joined(CAT)], here.now())

    async def test_a_shorter_history_drops_the_cache_and_the_clients_come_back(self, here: Shell) -> None:
        """Line 2: else the room would go on with facts that no other node knows."""
        race = await here.race(ANN, BEN)
        ann = FakeMember(ANN)
        await here.held(race, ann)
        base = keys.race(race.id)
        await here.link.command("RPOP", base + ":facts")
        await here.link.command("HSET", base, "version", race.version - 1)
        with pytest.raises(LostTrack):
            await here.lobby.ready(ann, race.id, True, lambda _: None)
        assert ann.closed is CloseCode.LOST_TRACK
        async with here.rooms.hold(race.id) as anew:
            assert anew.room.race.version == race.version - 1


class TestLine3:
    async def test_the_checks_of_a_commit_stand_in_one_order(self, here: Shell) -> None:
        """Line 3: sid, repeat, status, phase and limit, seq. In any other order a fenced connection would be told of
        another's moves, or a repeat after the end would be refused although it is on record."""
        referee = await running(here)
        race = referee.room.race
        await here.move(referee, ANN, 0, *WIN[:2])

        def commit(*moves: str, seq: int, sid: str = "1.s", at: int | None = None) -> Commit:
            now = here.now() if at is None else at
            return Commit(race.id, "ann", sid, seq, now, moves, Tally(), "c", None)

        submit = here.store.committer.submit
        assert isinstance(await submit(commit(WIN[0], seq=0, sid="0.old")), Fenced)
        assert isinstance(await submit(commit(WIN[0], seq=0, at=0)), Committed)
        assert isinstance(await submit(commit("3b", seq=0)), Stale)
        assert await submit(commit("3b", seq=9, at=0)) == Barred("not_started")
        limit = (race.limit_at or 0) + 1
        assert await submit(commit("3b", seq=9, at=limit)) == Barred("late")
        await here.append(race, Done("ann", EntrantStatus.CONCEDED, Tally(2, 1, 2, 0)))
        assert await submit(commit("3b", seq=9, at=limit)) == Barred("done")
        assert isinstance(await submit(commit(*WIN[:2], seq=0, at=limit)), Committed)

    async def test_a_winning_commit_writes_its_fact_in_the_same_call(self, here: Shell) -> None:
        """Line 3: a node that dies between two calls would leave a won game that nobody has won."""
        referee = await running(here)
        here.link.lose_reply("race_commit")
        with pytest.raises(StoreUnavailable):
            await here.move(referee, ANN, 0, *WIN)
        entrant = (await recorded(here, referee.room.id)).entrant("ann")
        assert entrant is not None
        assert entrant.done is not None
        assert entrant.done.status is EntrantStatus.WON
        assert "append" not in here.link.sent[-1]

    async def test_a_terminal_fact_is_refused_if_the_log_has_moved_on(self, here: Shell) -> None:
        """Line 3: else an answered move would be missing in the standings."""
        referee = await running(here)
        await here.move(referee, ANN, 0, WIN[0])
        done = Done("ann", EntrantStatus.CONCEDED, Tally())
        with pytest.raises(Moved):
            await here.store.races.append(referee.room.race, "c", [done], here.now(), [Guard("ann", 0)])
        (fact,) = await referee.ask(lambda: Concede("ann", referee.room.tally("ann")))
        assert isinstance(fact.fact, Done)
        assert fact.fact.tally.seq == 1

    def test_a_done_fact_has_no_place(self) -> None:
        """Line 3: a place follows from all the facts; one that was stored would be wrong when a better one comes."""
        assert "place" not in Done.__struct_fields__


class TestLine4:
    @pytest.fixture(autouse=True)
    def standing_clock(self, here: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        """However long these tests take, no time passes by the race clock."""
        now = here.now()
        monkeypatch.setattr(here.store.clock, "now", lambda: now)

    async def test_a_move_that_arrived_in_time_counts_until_the_game_is_ended(self, here: Shell) -> None:
        """Line 4: its commit comes after the limit, and nobody is timed out in these two seconds."""
        referee = await running(here, start_in=-1_800_000 - LATE_COMMITS // 2)
        limit = referee.room.race.limit_at
        assert limit is not None
        assert here.now() > limit
        assert not await referee.wake()
        assert (await here.move(referee, ANN, 0, *WIN, at=limit)).won

    async def test_nobody_is_timed_out_before_two_seconds_have_passed_and_then_they_are(self, here: Shell) -> None:
        """Line 4."""
        early = await running(here, start_in=-1_800_000 - LATE_COMMITS + 200)
        assert not await early.wake()
        late = await running(here, start_in=-1_800_000 - LATE_COMMITS)
        assert await late.wake()

    async def test_nor_within_two_seconds_of_an_error_of_the_store(
        self, here: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Line 4: commits that waited for the store are on their way again."""
        assert referee_module.AFTER_STORE_ERROR == 2
        monkeypatch.setattr(referee_module, "AFTER_STORE_ERROR", 3600.0)
        referee = await running(here, start_in=-1_800_000 - LATE_COMMITS)
        here.link.lose_request("GET")
        with pytest.raises(StoreUnavailable):
            await here.link.command("GET", "x")
        assert not await referee.wake()


class TestLine5:
    async def test_an_unknown_outcome_discards_the_board_and_what_follows_waits_for_the_record(
        self, here: Shell
    ) -> None:
        """Line 5: judged on the old board, the next message would be stale although its player did nothing wrong."""
        referee = await running(here)
        here.link.lose_reply("race_commit")
        with pytest.raises(StoreUnavailable):
            await here.move(referee, ANN, 0, *WIN[:2])
        assert (await here.move(referee, ANN, 2, WIN[2])).seq == 3

    async def test_facts_are_taken_in_without_gaps_only(self, here: Shell) -> None:
        """Line 5: a race with a fact missing is no race."""
        race = await here.race(ANN)
        async with here.attended(race) as referee:
            later = [Stamped(4, "c9", here.now(), Joined(CAT))]
            assert not referee.room.apply_facts(later)
            assert referee.room.race == race
            assert not referee.room.extend_log("ann", 3, [])

    async def test_on_a_gap_the_record_is_read_after_the_commit_in_flight(self, here: Shell) -> None:
        """Line 5: read before, the record would tell of moves before they are answered, or without them."""
        referee = await running(here)
        gate = here.link.hold_reply("race_commit")
        moving = asyncio.create_task(here.move(referee, ANN, 0, WIN[0]))
        await gate.reached.wait()
        referee.room.doubt()
        reading = asyncio.create_task(referee.make_sure())
        await asyncio.sleep(0)
        assert here.link.sent[-1] == "race_commit"
        gate.open()
        await moving
        await reading
        assert here.link.sent.index("race_commit") < len(here.link.sent) - 1
        assert here.recorder.kinds.count("moved") == 1


class _Listener(FakeMember):
    """A member who notes the versions that come: first the snapshot's, then those of facts."""

    def __init__(self, player: Player, sid: str = "1.s") -> None:
        super().__init__(player, sid)
        self.versions: list[int] = []


class TestLine6:
    async def test_a_snapshot_and_the_facts_after_it_leave_no_gap(self, here: Shell) -> None:
        """Line 6: with a wait between attaching and answering, a fact would fall in between, or be told before it."""
        race = await here.race(ANN, BEN)
        ann = FakeMember(ANN)
        held = await here.held(race, ann)
        ben = _Listener(BEN)

        def facts(room: Room, stamped: Sequence[Stamped]) -> None:
            if ben in room.members():
                ben.versions += [fact.version for fact in stamped]

        here.recorder.facts = facts  # type: ignore[method-assign]  # a spy on what one member is told
        done = False

        async def toggle() -> None:
            ready = False
            while not done:
                ready = not ready
                race = held.room.race
                stamped = Stamped(race.version + 1, "elsewhere", here.now(), ReadySet("ann", ready))
                held.room.apply_facts([stamped])
                await asyncio.sleep(0)

        toggling = asyncio.create_task(toggle())
        answer = lambda room: ben.versions.append(room.race.version)  # noqa: E731 - an answer of one line
        await here.lobby.join(ben, RaceJoin(race=race.id), "127.0.0.1", answer)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        done = True
        await toggling
        assert len(ben.versions) > 2
        assert ben.versions == list(range(ben.versions[0], ben.versions[0] + len(ben.versions)))


class TestLine7:
    async def test_a_race_is_due_before_it_is_on_record_and_until_its_last_effect(self, here: Shell) -> None:
        """Line 7: a race whose node dies in between would wait for ever."""
        race = new_race(SHORT)
        gate = here.link.hold_request("race_create")
        creating = asyncio.create_task(here.rooms.create(replace(race, created_at=here.now())))
        await gate.reached.wait()
        assert await here.store.due.size() == 1
        gate.open()
        await creating
        over = await here.race(ANN, BEN, start_in=-1_900_000)
        async with here.attended(over) as referee:
            await referee.wake()
            await referee.wake()
            assert referee.room.race.standings is not None
            gate = here.link.hold_request("race_compact")
            finishing = asyncio.create_task(referee.finish())
            await gate.reached.wait()
            assert await here.link.command("ZSCORE", keys.DUE, over.id) is not None
            gate.open()
            await finishing
        assert await here.link.command("ZSCORE", keys.DUE, over.id) is None

    async def test_a_score_is_never_later_than_the_race_must_be_looked_at(self, here: Shell) -> None:
        """Line 7: the time limit alone would leave a race of dead nodes for half an hour."""
        race = await here.race(ANN, BEN)
        async with here.attended(race, FakeMember(ANN), FakeMember(BEN)) as referee:
            await here.store.due.forget(race.id)
            began = CountdownBegan(here.now(), "c")
            await referee.ask(lambda: SetReady("ann", True))
            await here.append(await recorded(here, race.id), began, secret=SECRET)
            referee.room.doubt()
            await referee.ask(lambda: Concede("ann", Tally()))
        score = float(await here.link.command("ZSCORE", keys.DUE, race.id))
        assert score <= here.now() + LONGEST_WAIT

    async def test_what_a_dead_node_has_claimed_is_looked_at_again_five_seconds_later(
        self, here: Shell, there: Shell
    ) -> None:
        """Line 7."""
        race = await there.race(ANN, BEN, start_in=-1_900_000)
        await there.store.due.expect(race.id, there.now() - 1_000)
        claimed, until = await there.store.due.claim(there.now())
        assert claimed == (race.id,)
        assert until <= there.now() + CLAIM
        assert (await here.store.due.claim(until - 1))[0] == ()
        assert (await here.store.due.claim(until))[0] == (race.id,)

    async def test_doing_it_twice_has_one_effect(self, here: Shell, there: Shell) -> None:
        """Line 7: two nodes may look at a race at once."""
        race = await here.race(ANN, BEN, start_in=-1_900_000)
        async with here.attended(race) as one, there.attended(race) as other:
            for _ in range(3):
                await asyncio.gather(one.wake(), other.wake())
        final = await recorded(here, race.id)
        assert final.state(here.now()) is RaceState.OVER
        assert final.version == race.version + 3
        assert final == one.room.race == other.room.race


class TestLine8:
    async def test_any_node_begins_a_race_in_which_all_are_ready(self, here: Shell, there: Shell) -> None:
        """Line 8: the node that took the last `ready` may have died right after it."""
        race = await there.race(ANN, BEN)
        for player in (ANN, BEN):
            await there.open(race, player)
        race = await there.append(race, ReadySet("ann", True), ReadySet("ben", True))
        await here.store.nodes.beat(here.now())
        await there.store.due.expect(race.id, there.now() - 1_000)
        await here.upkeep.sweep_once()
        assert (await recorded(here, race.id)).start_at is not None

    async def test_the_deal_is_written_with_the_countdown_and_the_loser_discards_its_own(
        self, here: Shell, there: Shell
    ) -> None:
        """Line 8: a second deal, or one without its countdown, would break the commitment."""
        race = await here.race(ANN, BEN)
        race = await here.append(race, ReadySet("ann", True), ReadySet("ben", True))
        async with (
            here.attended(race, FakeMember(ANN), FakeMember(BEN)) as one,
            there.attended(race, FakeMember(ANN, "2.t"), FakeMember(BEN, "2.t")) as other,
        ):
            gates = [shell.link.hold_request("race_append") for shell in (here, there)]
            waking = [asyncio.create_task(referee.wake()) for referee in (one, other)]
            for gate in gates:
                await gate.reached.wait()
            for gate in gates:
                gate.open()
            await asyncio.gather(*waking)
            await asyncio.gather(one.wake(), other.wake())
        secret = await here.store.races.secret(race.id)
        assert secret is not None
        assert secret == one.room.secret == other.room.secret
        final = await recorded(here, race.id)
        assert final.commitment == secret.commitment(SHORT.variant)
        assert final.version == race.version + 1
        had = await here.link.command("HKEYS", keys.player_deals("ann", SHORT.variant))
        assert had == [str(secret.deal).encode()]


class TestLine9:
    @pytest.mark.parametrize("lost", ["race_append", "everything"])
    @pytest.mark.parametrize("asked", ["wake", "concede"])
    async def test_a_node_that_cannot_reach_the_store_decides_nothing(self, here: Shell, asked: str, lost: str) -> None:
        """Line 9: what is told and not on record would have to be taken back."""
        referee = await running(here, start_in=-1_900_000)
        race, told = referee.room.race, list(here.recorder.told)
        self.cut(here, lost)
        with pytest.raises(StoreUnavailable):
            await (referee.wake() if asked == "wake" else referee.ask(lambda: Concede("ann", Tally())))
        assert here.recorder.told == told
        assert referee.room.race == race

    @pytest.mark.parametrize("lost", ["race_commit", "everything"])
    async def test_nor_does_it_take_moves(self, here: Shell, lost: str) -> None:
        """Line 9: rivals would see a move that is lost with this node."""
        referee = await running(here)
        told = list(here.recorder.told)
        self.cut(here, lost)
        with pytest.raises(StoreUnavailable):
            await here.move(referee, ANN, 0, WIN[0])
        assert here.recorder.told == told
        assert referee.room.plays["ann"].moves == ()

    def cut(self, shell: Shell, lost: str) -> None:
        if lost == "everything":
            shell.link.down = True
        else:
            shell.link.lose_request(lost)


class TestLine24:
    async def test_the_race_clock_is_the_stores(self, here: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        """Line 24: by its own clock each node would stamp, start and end races at another time."""

        async def an_hour_ahead() -> tuple[int, int]:
            seconds, micros = await here.link.redis.time()
            return seconds + 3600, micros

        async with await RaceClock.open(an_hour_ahead) as clock:
            assert 3_599_000 < clock.now() - here.now() < 3_601_000

    def test_functions_take_the_time_as_an_argument(self) -> None:
        """Line 24: a function's own TIME would be another clock in each slot of a cluster."""
        for source in (files("cellrace_server.store") / "functions").iterdir():
            if source.name.endswith(".lua"):
                assert not re.search(r"['\"]TIME['\"]|os\.time", source.read_text("utf-8")), source.name

    async def test_a_clock_far_from_the_stores_is_not_ready(self, here: Shell) -> None:
        """Line 24: above 250 ms a node says that it is not ready."""
        offset = 0

        async def shifted() -> tuple[int, int]:
            seconds, micros = await here.link.redis.time()
            return seconds + offset, micros

        async with await RaceClock.open(shifted) as clock:
            await eventually(lambda: clock.ready)
            before = clock.now()
            offset = -5
            await eventually(lambda: not clock.ready)
            assert clock.now() >= before


class TestLine25:
    async def test_a_deal_is_released_when_the_start_has_surely_come(
        self, here: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Line 25: a node whose clock is ahead would show the cards early."""
        monkeypatch.setattr(RaceClock, "margin", property(lambda _: 60_000))
        referee = await running(here)
        referee.room.released = False
        await referee.wake()
        assert not referee.room.released
        assert "started" not in here.recorder.kinds
        now = here.now()
        assert referee.next_look(now) == now + LONGEST_WAIT
        monkeypatch.setattr(RaceClock, "margin", property(lambda _: 4_000))
        await referee.wake()
        assert referee.room.released

    async def test_moves_that_arrive_before_the_start_are_refused(self, here: Shell) -> None:
        """Line 25."""
        referee = await running(here)
        start_at = referee.room.race.start_at
        assert start_at is not None
        with pytest.raises(Refused) as refused:
            await here.move(referee, ANN, 0, WIN[0], at=start_at - 1)
        assert refused.value.code == ErrorCode.NOT_STARTED
        assert (await here.move(referee, ANN, 0, WIN[0], at=start_at)).at == 0

    async def test_stamps_lie_between_the_one_before_and_now(self, here: Shell) -> None:
        """Line 25: a log whose stamps fall, or lie ahead, cannot be replayed and could win at no time at all."""
        referee = await running(here)
        start_at = referee.room.race.start_at
        assert start_at is not None
        first = await here.move(referee, ANN, 0, WIN[0], at=start_at + 3_000)
        second = await here.move(referee, ANN, 1, WIN[1], at=start_at + 1_000)
        third = await here.move(referee, ANN, 2, WIN[2], at=here.now() + 500_000)
        assert first.at == second.at == 3_000
        assert third.at <= here.now() - start_at


class TestLine26:
    async def test_a_race_that_lives_expires_never_and_one_that_has_ended_with_all_its_keys(self, here: Shell) -> None:
        """Line 26: a live key with a TTL would vanish under a long race; without one afterwards nothing ever would."""

        async def ttls(race_id: str) -> list[int]:
            found = await here.link.command("KEYS", f"race:{{{race_id}}}*")
            return [await here.link.command("TTL", key) for key in found]

        race = await here.race(ANN, BEN, start_in=-1_700_000)
        async with here.attended(race, FakeMember(ANN), FakeMember(BEN)) as referee:
            await here.move(referee, ANN, 0, *WIN[:2])
            assert set(await ttls(race.id)) == {-1}
            await here.move(referee, ANN, 2, *WIN[2:])
            referee.tell(await referee.ask(lambda: Concede("ben", Tally())))
            await referee.wake()
            await referee.finish()
        assert min(await ttls(race.id)) > 0

    async def test_repeats_are_answered_from_the_replay(self, here: Shell) -> None:
        """Line 26: the log is gone; the answer to its moves must still be the same."""
        race = await here.race(ANN, BEN, start_in=-1_700_000)
        async with here.attended(race, FakeMember(ANN), FakeMember(BEN)) as referee:
            first = await here.move(referee, ANN, 0, *WIN)
            referee.tell(await referee.ask(lambda: Concede("ben", Tally())))
            await referee.wake()
            await referee.finish()
        assert await here.link.command("EXISTS", keys.log(race.id, "ann")) == 0
        async with here.attended(race) as anew:
            assert await here.move(anew, ANN, 0, *WIN) == first
