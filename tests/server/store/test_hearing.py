"""What nodes tell each other: to those that host somebody of the race, never to themselves, and as it was written."""

from __future__ import annotations

from typing import Any

import msgpack
import pytest
from redis.asyncio.client import PubSub
from redis.exceptions import ConnectionError as NotConnected
from structlog.testing import capture_logs

from cellrace.messages import EntrantStatus
from cellrace_server.core.facts import Done, Joined, Tally
from cellrace_server.core.presence import Presence
from cellrace_server.store import hearing as hearing_module
from cellrace_server.store import keys
from cellrace_server.store.commits import Commit, Committed
from cellrace_server.store.connections import UnixConnection
from cellrace_server.store.hearing import FactTold, Hearing, MovesTold, PresenceTold, Telling
from cellrace_server.store.races import Entry
from tests.background import background
from tests.server.races import ANN, BEN, new_race
from tests.server.shell import SHORT, WIN, Shell
from tests.server.store.listening import listening
from tests.waiting import eventually


async def test_facts_come_to_the_other_hosts_as_they_are_on_record(here: Shell, there: Shell) -> None:
    race = new_race(SHORT)
    await here.store.races.create(race)
    await here.store.races.load(race.id, host=True)
    await there.store.races.load(race.id, host=True)
    async with listening(here) as mine, listening(there) as theirs:
        facts = await here.store.races.append(race, "c1", [Joined(ANN), Joined(BEN)], here.now())
        await eventually(lambda: len(theirs) == 2)
        assert theirs == [FactTold(race.id, fact) for fact in facts]
        assert mine == []


async def test_nobody_else_is_told(here: Shell, there: Shell) -> None:
    race, other = await here.race(ANN), await here.race(ANN)
    await there.store.races.load(other.id, host=True)
    async with listening(there) as heard:
        await here.store.races.append(race, "c1", [Joined(BEN)], here.now())
        (fact,) = await here.store.races.append(other, "c2", [Joined(BEN)], here.now())
        assert await eventually(lambda: heard) == [FactTold(other.id, fact)]


async def test_moves_come_with_their_stamp_and_a_win_with_its_fact(here: Shell, there: Shell) -> None:
    race = await here.race(ANN, BEN, start_in=-5_000)
    await here.open(race, ANN)
    await there.store.races.load(race.id, host=True)
    tally = Tally(len(WIN), 13, len(WIN), 0)
    done = Done("ann", EntrantStatus.WON, tally, 3)
    async with listening(there) as heard:
        outcome = await here.store.committer.submit(
            Commit(race.id, "ann", "1.s", 0, here.now(), WIN, tally, "c1", done)
        )
        assert isinstance(outcome, Committed)
        await eventually(lambda: len(heard) == 2)
        moves, fact = heard
    assert moves == MovesTold(race.id, "ann", len(WIN), tuple(Entry(outcome.at, move) for move in WIN))
    assert isinstance(fact, FactTold)
    assert (fact.stamped.version, fact.stamped.at, fact.stamped.fact) == (outcome.version, outcome.at, done)


async def test_a_repeated_commit_is_told_again(here: Shell, there: Shell) -> None:
    """NODES 14: the first telling may have been lost with the reply."""
    race = await here.race(ANN, BEN, start_in=-5_000)
    await here.open(race, ANN)
    await there.store.races.load(race.id, host=True)
    async with listening(there) as heard:
        here.link.resend("race_commit")
        commit = Commit(race.id, "ann", "1.s", 0, here.now(), WIN[:2], Tally(2, 1, 2, 0), "c1")
        await here.store.committer.submit(commit)
        await eventually(lambda: len(heard) == 2)
        assert heard[0] == heard[1]


async def test_connections_that_come_and_go_are_told(here: Shell, there: Shell) -> None:
    race = await here.race(ANN)
    await there.store.races.load(race.id, host=True)
    async with listening(there) as heard:
        await here.store.races.open(race.id, "ann", "1.a")
        await here.store.races.gone(race.id, "ann", "1.a", 700)
        await eventually(lambda: len(heard) == 2)
        assert heard == [
            PresenceTold(race.id, "ann", Presence("1.a", "here:1", None)),
            PresenceTold(race.id, "ann", Presence("1.a", "here:1", 700)),
        ]


async def test_what_a_newer_version_tells_is_passed_over_and_the_rest_is_heard(here: Shell) -> None:
    async with listening(here) as heard:
        unknown = [b"r", b"weather", b"fine"]
        known = [b"r", b"presence", b"ann", b"1.a|x|"]
        await here.link.command("PUBLISH", keys.channel("here:1"), msgpack.packb([unknown, known]))
        await here.link.command("PUBLISH", keys.channel("here:1"), msgpack.packb([known]))
        await eventually(lambda: len(heard) == 2)
        assert heard == [PresenceTold("r", "ann", Presence("1.a", "x", None))] * 2


async def test_what_cannot_be_read_does_not_make_a_node_deaf(here: Shell) -> None:
    """The task that listens would end, and nothing would ever be heard again."""
    async with listening(here) as heard:
        for told in (b"\xc1", msgpack.packb([[b"r", b"presence", b"ann", b"no presence"]])):
            await here.link.command("PUBLISH", keys.channel("here:1"), told)
        known = [b"r", b"presence", b"ann", b"1.a|x|"]
        await here.link.command("PUBLISH", keys.channel("here:1"), msgpack.packb([known]))
        await eventually(lambda: heard)
        assert heard == [PresenceTold("r", "ann", Presence("1.a", "x", None))]


class TestTheSubscription:
    async def test_after_each_confirmation_all_is_read_again_for_something_may_have_been_missed(
        self, here: Shell
    ) -> None:
        confirmed: list[int] = []
        hearing = Hearing(here.link.redis, "here:1", lambda telling: None, lambda: confirmed.append(1))
        async with background(hearing.run()):
            await eventually(lambda: confirmed)
            await here.link.command("CLIENT", "KILL", "TYPE", "pubsub")
            await eventually(lambda: len(confirmed) >= 2)

    @pytest.mark.parametrize("loss", [NotConnected("gone"), OSError("down"), RuntimeError("a mistake of ours")])
    async def test_one_that_is_lost_in_whatever_way_is_built_anew(
        self, here: Shell, monkeypatch: pytest.MonkeyPatch, loss: Exception
    ) -> None:
        subscribe, lost = PubSub.subscribe, [loss]

        async def losing(pubsub: PubSub, *channels: str) -> None:
            if lost:
                raise lost.pop()
            await subscribe(pubsub, *channels)

        monkeypatch.setattr(PubSub, "subscribe", losing)
        async with listening(here):
            assert not lost

    async def test_one_whose_new_connections_are_closed_as_soon_as_they_are_there_is_lost_once(
        self, here: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As by a proxy whose store is away: redis-py would connect within connecting, as deep as Python lets it."""
        send, away = UnixConnection.send_packed_command, False

        async def closed(connection: UnixConnection, command: Any, *args: Any, **options: Any) -> None:
            if away and b"SUBSCRIBE" in b"".join(command):
                raise NotConnected("closed")
            await send(connection, command, *args, **options)

        confirmed: list[int] = []
        monkeypatch.setattr(UnixConnection, "send_packed_command", closed)
        hearing = Hearing(here.link.redis, "here:1", lambda telling: None, lambda: confirmed.append(1))
        with capture_logs() as logs:
            async with background(hearing.run()):
                await eventually(lambda: confirmed)
                away = True
                await here.link.command("CLIENT", "KILL", "TYPE", "pubsub")
                await eventually(lambda: [entry for entry in logs if entry["log_level"] in ("warning", "error")])
                away = False
                await eventually(lambda: len(confirmed) >= 2)
        assert [entry["event"] for entry in logs if entry["log_level"] == "error"] == []
        assert hearing.losses == 1

    async def test_a_node_is_ready_when_it_hears_itself(self, here: Shell) -> None:
        heard: list[Telling] = []
        hearing = Hearing(here.link.redis, "here:1", heard.append, lambda: None)
        assert not hearing.ready
        async with background(hearing.run(), hearing.echo()):
            await eventually(lambda: hearing.ready)
            assert hearing.silence < hearing_module.DEAF
            assert heard == []

    async def test_a_subscription_that_is_silent_for_too_long_is_built_anew(
        self, here: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A half-open one looks well from here: only its silence tells."""
        monkeypatch.setattr(hearing_module, "DEAF", 0.05)
        confirmed: list[int] = []
        hearing = Hearing(here.link.redis, "here:1", lambda telling: None, lambda: confirmed.append(1))
        async with background(hearing.run()):
            await eventually(lambda: len(confirmed) >= 2)
        assert hearing.losses >= 1
