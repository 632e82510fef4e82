"""Through Sentinels a store is found, and found again when its primary dies (NODES, 16 and 17)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from cellrace_server.store import connect as connecting
from cellrace_server.store import keys, replicas
from cellrace_server.store import sentinel as sentinel_module
from cellrace_server.store.clock import RaceClock
from cellrace_server.store.connect import Connected, client_for, connect
from cellrace_server.store.errors import StoreUnavailable, StoreUnfit
from cellrace_server.store.hearing import Hearing, SupersededTold, Telling
from cellrace_server.store.library import Link
from cellrace_server.store.sentinel import Deposed, NoPrimary, Sentinels, parse_sentinel_url
from tests.background import background
from tests.ports import free_port
from tests.server.store.sentinels import SERVICE, Store, Watched
from tests.waiting import eventually

WRITES = 300
WRITERS = 6


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    """A primary, its replica and three Sentinels."""
    watched = Watched(tmp_path)
    try:
        watched.start()
        yield watched
    finally:
        watched.close()


@pytest_asyncio.fixture
async def connected(watched: Watched) -> AsyncIterator[Connected]:
    """The store that they make, as a node connects to it."""
    connected = await connect(watched.url)
    yield connected
    await connected.client.aclose()


@pytest_asyncio.fixture
async def link(connected: Connected) -> Link:
    """A node's link to it."""
    link = Link(connected.client, None, connected.replicas)
    await link.load_libraries()
    return link


async def write(link: Link, number: int) -> None:
    """Repeat one write until it is answered, as a client does that is told to try later."""
    while True:
        try:
            await link.call("race_create", [keys.race(f"{number}")], number)
            return
        except StoreUnavailable:
            await asyncio.sleep(0.05)


class TestFailover:
    async def test_no_answered_write_is_lost_and_writing_goes_on(self, watched, link, connected, monkeypatch):
        """The replica misses what the primary writes before it dies, and so nothing of that was answered."""
        # Whoever is held up for long must not find that the replica has been away for long.
        monkeypatch.setattr(replicas, "GRACE", 60.0)
        assert connected.replicas.needed == 1
        numbers = iter(range(WRITES))
        answered: list[int] = []

        async def work() -> None:
            for number in numbers:
                await write(link, number)
                answered.append(number)

        writers = [asyncio.create_task(work()) for _ in range(WRITERS)]
        await eventually(lambda: len(answered) >= 100)
        watched.replica.pause()
        watched.primary.client.execute_command("CLIENT KILL", "TYPE", "replica")
        await eventually(lambda: watched.primary.client.dbsize() >= len(answered) + WRITERS)
        watched.primary.kill()
        watched.replica.resume()
        async with asyncio.timeout(60):
            await asyncio.gather(*writers)
        assert sorted(answered) == list(range(WRITES))
        assert watched.replica.is_primary
        assert all(watched.replica.has_key(keys.race(f"{number}")) for number in answered)
        assert connected.replicas.needed == 0

    async def test_a_primary_that_was_deposed_while_it_slept_is_left_with_all_that_it_took(self, watched, link):
        """It wakes up as a primary, its connections are whole, and it does not know better for seconds."""
        await asyncio.gather(*(link.command("SET", f"before-{number}", 1) for number in range(8)))
        watched.primary.pause()
        await eventually(lambda: watched.replica.is_primary)
        await eventually(lambda: all_name(watched, watched.replica.port))
        watched.primary.resume()
        assert watched.primary.is_primary
        answers = await asyncio.gather(*(link.command("INCR", f"after-{number}") for number in range(8)))
        assert answers == [1] * 8
        assert all(watched.replica.has_key(f"after-{number}") for number in range(8))

    async def test_what_listens_and_what_tells_the_time_follow(self, watched, connected, link):
        heard: list[Telling] = []
        caught_up: list[float] = []
        hearing = Hearing(connected.client, "n:1", heard.append, lambda: caught_up.append(time.monotonic()))
        async with background(hearing.run(), hearing.echo()), await RaceClock.open(connected.client.time) as clock:
            await eventually(lambda: hearing.ready)
            before, died = clock.now(), time.monotonic()
            watched.primary.kill()
            await eventually(lambda: caught_up[-1] > died)
            await eventually(lambda: hearing.silence < time.monotonic() - died)
            assert watched.replica.is_primary
            player = ("player:{P}", "epoch", 1, "random", "r", "node", "n:1")
            await eventually(lambda: tried(link.command("HSET", *player)))
            await link.call("player_hello", [keys.player("P")], "s", "n:2")
            await eventually(lambda: heard == [SupersededTold("P", "1.r")])
            assert before < clock.now() < before + (time.monotonic() - died) * 1000 + 50
            assert clock.ready


def all_name(watched: Watched, port: int) -> bool:
    return all(sentinel.client.sentinel_masters()[SERVICE]["port"] == port for sentinel in watched.sentinels)


async def tried(writing: Awaitable[object]) -> bool:
    try:
        await writing
    except StoreUnavailable:
        return False
    return True


class FakeSentinel:
    """Tells what the test makes it tell."""

    def __init__(self) -> None:
        self.port = 0
        self.told = b"*0\r\n"
        self.pause = 0.0

    def tell(self, port: int, epoch: int = 0, flags: str = "master", service: str = SERVICE) -> None:
        """Say where the primary of a service is, by an election."""
        state = {
            "name": service, "ip": "127.0.0.1", "port": port, "flags": flags, "config-epoch": epoch,
            "num-other-sentinels": 2,
        }  # fmt: skip
        words = [str(word).encode() for pair in state.items() for word in pair]
        parts = b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
        self.told = b"*1\r\n*%d\r\n%s" % (len(words), parts)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Answer any command so."""

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while await reader.read(1000):
                await asyncio.sleep(self.pause)
                writer.write(self.told)
            writer.close()

        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            self.port = server.sockets[0].getsockname()[1]
            yield


@pytest_asyncio.fixture
async def fakes() -> AsyncIterator[list[FakeSentinel]]:
    """Three of them."""
    first, second, third = FakeSentinel(), FakeSentinel(), FakeSentinel()
    async with first.listening(), second.listening(), third.listening():
        yield [first, second, third]


def url_of(fakes: list[FakeSentinel]) -> str:
    return f"redis+sentinel://{','.join(f'127.0.0.1:{fake.port}' for fake in fakes)}/{SERVICE}"


@pytest_asyncio.fixture
async def sentinels(fakes: list[FakeSentinel], monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Sentinels]:
    """A client of the three, which hears all of them out also where they are slow."""
    monkeypatch.setattr(sentinel_module, "SENTINEL_TIMEOUT", 3600.0)
    monkeypatch.setattr(sentinel_module, "LAST_WORD", 3600.0)
    sentinels = Sentinels(parse_sentinel_url(url_of(fakes)))
    yield sentinels
    await sentinels.aclose()


class TestWhoIsThePrimary:
    async def test_the_latest_election_counts_whoever_knows_of_it(self, fakes, sentinels):
        fakes[0].tell(1, epoch=3)
        fakes[1].tell(2, epoch=4)
        fakes[2].tell(1, epoch=3)
        assert await sentinels.discover_master(SERVICE) == ("127.0.0.1", 2)

    async def test_one_that_is_silent_costs_a_moment(self, fakes, sentinels, monkeypatch):
        monkeypatch.setattr(sentinel_module, "LAST_WORD", 0.05)
        for fake in fakes:
            fake.tell(1)
        fakes[0].pause = 60
        async with asyncio.timeout(30):
            assert await sentinels.discover_master(SERVICE) == ("127.0.0.1", 1)

    async def test_one_is_enough(self, fakes, sentinels, monkeypatch):
        fakes[2].tell(7)
        assert await sentinels.discover_master(SERVICE) == ("127.0.0.1", 7)

    async def test_one_that_takes_it_for_dead_is_not_believed_alone(self, fakes, sentinels):
        fakes[0].tell(1, flags="master,s_down")
        fakes[1].tell(1)
        assert await sentinels.discover_master(SERVICE) == ("127.0.0.1", 1)

    async def test_a_primary_that_all_take_for_dead_is_none(self, fakes, sentinels):
        for fake in fakes:
            fake.tell(1, flags="master,s_down,o_down")
        with pytest.raises(NoPrimary, match="for dead and have elected no other yet"):
            await sentinels.discover_master(SERVICE)

    async def test_most_of_them_confirm_it(self, fakes, sentinels):
        fakes[0].tell(1)
        fakes[1].tell(1)
        assert await sentinels.confirm(SERVICE, ("127.0.0.1", 1))

    async def test_one_of_three_does_not(self, fakes, sentinels):
        fakes[0].tell(1)
        assert not await sentinels.confirm(SERVICE, ("127.0.0.1", 1))

    async def test_a_later_election_denies_it(self, fakes, sentinels):
        fakes[0].tell(1)
        fakes[1].tell(1)
        fakes[2].tell(2, epoch=1)
        with pytest.raises(Deposed, match=r"elected 127\.0\.0\.1:2 in place of 127\.0\.0\.1:1"):
            await sentinels.confirm(SERVICE, ("127.0.0.1", 1))


async def test_a_connection_that_was_lent_during_an_election_is_not_lent_again(tmp_path, fakes, client_of):
    first, second = Store(tmp_path), Store(tmp_path)
    try:
        first.start()
        second.start()
        fakes[0].tell(first.port)
        pool = client_of(url_of(fakes)).connection_pool
        lent = await pool.get_connection()
        fakes[1].tell(second.port, epoch=1)
        other = await pool.get_connection()
        assert (lent.port, other.port) == (first.port, second.port)
        await pool.release(lent)
        again = await pool.get_connection()
        assert again is lent
        assert again.port == second.port
    finally:
        first.close()
        second.close()


class TestFaults:
    @pytest.fixture(autouse=True)
    def less_patience(self, monkeypatch):
        monkeypatch.setattr(connecting, "FIRST_ANSWER", 1.0)

    async def test_sentinels_that_are_not_there_are_told(self):
        with pytest.raises(StoreUnavailable, match=r"none of the Sentinels at 127.0.0.1:\d+ answers.*--redis"):
            await connect(f"redis+sentinel://127.0.0.1:{free_port()}/races")

    async def test_a_service_that_they_do_not_watch_is_told_with_those_that_they_do(self, fakes):
        fakes[1].tell(1, service="other")
        with pytest.raises(StoreUnfit, match=r"watch no service 'races', but 'other'.*Correct the name"):
            await connect(url_of(fakes))

    async def test_a_password_that_they_want_is_told(self, fakes):
        for fake in fakes:
            fake.told = b"-NOAUTH Authentication required.\r\n"
        with pytest.raises(StoreUnfit, match=r"refuse to tell.*Authentication required.*sentinel_password"):
            await connect(url_of(fakes))

    async def test_a_primary_that_is_not_there_is_told(self, fakes):
        for fake in fakes:
            fake.tell(free_port())
        with pytest.raises(StoreUnavailable, match="cannot be reached"):
            await connect(url_of(fakes))

    async def test_a_replica_is_not_taken_for_the_primary(self, fakes, store_with_primary):
        for fake in fakes:
            fake.tell(store_with_primary)
        with pytest.raises(StoreUnavailable, match="is a replica"):
            await connect(url_of(fakes))


@pytest.fixture
def store_with_primary(tmp_path: Path) -> Iterator[int]:
    """The port of a replica, whose primary is not there."""
    primary = Store(tmp_path)
    replica = Store(tmp_path, primary)
    replica.start()
    yield replica.port
    replica.close()


class TestURLs:
    def test_all_parts_are_read(self):
        read = parse_sentinel_url(
            "redis+sentinel://user:p%40ss@one:1,[::2]:3,three/my-races?db=4&sentinel_user=su&sentinel_password=s%26p"
        )
        assert read.service == "my-races"
        assert read.sentinels == (("one", 1), ("::2", 3), ("three", 26379))
        assert read.sentinel == {"username": "su", "password": "s&p"}
        assert {**read.store, "connection_class": None} == {
            "username": "user", "password": "p@ss", "db": 4, "connection_class": None,
        }  # fmt: skip

    def test_tls_is_spoken_to_the_store_and_to_the_sentinels(self):
        read = parse_sentinel_url("rediss+sentinel://one/races?ssl_ca_certs=/ca.pem")
        assert read.store["ssl_ca_certs"] == "/ca.pem"
        assert read.sentinel == {"ssl": True, "ssl_ca_certs": "/ca.pem"}
        client_for("rediss+sentinel://one/races?ssl_ca_certs=/ca.pem")

    @pytest.mark.parametrize(
        "url",
        [
            "redis+sentinel://one:1",
            "redis+sentinel://one:1/",
            "redis+sentinel:///races",
            "redis+sentinel://one:x/races",
            "redis+sentinel://one,,two/races",
            "redis+sentinel://one/races?db=x",
            "redis+sentinel://one/races?nonsense=1",
        ],
    )
    def test_one_that_names_no_service_is_told(self, url):
        with pytest.raises(StoreUnfit, match=r"names no store .*redis\+sentinel://HOST:PORT"):
            client_for(url)
