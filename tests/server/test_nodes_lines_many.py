"""NODES, 2, 6, 7, 13 to 18 and 23, as far as they take two nodes: how these hear each other, what one leaves behind.

One test for each rule, which fails when the rule is taken out; its docstring names the line and what breaks without it.
What replicas are good for (17) is tested in store/test_wait.py and store/test_sentinel.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from redis.exceptions import ResponseError

from cellrace.messages import EntrantStatus, RaceCreate, RaceWatch, SettingsRequest
from cellrace_server import upkeep as upkeep_module
from cellrace_server.core.facts import Done, Joined, Over, ReadySet, Stamped, Tally
from cellrace_server.core.presence import NODE_SILENCE, Nodes
from cellrace_server.core.race import Race, standings
from cellrace_server.room import Room
from cellrace_server.store import hearing as hearing_module
from cellrace_server.store import keys
from cellrace_server.store.commits import Commit, Committed, Fenced
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.hearing import FactTold, MovesTold
from cellrace_server.store.library import versioned
from cellrace_server.store.races import LostTrack
from tests.background import background
from tests.server.hearing import hearing
from tests.server.races import ANN, BEN, CAT
from tests.server.shell import SHORT, WIN, FakeMember, Shell
from tests.server.shell import shell as a_shell
from tests.server.store.listening import listening
from tests.waiting import eventually

BEFORE_SILENCE = 5.0
"""Seconds in which no subscription of these tests is taken for dead, after which everything would be read."""


async def recorded(shell: Shell, race_id: str) -> Race:
    record = await shell.store.races.load(race_id)
    assert record is not None
    return record.race


async def hosts(shell: Shell, race: Race) -> set[bytes]:
    return set(await shell.link.command("SMEMBERS", keys.race(race.id) + ":hosts"))


def commit(shell: Shell, race: Race, player: str, *moves: str, seq: int = 0, sid: str = "1.s") -> Commit:
    return Commit(race.id, player, sid, seq, shell.now(), moves, Tally(seq + len(moves), 0, seq + len(moves), 0), "c")


class TestLine2:
    async def test_a_history_that_was_rolled_back_and_has_gone_on_further_is_another_one(self, here: Shell) -> None:
        """Line 2: taken for news, it would be appended to facts that are no longer on record."""
        race = await here.race(ANN)
        lost = await here.append(race, ReadySet("ann", True))
        base = keys.race(race.id)
        await here.link.command("RPOP", base + ":facts")
        await here.link.command("HSET", base, "version", race.version, "last", race.last_id)
        await here.append(race, Joined(BEN), Joined(CAT))
        with pytest.raises(LostTrack):
            await here.store.races.append(lost, "c9", [ReadySet("ann", False)], here.now())


class TestLine6:
    @pytest.mark.parametrize("way", ["watching", "coming back"])
    async def test_what_happens_after_the_snapshot_is_told_and_nothing_before_it(self, here: Shell, way: str) -> None:
        """Line 6: with a wait in between a fact would be told before the snapshot, or missing in both."""
        race = await here.race(ANN, BEN)
        held = await here.held(race, FakeMember(ANN))
        await here.store.players.enter("ben", race.id, race.created_at)
        member = FakeMember(CAT if way == "watching" else BEN)
        heard: list[int] = []

        def facts(room: Room, stamped: Sequence[Stamped]) -> None:
            if member in room.members():
                heard.extend(fact.version for fact in stamped)

        def snapshot(room: Room) -> None:
            heard.append(room.race.version)
            # Whoever waits for the loop's next turn gets it before anything that this one's caller awaits.
            asyncio.get_running_loop().call_soon(elsewhere)

        def elsewhere() -> None:
            version = room.race.version + 1
            room.apply_facts([Stamped(version, "elsewhere", here.now(), ReadySet("ann", version % 2 == 0))])

        room = held.room
        here.recorder.facts = facts  # type: ignore[method-assign]  # a spy on what one member is told
        toggling = asyncio.create_task(_again_and_again(elsewhere))
        if way == "watching":
            await here.lobby.watch(member, RaceWatch(race=race.id), "127.0.0.1", snapshot)
        else:
            await here.admission.resume(member, lambda referees: snapshot(referees[0].room))
        await eventually(lambda: len(heard) > 3)
        toggling.cancel()
        assert heard == list(range(heard[0], heard[0] + len(heard)))


async def _again_and_again(do: Callable[[], None]) -> None:
    while True:
        do()
        await asyncio.sleep(0)


class TestLine7:
    async def test_a_claim_is_good_for_five_seconds(self, here: Shell, there: Shell) -> None:
        """Line 7: for longer, the races of a node that has died with its claims would end late."""
        race = await here.race(ANN, BEN)
        await here.store.due.expect(race.id, here.now())
        at = here.now()
        assert (await there.store.due.claim(at))[0] == (race.id,)
        assert (await here.store.due.claim(at + 4_999))[0] == ()
        assert (await here.store.due.claim(at + 5_000))[0] == (race.id,)


class TestLine13:
    async def test_only_nodes_that_host_somebody_are_told_and_each_by_its_one_channel(
        self, here: Shell, there: Shell, store_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Line 13: told to all, each node would work for the races of all others; told to none, nobody would hear."""
        race = await here.race(ANN)
        async with a_shell(store_url, "aside:3", monkeypatch) as aside:
            for hosting in (here, there):
                await hosting.store.races.load(race.id, host=True)
            async with listening(there) as told, listening(aside) as not_told, listening(here) as mine:
                channels = await here.link.command("PUBSUB", "CHANNELS", "cellrace:node:*")
                assert sorted(channels) == [b"cellrace:node:aside:3", b"cellrace:node:here:1", b"cellrace:node:there:2"]
                (fact,) = await here.store.races.append(race, "c1", [Joined(BEN)], here.now())
                await eventually(lambda: told)
                assert (told, not_told, mine) == ([FactTold(race.id, fact)], [], [])

    async def test_a_fact_that_is_told_while_the_record_is_on_its_way_is_not_missed(
        self, here: Shell, there: Shell
    ) -> None:
        """Line 13: subscribe, register, then read; what comes in between is in no record that was read before."""
        race = await here.race(ANN)
        async with hearing(here) as ears:
            gate = here.link.hold_reply("race_load")
            holding = asyncio.create_task(here.held(race, FakeMember(ANN)))
            await gate.reached.wait()
            await there.append(race, Joined(BEN))
            await eventually(lambda: ears.heard)
            gate.open()
            referee = await holding
            await eventually(lambda: referee.room.race.version == 2, BEFORE_SILENCE)

    async def test_moves_that_are_told_then_are_not_missed_either(self, here: Shell, there: Shell) -> None:
        """Line 13: the deal is read after the record; with nobody else's move there would be no gap that tells."""
        race = await here.race(ANN, BEN, start_in=-5_000)
        async with hearing(here) as ears:
            gate = here.link.hold_reply("HMGET")
            holding = asyncio.create_task(here.held(race, FakeMember(ANN)))
            await gate.reached.wait()
            async with there.attended(race, FakeMember(BEN, "1.b")) as referee:
                await there.move(referee, BEN, 0, *WIN[:2], sid="1.b")
            await eventually(lambda: any(isinstance(told, MovesTold) for told in ears.heard))
            gate.open()
            held = await holding
            await eventually(lambda: held.room.tally("ben").seq == 2, BEFORE_SILENCE)

    async def test_the_sweep_takes_dead_nodes_off_a_race(self, here: Shell) -> None:
        """Line 13: each node that was ever killed would be told of the race's every move."""
        race = await here.race(ANN, BEN)
        for node in ("alive:3", "dead:2"):
            await here.link.command("SADD", keys.race(race.id) + ":hosts", node)
        now = here.now()
        beats = {"here:1": now, "alive:3": now - NODE_SILENCE + 8_000, "dead:2": now - NODE_SILENCE}
        here.store.nodes.nodes = Nodes(beats, 0, now - 60_000, now)
        await here.store.due.expect(race.id, now)
        await here.upkeep.sweep_once()
        await eventually(lambda: len(here.rooms) == 0)
        assert await hosts(here, race) == {b"alive:3"}

    async def test_registering_and_leaving_are_serial(self, here: Shell) -> None:
        """Line 13: the leaving that comes late would make this node deaf for whoever has come meanwhile."""
        race = await here.race(ANN)
        gate = here.link.hold_request("race_unhost")
        async with here.rooms.hold(race.id):
            pass
        await gate.reached.wait()
        holding = asyncio.create_task(here.held(race, FakeMember(ANN)))
        await asyncio.sleep(0)
        gate.open()
        await holding
        assert await hosts(here, race) == {b"here:1"}


class TestLine14:
    async def test_a_subscription_that_has_fallen_silent_is_built_anew_and_everything_read(
        self, here: Shell, there: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Line 14: a half-open one looks well from here; the room would stay as it was until somebody looks."""
        race = await here.race(ANN)
        monkeypatch.setattr(hearing_module, "DEAF", 0.2)
        async with hearing(here) as ears:
            referee = await here.held(race, FakeMember(ANN))
            # As if the connection had gone on without its subscription: nothing comes, and no error either.
            await there.store.races.unhost(race.id, "here:1")
            await there.append(race, Joined(BEN))
            await eventually(lambda: referee.room.race.version == 2)
            assert ears.subscription.losses >= 1

    async def test_a_node_publishes_to_itself_and_is_ready_when_it_hears_that(
        self, here: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Line 14: a node that hears nothing would go on serving races in which nothing happens."""
        async with hearing(here) as ears:
            assert not ears.subscription.ready
            async with background(ears.subscription.echo()):
                await eventually(lambda: ears.subscription.ready)
                monkeypatch.setattr(hearing_module, "DEAF", 0.0)
                assert not ears.subscription.ready
        assert hearing_module.ECHO * 2 < 7.0

    async def test_what_is_held_is_compared_with_the_store(
        self, here: Shell, there: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Line 14: the last message of a race may be lost, and no gap will ever tell of it."""
        race = await here.race(ANN, BEN, start_in=-5_000)
        other = await here.race(ANN)
        referees = [await here.held(one, FakeMember(ANN)) for one in (race, other)]
        async with there.attended(race, FakeMember(BEN, "1.b")) as referee:
            await there.move(referee, BEN, 0, WIN[0], sid="1.b")
        await there.append(other, Joined(BEN))
        monkeypatch.setattr(upkeep_module, "COMPARISON", 0.01)
        async with background(here.upkeep.compare()):
            await eventually(lambda: referees[0].room.tally("ben").seq == 1)
            await eventually(lambda: referees[1].room.race.version == 2)

    async def test_a_commit_that_is_repeated_is_told_again(self, here: Shell, there: Shell) -> None:
        """Line 14: the first telling may have gone with the connection that carried the commit."""
        race = await here.race(ANN, BEN, start_in=-5_000)
        await here.open(race, ANN)
        await there.store.races.load(race.id, host=True)
        async with listening(there) as heard:
            for _ in range(2):
                assert isinstance(await here.store.committer.submit(commit(here, race, "ann", WIN[0])), Committed)
            await eventually(lambda: len(heard) == 2)
            assert heard[0] == heard[1]


class TestLine15:
    async def test_a_subscription_that_was_lost_is_caught_up_by_reading(self, here: Shell, there: Shell) -> None:
        """Line 15: what was published while nobody listened is in the log alone."""
        races = [await here.race(ANN) for _ in range(3)]
        async with hearing(here):
            referees = [await here.held(race, FakeMember(ANN)) for race in races]
            await here.link.command("CLIENT", "KILL", "TYPE", "pubsub")
            for race in races:
                await there.append(race, Joined(BEN))
            await eventually(lambda: all(referee.room.race.version == 2 for referee in referees))

    async def test_a_race_that_is_being_loaded_when_the_subscription_comes_is_read_again(
        self, here: Shell, there: Shell
    ) -> None:
        """Line 15: the record was read before, and this node was not told of what came after."""
        race = await here.race(ANN)
        gate = here.link.hold_reply("race_load")
        holding = asyncio.create_task(here.held(race, FakeMember(ANN)))
        await gate.reached.wait()
        await there.append(race, Joined(BEN))
        async with hearing(here):
            gate.open()
            referee = await holding
            await eventually(lambda: referee.room.race.version == 2, BEFORE_SILENCE)

    async def test_what_is_known_is_passed_over(self, here: Shell, there: Shell) -> None:
        """Line 15: what was read and is then heard would be told twice, and played twice."""
        race = await here.race(ANN, BEN, start_in=-5_000)
        referee = await here.held(race, FakeMember(ANN))
        async with there.attended(race, FakeMember(BEN, "1.b")) as other:
            await there.move(other, BEN, 0, *WIN[:2], sid="1.b")
            await there.move(other, BEN, 2, WIN[2], sid="1.b")
        record = await there.store.races.load(race.id)
        assert record is not None
        for upto in (2, 3, 2, 3):
            here.rooms.hear(MovesTold(race.id, "ben", upto, record.logs["ben"][:upto]))
            here.rooms.hear(FactTold(race.id, record.facts[upto - 1]))
        assert [told for told in here.recorder.told if told[0] == "moved"] == [
            ("moved", ("ben", list(WIN[:2]))),
            ("moved", ("ben", [WIN[2]])),
        ]
        assert referee.room.race == record.race
        assert not referee.room.doubtful


class TestLine16:
    async def test_a_batch_is_one_call_and_each_entry_has_a_result_of_its_own(self, here: Shell) -> None:
        """Line 16: without pcall one entry that fails would leave the others half written, and unanswered."""
        races = [await here.race(ANN, BEN, start_in=-5_000) for _ in range(4)]
        for race in races:
            await here.open(race, ANN)
        await here.link.command("SET", keys.log(races[1].id, "ann"), "no list")
        here.link.sent.clear()
        submitted = [
            here.store.committer.submit(commit(here, race, "ann", WIN[0], sid="0.old" if race is races[2] else "1.s"))
            for race in races
        ]
        first, broken, fenced, last = await asyncio.gather(*submitted, return_exceptions=True)
        assert isinstance(first, Committed)
        assert isinstance(broken, StoreUnavailable)
        assert fenced == Fenced()
        assert isinstance(last, Committed)
        assert here.link.sent == ["race_commit"]

    @pytest.mark.parametrize("verdict", ["TRYAGAIN Multiple keys request", "MOVED 3999 127.0.0.1:6381", "READONLY no"])
    async def test_what_the_store_could_not_do_now_is_unknown_and_repeated_unchanged(
        self, here: Shell, monkeypatch: pytest.MonkeyPatch, verdict: str
    ) -> None:
        """Line 16: taken for a refusal, the move would be lost although its player may repeat it."""
        race = await here.race(ANN, BEN, start_in=-5_000)
        async with here.attended(race, FakeMember(ANN)) as referee:
            with monkeypatch.context() as patched:

                async def refuse(*_: Any, **__: Any) -> Sequence[object]:
                    raise ResponseError(verdict)

                patched.setattr(here.link.replicas, "send", refuse)
                with pytest.raises(StoreUnavailable):
                    await here.move(referee, ANN, 0, WIN[0])
            assert (await here.move(referee, ANN, 0, WIN[0])).seq == 1
            assert (await here.move(referee, ANN, 0, WIN[0])).seq == 1


class TestLine18:
    async def test_another_version_of_the_functions_is_left_alone(self, here: Shell) -> None:
        """Line 18: during an upgrade the old nodes would call what is not there, or what does something else."""
        old = "#!lua name=cellrace_0\nredis.register_function('race_commit_0', function() return 'old' end)"
        await here.link.command("FUNCTION LOAD", "REPLACE", old)
        await here.link.load_libraries()
        assert await here.link.command("FCALL", "race_commit_0", 0) == b"old"
        libraries = await here.link.command("FUNCTION", "LIST")
        assert all(b"_" in dict(zip(one[::2], one[1::2], strict=True))[b"library_name"] for one in libraries)
        assert versioned("race_commit") != "race_commit"


class TestLine23:
    async def test_of_two_who_ask_for_a_rematch_at_two_nodes_both_get_the_same_race(
        self, here: Shell, there: Shell
    ) -> None:
        """Line 23: with an id drawn by each, one of the two would wait in a race that nobody else knows."""
        race = await here.race(ANN, BEN, start_in=-5_000)
        for player in ("ann", "ben"):
            race = await here.append(race, Done(player, EntrantStatus.CONCEDED, Tally()))
        race = await here.append(race, Over(standings(race)))
        answers: list[Room] = []
        gates = [shell.link.hold_request("race_create") for shell in (here, there)]
        asking = [
            asyncio.create_task(shell.lobby.rematch(member, race.id, answers.append))
            for shell, member in ((here, FakeMember(ANN)), (there, FakeMember(BEN, "1.b")))
        ]
        for gate in gates:
            await gate.reached.wait()
        for gate in gates:
            gate.open()
        referees = await asyncio.gather(*asking)
        assert referees[0].room.id == referees[1].room.id
        successor = await recorded(here, referees[0].room.id)
        assert {entrant.player.id for entrant in successor.entrants} == {"ann", "ben"}
        assert (await recorded(here, race.id)).successor == successor.id
        assert successor.parent == race.id

    async def test_what_a_node_was_about_to_do_stands_on_record_first(self, here: Shell) -> None:
        """Line 23: a node that dies in between leaves a race in which its player is and never comes back to."""
        here.link.sent.clear()
        answers: list[Room] = []
        gate = here.link.hold_request("race_append")
        request = RaceCreate(settings=SettingsRequest(variant=SHORT.variant))
        creating = asyncio.create_task(here.lobby.create(FakeMember(ANN), request, answers.append))
        await gate.reached.wait()
        (race_id,) = await here.store.players.races("ann")
        record = await here.store.races.load(race_id)
        assert record is not None
        assert await here.store.lists.by_code(record.race.code) == race_id
        assert record.facts == ()
        gate.open()
        await creating
        assert [room.id for room in answers] == [race_id]

    async def test_a_race_on_a_players_list_that_was_never_entered_is_pruned_by_its_reader(self, here: Shell) -> None:
        """Line 23: intents that came to nothing would be read at every hello, for ever."""
        race = await here.race(ANN)
        for race_id in ("never-made", race.id):
            await here.store.players.enter("ben", race_id, here.now())
        welcomed: list[int] = []
        await here.admission.resume(FakeMember(BEN), lambda referees: welcomed.append(len(referees)))
        assert welcomed == [0]
        assert "never-made" not in await here.store.players.races("ben")
