"""NODES, lines 10 to 12: who is there, and which connection plays, whichever nodes they are at.

One test for each rule, which fails when the rule is taken out; its docstring names the line and what breaks without it.
"""

from __future__ import annotations

import asyncio

import pytest

from cellrace.messages import CloseCode, EntrantStatus
from cellrace_server import app as app_module
from cellrace_server import upkeep as upkeep_module
from cellrace_server.app import Node, running
from cellrace_server.config import Config
from cellrace_server.core.facts import Joined, ReadySet
from cellrace_server.core.names import parse_name
from cellrace_server.core.presence import FIRST_CONTACT, NODE_SILENCE, Nodes, Presence, absences
from cellrace_server.core.race import Race
from cellrace_server.referee import Referee
from cellrace_server.store import keys
from cellrace_server.store.hearing import SupersededTold
from cellrace_server.store.players import new_credentials
from cellrace_server.store.races import Superseded
from tests.server.races import ANN, BEN
from tests.server.shell import FakeMember, Shell
from tests.server.store.listening import listening
from tests.story.players import start_race, table
from tests.waiting import eventually

GRACE = 120_000
"""How long an entrant of these races may be away, ms."""


async def presence_of(shell: Shell, race: Race, player: str) -> Presence:
    record = await shell.store.races.load(race.id)
    assert record is not None
    return record.presence[player]


def knows(shell: Shell, *, contact: int = FIRST_CONTACT, up_since: int = 0, **silent: int) -> None:
    """A node has been in contact for so long, and last heard these others so many ms ago."""
    now = shell.now()
    beats = {f"{name}:2": now - age for name, age in silent.items()} | {shell.store.races.node: now}
    shell.store.nodes.nodes = Nodes(beats, up_since, now - contact, now)


async def with_ben_there(here: Shell, there: Shell) -> Referee:
    """A race that has run for long: Ann at this node, Ben at the other."""
    race = await here.race(ANN, BEN, start_in=-600_000)
    await there.open(race, BEN, "1.b")
    async with here.attended(race, FakeMember(ANN)) as referee:
        return referee


def absent_from(referee: Referee, shell: Shell) -> dict[str, int]:
    """The entrants without a connection, as a node sees it now, and since when."""
    return absences(referee.room.race, referee.room.presence, shell.store.nodes.nodes, shell.now())


def fate(referee: Referee, player: str) -> EntrantStatus:
    entrant = referee.room.race.entrant(player)
    assert entrant is not None
    return referee.room.race.status(entrant)


async def newcomer(shell: Shell, name: str) -> str:
    """A new player's id."""
    player = await shell.store.players.register(new_credentials(), parse_name(name), False, shell.now())
    return player.id


class TestLine10:
    async def test_a_node_is_another_one_at_each_start(self, store_url: str) -> None:
        """Line 10: under the same name the players of the node that died would seem to be connected."""
        nodes = []
        for _ in range(2):
            async with running(Config(port=0, redis=store_url, node="north")) as node:
                nodes.append(node.services.store.races.node)
                assert node.services.node == "north"
        assert nodes[0] != nodes[1]
        assert all(name.startswith("north:") for name in nodes)

    async def test_it_beats_for_as_long_as_it_lives(self, store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Line 10: without beats all its players would be gone after ten seconds."""
        monkeypatch.setattr(upkeep_module, "BEAT", 0.01)
        async with running(Config(port=0, redis=store_url)) as node:
            beats = node.services.store.nodes
            first = beats.nodes.seen_at
            await eventually(lambda: beats.nodes.seen_at > first)

    @pytest.mark.parametrize(
        ("silent", "status"), [(GRACE - 5_000, EntrantStatus.PLAYING), (GRACE + 1_000, EntrantStatus.ABANDONED)]
    )
    async def test_the_players_of_a_dead_node_are_gone_since_its_last_beat(
        self, here: Shell, there: Shell, silent: int, status: EntrantStatus
    ) -> None:
        """Line 10: counted from its discovery they could stay away longer; never counted, they would hold up all."""
        referee = await with_ben_there(here, there)
        knows(here, there=silent)
        last_beat = here.store.nodes.nodes.beats["there:2"]
        assert absent_from(referee, here) == {"ben": last_beat}
        await referee.wake()
        assert fate(referee, "ben") is status

    async def test_the_players_of_a_node_that_was_stopped_are_gone_since_then(self, here: Shell, there: Shell) -> None:
        """Line 10: not every loss is on record by then; of a node that is unknown they would be gone since long ago."""
        referee = await with_ben_there(here, there)
        stopped_at = here.now()
        await there.store.nodes.leave(stopped_at)
        await here.store.nodes.beat(here.now())
        seen = here.store.nodes.nodes
        here.store.nodes.nodes = Nodes(seen.beats, 0, here.now() - FIRST_CONTACT, here.now(), seen.left)
        assert absent_from(referee, here) == {"ben": stopped_at}
        await referee.wake()
        assert fate(referee, "ben") is EntrantStatus.PLAYING

    async def test_a_node_that_only_pauses_for_a_moment_loses_nobody(self, here: Shell, there: Shell) -> None:
        """Line 10: ten seconds, not one beat."""
        referee = await with_ben_there(here, there)
        knows(here, there=NODE_SILENCE - 5_000)
        assert absent_from(referee, here) == {}

    async def test_no_absence_begins_before_there_was_a_node(self, here: Shell, there: Shell) -> None:
        """Line 10: after an hour without any node everybody would be abandoned at once, by the first one to come."""
        referee = await with_ben_there(here, there)
        await there.store.races.gone(referee.room.id, "ben", "1.b", here.now() - 500_000)
        referee.room.doubt()
        await referee.make_sure()
        knows(here, up_since=here.now() - 30_000)
        await referee.wake()
        assert fate(referee, "ben") is EntrantStatus.PLAYING

    async def test_the_first_node_after_a_pause_sets_since_when_there_is_one(self, here: Shell, there: Shell) -> None:
        """Line 10: and the next ones leave it as it is."""
        now = here.now()
        await here.link.command("HSET", keys.NODES, "here:1", now - 60_000, "there:2", now - 60_000)
        await here.store.nodes.beat(now)
        await there.store.nodes.beat(now + 3_000)
        assert here.store.nodes.nodes.up_since == there.store.nodes.nodes.up_since == now

    async def test_a_node_judges_nobody_in_its_first_fifteen_seconds(self, here: Shell, there: Shell) -> None:
        """Line 10: those who were at a node that was killed are on their way to this one."""
        referee = await with_ben_there(here, there)
        knows(here, there=GRACE + 60_000, contact=FIRST_CONTACT - 10_000)
        await referee.wake()
        assert fate(referee, "ben") is EntrantStatus.PLAYING
        knows(here, there=GRACE + 60_000, contact=FIRST_CONTACT + 1_000)
        await referee.wake()
        assert fate(referee, "ben") is EntrantStatus.ABANDONED

    async def test_a_node_that_was_silent_for_so_long_reads_all_its_races_anew(self, here: Shell, there: Shell) -> None:
        """Line 10 and 13: the others have taken it off its races, and it would hear nothing of them any more."""
        race = await here.race(ANN, BEN)
        referee = await here.held(race, FakeMember(ANN))
        await there.store.races.unhost(race.id, "here:1")
        before = here.store.nodes.nodes
        here.store.nodes.nodes = Nodes({}, before.up_since, before.contact_at, here.now() - NODE_SILENCE)
        await here.upkeep.beat_once()
        await eventually(lambda: not referee.room.doubtful)
        assert await here.link.command("SISMEMBER", keys.race(race.id) + ":hosts", "here:1")


class TestLine11:
    async def test_a_lost_connection_is_nobodys_absence_once_another_plays(self, here: Shell, there: Shell) -> None:
        """Line 11: the old node notices late that a connection is gone; its player is back elsewhere."""
        race = await here.race(ANN, BEN)
        await here.open(race, BEN, "1.a")
        await there.open(race, BEN, "2.b")
        await here.store.races.gone(race.id, "ben", "1.a", here.now())
        assert await presence_of(here, race, "ben") == Presence("2.b", "there:2", None)

    async def test_whoever_comes_back_is_not_away_any_more(self, here: Shell, there: Shell) -> None:
        """Line 11: absences do not add up, and nothing of the last one is left."""
        race = await here.race(ANN, BEN)
        await here.open(race, BEN, "1.a")
        await here.store.races.gone(race.id, "ben", "1.a", here.now())
        assert (await presence_of(here, race, "ben")).gone_at is not None
        await there.open(race, BEN, "2.b")
        assert (await presence_of(here, race, "ben")).gone_at is None

    async def test_an_absence_that_is_judged_while_its_player_comes_back_is_not_written(
        self, here: Shell, there: Shell
    ) -> None:
        """Line 11: the judgement is on its way to the store when the player is welcomed at another node."""
        referee = await with_ben_there(here, there)
        await there.store.races.gone(referee.room.id, "ben", "1.b", here.now() - GRACE - 5_000)
        referee.room.doubt()
        await referee.make_sure()
        knows(here, there=0)
        gate = here.link.hold_request("race_append")
        waking = asyncio.create_task(referee.wake())
        await gate.reached.wait()
        await there.open(referee.room.race, BEN, "2.b")
        gate.open()
        assert not await waking
        assert fate(referee, "ben") is EntrantStatus.PLAYING
        assert referee.room.presence["ben"].sid == "2.b"


class TestLine12:
    async def test_of_many_hellos_at_once_one_is_the_newest_and_all_know_which(self, here: Shell, there: Shell) -> None:
        """Line 12: read and written in two steps, two connections could both be the newest."""
        ann = await newcomer(here, "Ann")
        sids = await asyncio.gather(*(shell.store.players.take_over(ann) for shell in (here, there) * 8))
        epochs = [int(sid.partition(".")[0]) for sid in sids]
        assert len(set(epochs)) == 16
        assert [holder.sid for holder in await here.store.players.holders([ann])] == [sids[epochs.index(max(epochs))]]

    async def test_the_node_of_the_older_connection_is_told(self, here: Shell, there: Shell) -> None:
        """Line 12: else it would be closed ten seconds later only."""
        ann = await newcomer(here, "Ann")
        old = await here.store.players.take_over(ann)
        async with listening(here) as heard:
            await there.store.players.take_over(ann)
            assert await eventually(lambda: heard) == [SupersededTold(ann, old)]

    async def test_the_older_connection_cannot_open_a_race_any_more(self, here: Shell, there: Shell) -> None:
        """Line 12: a hello that was slow would take the game away from the one that the player uses."""
        race = await here.race(ANN, BEN)
        await there.open(race, ANN, "6.b")
        with pytest.raises(Superseded):
            await here.store.races.open(race.id, "ann", "5.a")
        assert (await presence_of(here, race, "ann")).sid == "6.b"

    async def test_who_has_been_elsewhere_is_not_shown_what_was_known_here_before(
        self, here: Shell, there: Shell
    ) -> None:
        """Line 12: nothing of it was heard here, not even that the player had gone (a seed of the simulation)."""
        race = await here.race(ANN, BEN)
        async with here.attended(race, FakeMember(ANN, "1.a")) as referee:
            await there.open(race, ANN, "2.b")
            await there.append(race, ReadySet("ann", True))
            await here.admission.open(referee, FakeMember(ANN, "3.c"))
            await referee.make_sure()
            assert referee.room.race.version == 3

    async def test_who_has_joined_elsewhere_comes_back_to_the_race_here(self, here: Shell, there: Shell) -> None:
        """Line 12: a room that is held here may not have heard of it yet."""
        race = await here.race(BEN)
        await here.held(race, FakeMember(BEN))
        await there.append(race, Joined(ANN))
        await there.store.players.enter("ann", race.id, race.created_at)
        found: list[str] = []
        await here.admission.resume(FakeMember(ANN, "2.b"), lambda referees: found.extend(r.room.id for r in referees))
        assert found == [race.id]

    async def test_welcome_is_said_when_all_races_are_open(self, here: Shell) -> None:
        """Line 12: from welcome on nothing more of the older connection is carried out, in any race."""
        races = [await here.race(ANN, BEN, start_in=-5_000) for _ in range(3)]
        for race in races:
            await here.open(race, ANN, "1.a")
            await here.store.players.enter("ann", race.id, race.created_at)
        welcomed: list[int] = []
        here.link.sent.clear()
        gate = here.link.hold_request("race_open")
        resuming = asyncio.create_task(
            here.admission.resume(FakeMember(ANN, "2.b"), lambda referees: welcomed.append(len(referees)))
        )
        await gate.reached.wait()
        assert welcomed == []
        gate.open()
        await resuming
        assert welcomed == [3]
        assert here.link.sent.count("race_open") == 3
        assert [(await presence_of(here, race, "ann")).sid for race in races] == ["2.b"] * 3

    @pytest.mark.parametrize("request_", ["race.ready", "race.leave", "race.kick", "race.start"])
    async def test_what_the_older_connection_asks_then_is_not_carried_out(
        self, store_url: str, monkeypatch: pytest.MonkeyPatch, request_: str
    ) -> None:
        """Line 12: its node has not heard of the newer one yet; the store has."""
        monkeypatch.setattr(app_module, "_hearer", lambda *_: lambda telling: None)
        monkeypatch.setattr(app_module, "COMPARISON", 3600.0)
        async with (
            running(Config(port=0, redis=store_url)) as one,
            running(Config(port=0, redis=store_url)) as other,
            table(url(one)) as here,
            table(url(other)) as there,
        ):
            ann, ben = await here.player("Ann"), await there.player("Ben")
            race = (await ann.ask("race.create", settings={"seats": 4}))["race"]
            await ben.ask("race.join", race=race)
            cat = await here.player("Cat")
            await cat.ask("race.join", race=race)
            for player in (ben, cat):
                await player.ask("race.ready", race=race)
            again = await there.back(ann)
            assert again.id == ann.id
            before = await version_of(one, race)
            fields = {"player": ben.id} if request_ == "race.kick" else {}
            await ann.send(request_, race=race, **fields)
            assert await ann.closed() == CloseCode.TAKEN_OVER
            assert await version_of(one, race) == before

    async def test_a_fenced_connection_that_is_the_newest_opens_again_above_all_that_there_was(
        self, store_url: str
    ) -> None:
        """Line 12: after a failover a race may know a connection that the player's record has never heard of."""
        async with running(Config(port=0, redis=store_url)) as node, table(url(node)) as seats:
            ann, ben = await seats.player("Ann"), await seats.player("Ben")
            race = await start_race(ann, ben, variant="one-suit", deal=94, autoplay="none")
            store = node.services.store
            await store.races.open(race, ann.id, "9.lost")
            assert (await ann.ask("move", race=race, seq=0, moves=["2a"]))["seq"] == 1
            (newest,) = await store.players.holders([ann.id])
            assert int(newest.sid.partition(".")[0]) > 9
            assert (await ann.ask("move", race=race, seq=1, moves=["2b"]))["seq"] == 2

    async def test_a_fenced_connection_that_opens_again_waits_on_in_its_queue(self, store_url: str) -> None:
        """Line 22: by the sid that it had before it would be taken for one that is gone."""
        async with running(Config(port=0, redis=store_url)) as node, table(url(node)) as seats:
            ann, ben = await seats.player("Ann"), await seats.player("Ben")
            race = await start_race(ann, variant="one-suit", deal=94, autoplay="none")
            await ann.ask("queue.join", variant="two-suit")
            await node.services.store.races.open(race, ann.id, "9.lost")
            await ann.ask("move", race=race, seq=0, moves=["2a"])
            await ben.ask("queue.join", variant="two-suit")
            assert (await ann.push("queue.matched"))["race"] == (await ben.push("queue.matched"))["race"]

    async def test_a_fenced_connection_that_is_not_the_newest_is_closed(self, store_url: str) -> None:
        """Line 12: with the code that tells its client not to come back."""
        async with running(Config(port=0, redis=store_url)) as node, table(url(node)) as seats:
            ann = await seats.player("Ann")
            race = await start_race(ann, variant="one-suit", deal=94)
            sid = await node.services.store.players.take_over(ann.id)
            await node.services.store.races.open(race, ann.id, sid)
            await ann.send("move", race=race, seq=0, moves=["2a"])
            assert await ann.closed() == CloseCode.TAKEN_OVER
            record = await node.services.store.races.load(race)
            assert record is not None
            assert record.logs[ann.id] == ()

    @pytest.mark.parametrize("when", ["now and then", "when the subscription is confirmed"])
    async def test_sessions_are_compared_with_the_records(
        self, store_url: str, monkeypatch: pytest.MonkeyPatch, when: str
    ) -> None:
        """Line 12: the node was told while it could not hear; the older connection would go on for ever."""
        monkeypatch.setattr(app_module, "COMPARISON", 0.05 if when == "now and then" else 3600.0)
        async with running(Config(port=0, redis=store_url)) as node, table(url(node)) as seats:
            ann, ben = await seats.player("Ann"), await seats.player("Ben")
            record = keys.player(ann.id)
            await node.services.store.link.commands([("HINCRBY", record, "epoch", 1), ("HSET", record, "random", "x")])
            if when != "now and then":
                await node.services.store.link.command("CLIENT", "KILL", "TYPE", "pubsub")
            assert await ann.closed() == CloseCode.TAKEN_OVER
            assert (await ben.ask("ping"))["type"] == "pong"

    @pytest.mark.parametrize("found_by", ["comparing", "a move"])
    async def test_who_is_not_on_record_as_the_store_was_set_back_is_told_to_come_back(
        self, store_url: str, monkeypatch: pytest.MonkeyPatch, found_by: str
    ) -> None:
        """Lines 2 and 12: nobody is elsewhere, and a client that is told so never comes back by itself."""
        monkeypatch.setattr(app_module, "COMPARISON", 0.05 if found_by == "comparing" else 3600.0)
        async with running(Config(port=0, redis=store_url)) as node, table(url(node)) as seats:
            link = node.services.store.link
            first = await seats.player("Ann")
            race = await start_race(first, variant="one-suit", deal=94)
            known = [keys.player(first.id).encode(), *await link.command("KEYS", f"{keys.race(race)}*")]
            before = {key: await link.command("DUMP", key) for key in known}
            ann = await seats.back(first)
            for key, value in before.items():
                await link.command("RESTORE", key, 0, value, "REPLACE")
            if found_by == "a move":
                await ann.send("move", race=race, seq=0, moves=["2a"])
            assert await ann.closed() == CloseCode.LOST_TRACK
            again = await seats.back(ann)
            assert [entry["race"] for entry in again.welcome["races"]] == [race]
            assert (await again.ask("move", race=race, seq=0, moves=["2a"]))["seq"] >= 1


async def version_of(node: Node, race: str) -> int:
    record = await node.services.store.races.load(race)
    assert record is not None
    return record.race.version


def url(node: Node) -> str:
    return f"ws://127.0.0.1:{node.port}/ws"
