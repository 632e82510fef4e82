"""With replicas a write is answered once one of them has it; until then its outcome is unknown (NODES, 17)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from redis.asyncio import Redis
from websockets.asyncio.client import connect as connect_client
from websockets.exceptions import ConnectionClosed

from cellrace.messages import CloseCode, Player, RaceKind, settle
from cellrace_server.app import running
from cellrace_server.config import Config
from cellrace_server.core.facts import CountdownBegan, Joined, Tally
from cellrace_server.core.race import Race
from cellrace_server.store import Store, open_store, replicas
from cellrace_server.store.commits import Commit, Committed
from cellrace_server.store.connect import connect
from cellrace_server.store.due import CLAIM
from cellrace_server.store.errors import StoreUnavailable, StoreUnfit, StoreUnreplicated
from cellrace_server.store.library import FLEETING_FUNCTIONS, READING_FUNCTIONS, Link, versioned
from cellrace_server.store.races import Entry
from cellrace_server.store.replicas import Replicas
from tests.background import background
from tests.server.store.sentinels import Pair, wait_until
from tests.waiting import eventually

PATIENCE = 0.2


@pytest.fixture(scope="module")
def lasting_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """A primary and its replica, for all tests that leave them as they were."""
    pair = Pair(tmp_path_factory.mktemp("pair"))
    try:
        pair.start()
        yield pair
    finally:
        pair.close()


@pytest.fixture
def pair(lasting_pair: Pair) -> Iterator[Pair]:
    """A primary and its replica, both empty; the replica may be paused."""
    lasting_pair.primary.client.flushall()
    lasting_pair.primary.client.function_flush()
    yield lasting_pair
    lasting_pair.replica.resume()
    wait_until(lasting_pair.keeps_up)


@pytest.fixture
def own_pair(tmp_path: Path) -> Iterator[Pair]:
    """A primary and its replica that the test may do anything to, not started."""
    pair = Pair(tmp_path)
    yield pair
    pair.close()


@pytest.fixture
def client(pair: Pair, client_of) -> Redis:
    """A client of the primary."""
    return client_of(pair.primary.url)


@pytest_asyncio.fixture
async def store(client: Redis) -> AsyncIterator[Store]:
    """The store as a node has it, which waits for its replica; its committer at work."""
    # On a busy machine the replica may need long for a whole library.
    store = await open_store(client, "node:1", Replicas(patience=60))
    async with background(store.committer.run()):
        yield store
    await store.clock.close()


@pytest.fixture
def silence(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> Callable[[Store], None]:
    """Lets a replica say nothing any more, and a store that waits for it have little patience from then on."""

    def begin(store: Store) -> None:
        pair.replica.pause()
        monkeypatch.setattr(store.link.replicas, "_patience", PATIENCE)

    return begin


async def start_race(store: Store) -> Race:
    """A running race of one entrant, P, who is connected as 1.p."""
    now = store.clock.now()
    race = Race("r", RaceKind.RACE, settle(None), now, "P", changed_at=now)
    await store.races.create(race)
    facts = (Joined(Player(id="P", name="Pia", bot=False)), CountdownBegan(now - 1, "c"))
    await store.races.append(race, "begin", facts, now)
    assert await store.races.open("r", "P", "1.p") is None
    return race


def move(store: Store) -> Commit:
    """The first move of P."""
    return Commit("r", "P", "1.p", 0, store.clock.now(), ("1a",), Tally(1, 0, 1, 0), "move")


class TestMoves:
    async def test_a_move_that_no_replica_has_is_unknown_and_its_repeat_is_on_record_once(self, pair, store, silence):
        await start_race(store)
        commit = move(store)
        silence(store)
        with pytest.raises(StoreUnreplicated, match="its replicas have not"):
            await store.committer.submit(commit)
        assert store.link.seconds_since_error < 60
        pair.replica.resume()
        assert await eventually(lambda: outcome_of(store, commit)) == Committed(commit.at, repeat=True)
        assert (await store.races.load("r")).logs["P"] == (Entry(commit.at, "1a"),)

    async def test_a_repeat_is_unknown_too_for_as_long_as_no_replica_has_it(self, pair, store, silence, client_of):
        """The repeat writes nothing, on a connection that wrote nothing: WAIT by itself would be satisfied at once."""
        await start_race(store)
        commit = move(store)
        silence(store)
        with pytest.raises(StoreUnreplicated):
            await store.committer.submit(commit)
        with pytest.raises(StoreUnreplicated):
            await store.committer.submit(commit)
        other = await open_store_at(client_of(pair.primary.url), pair)
        with pytest.raises(StoreUnreplicated):
            await other.call("race_load", ["race:{r}"], "")

    async def test_a_move_waits_for_a_replica_that_is_late(self, pair, client, store):
        await start_race(store)
        patient = Link(client, None, Replicas(patience=60))
        pair.replica.pause()
        writing = asyncio.create_task(patient.command("SET", "key", 1))
        await eventually(lambda: pair.primary.has_key("key"))
        assert not writing.done()
        pair.replica.resume()
        assert await writing
        assert pair.replica.client.get("key") == b"1"


async def outcome_of(store: Store, commit: Commit) -> object:
    try:
        return await store.committer.submit(commit)
    except StoreUnavailable:
        return None


async def open_store_at(client: Redis, pair: Pair) -> Link:
    """A link that knows of the replica, without having written anything."""
    known = Replicas(patience=PATIENCE)
    await known.look(client)
    return Link(client, None, known)


class TestWhatWaits:
    @pytest.fixture
    def link(self, store: Store, silence: Callable[[Store], None]) -> Link:
        """A link whose replica is silent from now on."""
        silence(store)
        return store.link

    @pytest.mark.parametrize("words", [("GET", "k"), ("HGETALL", "k"), ("LRANGE", "k", 0, -1), ("PUBLISH", "c", "m")])
    async def test_what_only_reads_does_not(self, link, words):
        await link.command(*words)

    async def test_what_may_be_lost_does_not(self, link, store):
        await link.command("SET", "beat", 1, lasting=False)
        await store.nodes.beat(store.clock.now())
        assert await store.players.count_guess("token", "there", 60) == 1

    async def test_a_function_that_reads_does_not(self, link, store):
        assert await store.races.head("none") is None

    async def test_the_sweep_does_not(self, link, store):
        now = store.clock.now()
        assert await store.due.claim(now) == ((), now + CLAIM)

    @pytest.mark.parametrize(
        "words", [("SET", "k", 1), ("SETBIT", "k", 1, 1), ("FCALL", versioned("race_create"), 1, "race:{r}", "{}")]
    )
    async def test_what_is_not_known_to_only_read_does(self, link, words):
        with pytest.raises(StoreUnreplicated):
            await link.command(*words)

    async def test_a_record_that_answers_are_given_from_does(self, link, store):
        with pytest.raises(StoreUnreplicated):
            await store.races.load("r")

    async def test_commands_that_go_together_do_when_one_of_them_writes(self, link):
        assert await link.commands([("GET", "k"), ("GET", "l")]) == [None, None]
        with pytest.raises(StoreUnreplicated):
            await link.commands([("GET", "k"), ("SET", "l", 1)])

    async def test_the_functions_that_read_are_those_registered_so(self, store, client):
        libraries = await client.function_list()
        flags = {
            bytes(name).decode(): set(map(bytes, told))
            for library in libraries
            for _, name, _, _, _, told in library[5]
        }
        assert {name for name, told in flags.items() if b"no-writes" in told} == set(map(versioned, READING_FUNCTIONS))
        assert set(map(versioned, FLEETING_FUNCTIONS)) < flags.keys()


class TestReplicasComeAndGo:
    async def test_a_store_without_replicas_waits_for_none(self, client_of, store_url):
        link = Link(client_of(store_url), None, Replicas(patience=PATIENCE))
        await link.command("SET", "key", 1)
        assert link.replicas.needed == 0
        told = await link.redis.info("commandstats")
        assert "cmdstat_wait" not in told

    async def test_replicas_that_come_and_go_are_seen(self, own_pair, client_of, monkeypatch):
        monkeypatch.setattr(replicas, "LOOK", 0.0)
        monkeypatch.setattr(replicas, "GRACE", 0.1)
        own_pair.primary.start()
        link = Link(client_of(own_pair.primary.url))
        await link.command("SET", "key", 1)
        assert link.replicas.needed == 0
        own_pair.replica.start()
        wait_until(own_pair.keeps_up)
        await link.command("SET", "key", 2)
        assert link.replicas.needed == 1
        own_pair.replica.kill()
        await link.command("SET", "key", 3)
        assert link.replicas.needed == 0

    async def test_a_replica_that_is_back_soon_is_waited_for(self, pair, client, monkeypatch):
        monkeypatch.setattr(replicas, "SLICE", 0.02)
        monkeypatch.setattr(replicas, "GRACE", 60.0)
        link = Link(client, None, Replicas(patience=60))
        await link.command("SET", "key", 0)
        pair.replica.pause()
        pair.primary.client.execute_command("CLIENT KILL", "TYPE", "replica")
        assert pair.primary.replicas == 0
        writing = asyncio.create_task(link.command("SET", "key", 1))
        asked = waits_of(pair)
        await eventually(lambda: waits_of(pair) > asked + 2)
        pair.replica.resume()
        assert await writing
        assert link.replicas.needed == 1
        assert pair.replica.client.get("key") == b"1"

    async def test_one_that_a_restarted_primary_has_got_back_is_waited_for_like_any(
        self, own_pair, client_of, monkeypatch
    ):
        """A server's history has another name after each start; that does not make it one that never had a replica."""
        monkeypatch.setattr(replicas, "SLICE", 0.02)
        monkeypatch.setattr(replicas, "GRACE", 60.0)
        own_pair.start()
        link = Link(client_of(own_pair.primary.url), None, Replicas(patience=60))
        await link.command("SET", "key", 0)
        own_pair.primary.kill()
        own_pair.primary.start()
        wait_until(own_pair.keeps_up)
        await link.command("SET", "key", 1)
        own_pair.replica.kill()
        writing = asyncio.create_task(link.command("SET", "key", 2))
        asked = waits_of(own_pair)
        await eventually(lambda: waits_of(own_pair) > asked + 5)
        assert not writing.done()
        own_pair.replica.start()
        assert await writing
        assert link.replicas.needed == 1
        wait_until(lambda: own_pair.replica.client.get("key") == b"2")

    async def test_a_number_that_was_asked_for_is_needed_also_when_there_is_no_replica(self, pair, client):
        link = Link(client, None, Replicas(2, patience=PATIENCE))
        with pytest.raises(StoreUnreplicated, match="1 of its replicas"):
            await link.command("SET", "key", 1)

    async def test_none_was_asked_for(self, pair, client):
        link = Link(client, None, Replicas(0, patience=PATIENCE))
        pair.replica.pause()
        await link.command("SET", "key", 1)

    async def test_once_the_replicas_were_silent_for_long_nothing_waits_long(self, pair, client, monkeypatch):
        """All that waits holds a connection, and there are few of them."""
        link = Link(client, None, Replicas(patience=60))
        await link.command("SET", "key", 0)
        pair.replica.pause()
        monkeypatch.setattr(replicas, "SLICE", 0.02)
        monkeypatch.setattr(link.replicas, "_patience", PATIENCE)
        asked = waits_of(pair)
        with pytest.raises(StoreUnreplicated):
            await link.command("SET", "key", 1)
        assert waits_of(pair) > asked + 1
        asked = waits_of(pair)
        with pytest.raises(StoreUnreplicated):
            await link.command("SET", "key", 2)
        assert waits_of(pair) == asked + 1


def waits_of(pair: Pair) -> int:
    return int(pair.primary.client.info("commandstats")["cmdstat_wait"]["calls"])


class TestFunctions:
    async def test_functions_that_are_missing_are_loaded_again(self, store, client):
        await client.function_flush()
        assert await store.races.head("none") is None

    async def test_they_are_on_the_replica_when_a_node_starts(self, store, pair):
        assert pair.replica.client.function_list()

    async def test_a_server_that_has_become_a_replica_is_unavailable_and_left(self, own_pair, client_of):
        own_pair.primary.start()
        client = client_of(own_pair.primary.url)
        link = Link(client)
        assert await link.command("SET", "key", 1)
        before = await client.client_id()
        own_pair.primary.client.execute_command("REPLICAOF", "127.0.0.1", own_pair.replica.port)
        with pytest.raises(StoreUnavailable, match="read only"):
            await link.command("SET", "key", 2)
        assert await client.client_id() != before


class TestConnecting:
    async def test_it_says_how_many_replicas_there_are(self, pair):
        connected = await connect(pair.primary.url)
        assert connected.replicas.needed == 1
        assert connected.warnings == ()
        await connected.client.aclose()

    async def test_fewer_than_asked_for_earns_a_warning(self, pair):
        connected = await connect(f"{pair.primary.url}?wait_replicas=2")
        assert connected.replicas.needed == 2
        assert "has 1 replicas, and each write waits for 2" in connected.warnings[0]
        await connected.client.aclose()

    @pytest.mark.parametrize("number", ["-1", "many", "101", "1.5"])
    async def test_what_is_no_number_is_told(self, number):
        with pytest.raises(StoreUnfit, match="wait_replicas is 'auto' or a number"):
            await connect(f"redis://127.0.0.1/0?wait_replicas={number}")


async def test_a_session_whose_request_no_replica_has_is_closed_to_come_back(pair, silence):
    async with (
        running(Config(port=0, redis=pair.primary.url)) as node,
        connect_client(f"ws://127.0.0.1:{node.port}/ws", subprotocols=["cellrace.v1.json"]) as socket,
    ):
        await socket.send(json.dumps({"type": "hello", "id": 1}))
        assert json.loads(await socket.recv())["type"] == "welcome"
        silence(node.services.store)
        await socket.send(json.dumps({"type": "race.create", "id": 2}))
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == CloseCode.LOST_TRACK
        pair.replica.resume()
