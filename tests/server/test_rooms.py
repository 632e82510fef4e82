"""The rooms of a node: loaded once, let go when nobody needs them, woken in time; and the races that nobody holds."""

from __future__ import annotations

import asyncio
import gc
from weakref import ref

import pytest
from msgspec.structs import replace

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import CancelReason, CloseCode, EntrantStatus, LeftReason, RaceCreate, RaceJoin, RaceState
from cellrace_server.core.commands import SetReady
from cellrace_server.core.facts import Cancelled, Done, Joined, Left, ReadySet, Stamped, Tally
from cellrace_server.core.presence import Nodes, Presence
from cellrace_server.core.race import NEVER_ENTERED, Race, evolve
from cellrace_server.referee import Referee
from cellrace_server.room import Room
from cellrace_server.store import keys
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.hearing import FactTold, MovesTold, PresenceTold
from cellrace_server.store.races import Entry, LostTrack
from tests.server.races import ANN, BEN, CAT, new_race, stamped
from tests.server.shell import SHORT, WIN, FakeMember, Shell
from tests.waiting import eventually


async def hosts(shell: Shell, race: Race) -> set[bytes]:
    found: set[bytes] = await shell.link.command("SMEMBERS", keys.race(race.id) + ":hosts")
    return set(found)


async def state(shell: Shell, race_id: str) -> RaceState | None:
    record = await shell.store.races.load(race_id)
    return None if record is None else record.race.state(shell.now())


class TestHolding:
    async def test_what_is_not_on_record_is_no_race_and_leaves_nothing_behind(self, here: Shell) -> None:
        with pytest.raises(Refused) as refused:
            async with here.rooms.hold("nowhere"):
                pass
        assert refused.value.code == ErrorCode.NO_SUCH_RACE
        await eventually(lambda: len(here.rooms) == 0)

    async def test_however_many_want_it_at_once_it_is_loaded_once(self, here: Shell) -> None:
        race = await here.race(ANN)
        gate = here.link.hold_reply("race_load")
        loads = here.link.sent.count("race_load")

        async def hold() -> Referee:
            async with here.rooms.hold(race.id) as referee:
                return referee

        holds = [asyncio.create_task(hold()) for _ in range(5)]
        await gate.reached.wait()
        gate.open()
        referees = await asyncio.gather(*holds)
        assert all(referee is referees[0] for referee in referees)
        assert here.link.sent.count("race_load") == loads + 1

    async def test_after_a_load_that_failed_the_others_still_get_one_room(self, here: Shell) -> None:
        race = await here.race(ANN)
        here.link.lose_request("race_load")
        release = asyncio.Event()

        async def hold() -> Referee:
            async with here.rooms.hold(race.id) as referee:
                await release.wait()
                return referee

        holds = [asyncio.create_task(hold()) for _ in range(4)]
        await eventually(lambda: holds[0].done())
        holds.append(asyncio.create_task(hold()))
        await eventually(lambda: here.link.sent.count("race_load") == 2)
        release.set()
        first, *others = await asyncio.gather(*holds, return_exceptions=True)
        assert isinstance(first, StoreUnavailable)
        assert all(referee is others[0] for referee in others)

    async def test_it_is_let_go_when_nobody_uses_or_hears_it(self, here: Shell) -> None:
        race = await here.race(ANN)
        async with here.rooms.hold(race.id):
            assert await hosts(here, race) == {b"here:1"}
            async with here.rooms.hold(race.id):
                pass
            await asyncio.sleep(0)
            assert len(here.rooms) == 1
        await eventually(lambda: len(here.rooms) == 0)
        assert await hosts(here, race) == set()

    async def test_what_is_let_go_waits_for_no_collector(self, here: Shell) -> None:
        """Which looks seldom on a node: thousands of rooms with all their boards would lie about until then."""
        race = await here.race(ANN, BEN, start_in=-1_000)
        gc.disable()
        try:
            async with here.rooms.hold(race.id) as referee:
                room = ref(referee.room)
            del referee
            await eventually(lambda: len(here.rooms) == 0)
            await eventually(lambda: room() is None)
        finally:
            gc.enable()

    async def test_it_stays_while_somebody_hears_it(self, here: Shell) -> None:
        race = await here.race(ANN)
        ann = FakeMember(ANN)
        referee = await here.held(race, ann)
        await asyncio.sleep(0)
        async with here.rooms.hold(race.id) as again:
            assert again is referee
        referee.room.detach(ann)
        here.rooms.left(referee)
        await eventually(lambda: len(here.rooms) == 0)

    async def test_whoever_wants_it_while_it_is_let_go_gets_a_room_that_hears_the_others(self, here: Shell) -> None:
        """NODES 13: registering and leaving are serial, or this node would be deaf to what others write."""
        race = await here.race(ANN)
        gate = here.link.hold_request("race_unhost")
        async with here.rooms.hold(race.id) as first:
            pass
        await gate.reached.wait()

        async def hold() -> None:
            async with here.rooms.hold(race.id) as again:
                assert again is not first
                loaded.set()
                await looked.wait()

        loaded, looked = asyncio.Event(), asyncio.Event()
        holding = asyncio.create_task(hold())
        # Long enough for a room that would not wait for its turn to be loaded and registered meanwhile.
        await asyncio.wait({holding}, timeout=0.05)
        gate.open()
        await loaded.wait()
        await eventually(lambda: "race_unhost" in here.link.answered)
        assert await hosts(here, race) == {b"here:1"}
        looked.set()
        await holding

    async def test_a_room_that_was_let_go_is_not_woken_any_more(self, here: Shell) -> None:
        race = await here.race(ANN, BEN, start_in=3_000)
        async with here.rooms.hold(race.id) as referee:
            pass
        await eventually(lambda: len(here.rooms) == 0)
        start_at = race.start_at or 0
        await eventually(lambda: here.now() > start_at + 60)
        assert not referee.room.released
        assert here.recorder.told == []

    async def test_a_room_held_anew_while_the_old_one_is_being_woken_is_woken_too(self, here: Shell) -> None:
        race = await here.race(ANN, BEN, start_in=2_000)
        old = await here.held(race, FakeMember(ANN))
        old.room.doubt()
        gate = here.link.hold_reply("race_load")
        here.rooms.doubt(old)
        await gate.reached.wait()
        here.rooms.lose(old)
        new = await here.held(race, FakeMember(ANN))
        assert new is not old
        await eventually(lambda: new.room.released)
        gate.open()
        assert not old.room.released

    async def test_a_race_that_is_held_begins_starts_and_ends_by_itself(self, here: Shell) -> None:
        """It is woken whenever it must be, and not only once."""
        race = await here.race(ANN, BEN, settings=replace(SHORT, countdown=0))
        ann, ben = FakeMember(ANN), FakeMember(BEN)
        referee = await here.held(race, ann, ben)
        for member in (ann, ben):
            await here.lobby.ready(member, race.id, True, lambda room: None)
        await eventually(lambda: referee.room.released)
        for member in (ann, ben):
            await here.lobby.concede(member, race.id, lambda room: None)
        await eventually(lambda: referee.room.race.standings)

        async def forgotten() -> bool:
            return await here.store.due.size() == 0

        await eventually(forgotten)
        kinds = [kind for kind in here.recorder.kinds if kind != "online"]
        assert kinds == ["ReadySet", "ReadySet", "CountdownBegan", "started", "Done", "Done", "Over"]


async def made_sure(shell: Shell, race: Race) -> None:
    async with shell.rooms.hold(race.id) as referee:
        await referee.make_sure()


async def facts_of(shell: Shell, race: Race) -> list[Stamped]:
    record = await shell.store.races.load(race.id)
    assert record is not None
    return list(record.facts)


async def is_gone(shell: Shell, race: Race, player: str) -> bool:
    record = await shell.store.races.load(race.id)
    assert record is not None
    return record.presence[player].gone_at is not None


async def log_of(shell: Shell, race: Race, player: str) -> tuple[Entry, ...]:
    record = await shell.store.races.load(race.id)
    assert record is not None
    return record.logs[player]


class TestLosingTrack:
    async def test_members_are_sent_away_and_whoever_comes_reads_the_record_anew(self, here: Shell) -> None:
        race = await here.race(ANN, BEN)
        ann, cat = FakeMember(ANN), FakeMember(CAT)
        referee = await here.held(race, ann, cat)
        await here.link.command("DEL", keys.race(race.id))
        referee.room.doubt()
        with pytest.raises(LostTrack):
            await made_sure(here, race)
        assert ann.closed is cat.closed is CloseCode.LOST_TRACK
        late = FakeMember(BEN)
        referee.room.attach(late)
        assert late.closed is CloseCode.LOST_TRACK
        with pytest.raises(Refused):
            async with here.rooms.hold(race.id):
                pass

    async def test_a_wake_that_finds_another_history_sends_them_away_too(self, here: Shell) -> None:
        race = await here.race(ANN, BEN)
        ann = FakeMember(ANN)
        referee = await here.held(race, ann)
        await here.link.command("RPOP", keys.race(race.id) + ":facts")
        here.rooms.doubt(referee)
        await eventually(lambda: ann.closed is CloseCode.LOST_TRACK)

    async def test_a_record_read_too_early_sends_nobody_away(self, here: Shell, there: Shell) -> None:
        """The reading left before another node's fact, and arrives after the news of it."""
        race = await here.race(ANN, BEN)
        ann = FakeMember(ANN)
        referee = await here.held(race, ann)
        gate = here.link.hold_reply("race_load")
        here.rooms.doubt(referee)
        await gate.reached.wait()
        later = await there.append(race, ReadySet("ann", True))
        here.rooms.hear(FactTold(race.id, (await facts_of(there, race))[-1]))
        assert referee.room.race.version == later.version
        gate.open()
        await eventually(lambda: not referee.room.doubtful)
        assert ann.closed is None
        assert referee.room.race.version == later.version


class TestHearing:
    async def test_a_fact_that_follows_is_told(self, here: Shell) -> None:
        race = await here.race(ANN)
        await here.held(race, FakeMember(ANN))
        here.rooms.hear(FactTold(race.id, stamped(race, [Joined(BEN)], here.now())[0]))
        assert here.recorder.told[-1] == ("Joined", 2)

    async def test_on_a_gap_the_record_is_read(self, here: Shell, there: Shell) -> None:
        race = await here.race(ANN)
        referee = await here.held(race, FakeMember(ANN))
        await there.append(race, Joined(BEN), Joined(CAT))
        here.rooms.hear(FactTold(race.id, (await facts_of(there, race))[-1]))
        await eventually(lambda: referee.room.race.version == 3)
        assert here.recorder.kinds.count("Joined") == 2

    async def test_moves_are_taken_in_and_on_a_gap_the_record_is_read(self, here: Shell, there: Shell) -> None:
        race = await here.race(ANN, BEN, start_in=-5_000)
        referee = await here.held(race, FakeMember(BEN))
        async with there.attended(race, FakeMember(ANN, "2.t")) as other:
            await there.move(other, ANN, 0, WIN[0], sid="2.t")
            here.rooms.hear(MovesTold(race.id, "ann", 1, await log_of(there, race, "ann")))
            assert here.recorder.told[-1] == ("moved", ("ann", [WIN[0]]))
            await there.move(other, ANN, 1, WIN[1], sid="2.t")
            await there.move(other, ANN, 2, WIN[2], sid="2.t")
        here.rooms.hear(MovesTold(race.id, "ann", 3, (await log_of(there, race, "ann"))[-1:]))
        await eventually(lambda: referee.room.tally("ann").seq == 3)

    async def test_what_is_told_of_a_race_that_is_not_held_here_is_passed_over(self, here: Shell) -> None:
        race = await here.race(ANN)
        here.rooms.hear(FactTold(race.id, stamped(race, [Joined(BEN)], here.now())[0]))
        here.rooms.hear(PresenceTold(race.id, "ann", Presence("1.s", "there", None)))
        assert len(here.rooms) == 0

    async def test_after_silence_every_record_is_read_again(self, here: Shell, there: Shell) -> None:
        races = [await here.race(ANN) for _ in range(3)]
        referees = [await here.held(race, FakeMember(ANN)) for race in races]
        for race in races:
            await there.append(race, Joined(BEN))
        here.rooms.catch_up()
        await eventually(lambda: all(referee.room.race.version == 2 for referee in referees))

    async def test_what_is_held_here_is_compared_with_the_store(self, here: Shell, there: Shell) -> None:
        race = await here.race(ANN, BEN, start_in=-5_000)
        referee = await here.held(race, FakeMember(BEN))
        async with there.attended(race, FakeMember(ANN, "2.t")) as other:
            await there.move(other, ANN, 0, WIN[0], sid="2.t")
        await here.upkeep.compare_once()
        await eventually(lambda: referee.room.tally("ann").seq == 1)


class TestComingAndGoing:
    async def test_a_wake_does_not_take_a_race_away_from_whoever_is_about_to_enter_it(self, here: Shell) -> None:
        ann = FakeMember(ANN)
        answers: list[Room] = []
        gate = here.link.hold_request("race_open")
        creating = asyncio.create_task(here.lobby.create(ann, RaceCreate(), answers.append))
        await gate.reached.wait()
        here.rooms.catch_up()
        (referee,) = here.rooms
        await eventually(lambda: not referee.room.doubtful)
        gate.open()
        await creating
        assert [room.race.host for room in answers] == ["ann"]
        assert answers[0].race.cancelled is None

    async def test_whoever_comes_again_while_being_kicked_is_still_connected(self, here: Shell) -> None:
        """The connection is opened before the player joins: a removal in between must not make it seem gone."""
        race = await here.race(ANN, BEN)
        referee = await here.held(race, FakeMember(ANN))
        ben = FakeMember(BEN)
        await here.admission.open(referee, ben)
        left = await here.append(race, Left("ben", LeftReason.KICKED))
        await here.append(left, Joined(BEN))
        record = await here.store.races.load(race.id)
        assert record is not None
        assert record.presence["ben"] == Presence("1.s", "here:1", None)

    async def test_a_lost_connection_is_noted_even_if_the_room_does_not_know_of_it(self, here: Shell) -> None:
        """The store has opened it, and the reply was lost with the connection."""
        race = await here.race(ANN, BEN)
        referee = await here.held(race, FakeMember(ANN))
        ben = FakeMember(BEN, "7.x")
        here.link.lose_reply("race_open")
        with pytest.raises(StoreUnavailable):
            await here.admission.open(referee, ben)
        here.admission.disconnected(ben, [], here.now())
        await eventually(lambda: is_gone(here, race, "ben"))

    async def test_whoever_is_cut_off_while_coming_back_does_not_seem_to_be_there(self, here: Shell) -> None:
        """The races were opened one by one and the hello was never answered: no session hears of them."""
        races = [await here.race(ANN, BEN) for _ in range(3)]
        for race in races:
            await here.store.players.enter("ben", race.id, race.created_at)
        ben = FakeMember(BEN, "4.x")
        here.link.lose_request("race_gone")
        gate = here.link.hold_reply("race_open")
        resuming = asyncio.create_task(here.admission.resume(ben, lambda referees: None))
        await gate.reached.wait()
        here.link.lose_reply("race_open")
        gate.open()
        with pytest.raises(StoreUnavailable):
            await resuming
        here.admission.disconnected(ben, [], here.now())
        opened = [race for race in races if race.id in ben.opened]
        assert len(opened) == 2
        for race in opened:
            await eventually(lambda race=race: is_gone(here, race, "ben"))  # type: ignore[misc]  # bound at once

    async def test_whoever_is_refused_is_not_noted_as_gone(self, here: Shell) -> None:
        race = await here.race(ANN, BEN, settings=replace(SHORT, seats=2))
        cat = FakeMember(CAT)
        with pytest.raises(Refused):
            await here.lobby.join(cat, RaceJoin(race=race.id), "127.0.0.1", lambda room: None)
        assert cat.opened == {}

    async def test_leaving_is_answered_once_even_if_the_store_fails_afterwards(self, here: Shell) -> None:
        race = await here.race(ANN, BEN, start_in=-5_000)
        ben = FakeMember(BEN)
        await here.held(race, FakeMember(ANN), ben)
        answers: list[Room] = []
        here.link.lose_request("ZREM")
        await here.lobby.leave(ben, race.id, answers.append)
        assert len(answers) == 1

    async def test_a_player_who_comes_from_another_node_finds_the_moves_made_there(
        self, here: Shell, there: Shell
    ) -> None:
        race = await here.race(ANN, BEN, start_in=-5_000)
        referee = await here.held(race, FakeMember(BEN))
        await here.store.players.enter("ann", race.id, race.created_at)
        async with there.attended(race, FakeMember(ANN, "2.t")) as other:
            await there.move(other, ANN, 0, *WIN[:2], sid="2.t")
        referee.room.set_presence("ann", Presence("2.t", "there:2", None))
        seen: list[int] = []
        await here.admission.resume(
            FakeMember(ANN, "3.h"), lambda referees: seen.extend(r.room.tally("ann").seq for r in referees)
        )
        assert seen == [2]

    async def test_the_deal_of_a_race_cancelled_before_its_start_is_never_released(self, here: Shell) -> None:
        race = await here.race(ANN, BEN, start_in=-5_000)
        await here.append(race, Cancelled(CancelReason.ALL_FORFEITED))
        referee = await here.held(race, FakeMember(ANN))
        assert referee.room.start is not None
        here.rooms.doubt(referee)
        await eventually(lambda: not referee.room.doubtful)
        assert not referee.room.released
        assert "started" not in here.recorder.kinds


class TestSweeping:
    async def test_a_race_whose_creator_died_before_entering_it_is_cancelled(self, here: Shell) -> None:
        born = here.now() - NEVER_ENTERED
        race = replace(new_race(SHORT), created_at=born, changed_at=born)
        await here.store.lists.add(race)
        await here.rooms.create(race)
        await here.upkeep.sweep_once()
        assert await state(here, race.id) is RaceState.CANCELLED
        assert await here.store.due.size() == 0
        assert await here.store.lists.newest(False, 0, 10) == ()

    async def test_a_race_that_was_due_and_never_put_on_record_is_forgotten(self, here: Shell) -> None:
        race = replace(new_race(SHORT), created_at=here.now() - NEVER_ENTERED)
        await here.store.lists.add(race)
        await here.store.due.expect(race.id, race.created_at + NEVER_ENTERED)
        await here.upkeep.sweep_once()
        assert await here.store.due.size() == 0
        assert await here.store.lists.newest(False, 0, 10) == ()

    async def test_a_race_that_nobody_holds_any_more_comes_to_its_end(self, here: Shell, there: Shell) -> None:
        """NODES 7: all its nodes were killed; its players never came back."""
        race = await there.race(ANN, BEN, start_in=-1_900_000)
        await here.store.due.expect(race.id, here.now())
        await here.upkeep.sweep_once()
        await here.store.due.expect(race.id, here.now())
        await here.upkeep.sweep_once()
        assert await state(here, race.id) is RaceState.OVER
        await here.store.due.expect(race.id, here.now())
        await here.upkeep.sweep_once()
        assert await here.store.due.size() == 0
        await eventually(lambda: len(here.rooms) == 0)

    async def test_the_last_win_before_a_kill_ends_the_race_at_the_next_sweep(self, here: Shell, there: Shell) -> None:
        race = await there.race(ANN, BEN, start_in=-5_000)
        async with there.attended(race, FakeMember(ANN), FakeMember(BEN)) as referee:
            await there.append(referee.room.race, Done("ben", EntrantStatus.CONCEDED, Tally()))
            referee.room.doubt()
            await there.move(referee, ANN, 0, *WIN)
        assert await state(here, race.id) is RaceState.RUNNING
        await here.upkeep.sweep_once()
        assert await state(here, race.id) is RaceState.OVER

    async def test_two_nodes_that_sweep_at_once_have_one_effect(self, here: Shell, there: Shell) -> None:
        races = [await here.race(ANN, BEN, start_in=-1_900_000) for _ in range(5)]
        for race in races:
            await here.store.due.expect(race.id, here.now())
        await asyncio.gather(here.upkeep.sweep_once(), there.upkeep.sweep_once())
        for race in races:
            record = await here.store.races.load(race.id)
            assert record is not None
            assert [type(fact.fact) for fact in record.facts].count(Done) == 2

    async def test_a_race_that_cannot_be_read_does_not_keep_the_others_waiting(self, here: Shell) -> None:
        broken, well = await here.race(ANN), await here.race(ANN, BEN, start_in=-1_900_000)
        await here.link.command("LSET", keys.race(broken.id) + ":facts", 0, b"c:1:\xc1")
        for number, race in enumerate((broken, well)):
            await here.store.due.expect(race.id, here.now() - 10_000 + number)
        await here.upkeep.sweep_once()
        record = await here.store.races.load(well.id)
        assert record is not None
        assert any(isinstance(fact.fact, Done) for fact in record.facts)

    async def test_a_race_is_settled_no_later_than_somebody_expects_it_meanwhile(self, here: Shell) -> None:
        race = await here.race(ANN, BEN)
        await here.store.due.expect(race.id, here.now())
        gate = here.link.hold_request("due_settle")
        sweeping = asyncio.create_task(here.upkeep.sweep_once())
        await gate.reached.wait()
        expected = here.now() + 6_000
        await here.store.due.expect(race.id, expected)
        gate.open()
        await sweeping
        score = float(await here.link.command("ZSCORE", keys.DUE, race.id))
        assert score <= expected

    async def test_only_nodes_known_to_be_dead_are_taken_off_a_race(self, here: Shell) -> None:
        race = await here.race(ANN, BEN)
        for node in ("here:1", "dead:9"):
            await here.link.command("SADD", keys.race(race.id) + ":hosts", node)
        now = here.now()
        await here.store.due.expect(race.id, now)
        here.store.nodes.nodes = Nodes({"here:1": now - 60_000, "dead:9": now - 60_000}, 0, 0, now - 60_000)
        await here.upkeep.sweep_once()
        await eventually(lambda: len(here.rooms) == 0)
        assert b"dead:9" in await hosts(here, race), "without contact every beat only seems to be old"
        here.store.nodes.nodes = Nodes({"here:1": now, "dead:9": now - 60_000}, 0, now - 60_000, now)
        await here.link.command("ZADD", keys.DUE, now, race.id)
        await here.upkeep.sweep_once()
        assert b"dead:9" not in await hosts(here, race)


class TestTrouble:
    async def test_a_room_in_doubt_is_read_as_soon_as_the_store_answers(self, here: Shell) -> None:
        race = await here.race(ANN)
        referee = await here.held(race, FakeMember(ANN))
        here.link.lose_reply("race_append")
        with pytest.raises(StoreUnavailable):
            async with here.rooms.hold(race.id) as held:
                await held.ask(lambda: SetReady("ann", True))
        await eventually(lambda: referee.room.race.version == 2)
        assert here.recorder.kinds == ["online", "ReadySet"]

    async def test_all_that_was_told_replays_to_what_the_store_has(self, here: Shell) -> None:
        race = await here.race(ANN, BEN)
        referee = await here.held(race, FakeMember(ANN), FakeMember(BEN))
        for name in ("ann", "ben"):
            await here.lobby.ready(FakeMember(ANN if name == "ann" else BEN), race.id, True, lambda _: None)
        await eventually(lambda: referee.room.race.start_at)
        record = await here.store.races.load(race.id)
        assert record is not None
        again = replace(race, version=0, last_id="", entrants=(), changed_at=race.created_at)
        for fact in record.facts:
            again = evolve(again, fact)
        assert again == record.race == referee.room.race
