"""A store is looked at before it is trusted, and every fault is a sentence that says what to do."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from redis.exceptions import ConnectionError  # noqa: A004 - as in the code under test

from cellrace_server.store import connect as connecting
from cellrace_server.store.binary import find_binary
from cellrace_server.store.connect import client_for, connect, without_secrets
from cellrace_server.store.errors import StoreUnavailable, StoreUnfit
from tests.server.store.processes import store_pid
from tests.server.store.sentinels import free_port
from tests.waiting import eventually

StoreWith = Callable[..., Awaitable[str]]

DURABLE = ("--appendonly", "yes", "--appendfsync", "always")


@pytest_asyncio.fixture
async def store_with(tmp_path: Path) -> AsyncIterator[StoreWith]:
    """Starts a real store with settings of the test's choice; gives its URL."""
    processes: list[asyncio.subprocess.Process] = []
    socket = tmp_path / "s"

    async def start(*settings: str) -> str:
        processes.append(
            await asyncio.create_subprocess_exec(
                find_binary(), "--port", "0", "--unixsocket", socket, "--dir", tmp_path, "--save", "", *settings,
                stdout=asyncio.subprocess.DEVNULL,
            )
        )  # fmt: skip
        await eventually(socket.exists)
        return f"unix://{socket}"

    yield start
    for process in processes:
        process.kill()
        await process.wait()


@pytest_asyncio.fixture
async def deaf_port() -> AsyncIterator[int]:
    """A port that takes connections and never says a word."""
    server = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()


async def warnings_of(url: str) -> tuple[str, ...]:
    connected = await connect(url)
    await connected.client.aclose()
    return connected.warnings


class TestAtTheStart:
    async def test_the_embedded_store_is_fit_and_needs_no_warning(self, store_url):
        connected = await connect(store_url)
        assert connected.warnings == ()
        assert connected.version.startswith(("Valkey ", "Redis "))
        assert await connected.client.ping()
        await connected.client.aclose()

    @pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
    async def test_a_store_that_evicts_is_refused(self, store_with, policy):
        with pytest.raises(StoreUnfit, match=f"policy {policy}.*Set maxmemory-policy noeviction"):
            await connect(await store_with(*DURABLE, "--maxmemory-policy", policy))

    async def test_a_store_that_evicts_is_refused_also_where_config_is_forbidden(self, store_with):
        url = await store_with(*DURABLE, "--maxmemory-policy", "allkeys-lru", "--rename-command", "CONFIG", "")
        with pytest.raises(StoreUnfit, match="noeviction"):
            await connect(url)

    async def test_a_store_without_a_log_on_disk_earns_a_warning(self, store_with):
        (warning,) = await warnings_of(await store_with("--appendonly", "no"))
        assert "keeps no append-only file" in warning
        assert "Set appendonly yes and appendfsync always." in warning

    @pytest.mark.parametrize("fsync", ["everysec", "no"])
    async def test_a_store_that_answers_before_it_writes_earns_a_warning(self, store_with, fsync):
        (warning,) = await warnings_of(await store_with("--appendonly", "yes", "--appendfsync", fsync))
        assert f"before it has written to disk (appendfsync {fsync})" in warning

    async def test_a_store_that_does_not_tell_its_settings_earns_a_warning(self, store_with):
        (warning,) = await warnings_of(await store_with(*DURABLE, "--rename-command", "CONFIG", ""))
        assert "does not tell whether it writes to disk before it answers" in warning

    async def test_a_user_without_the_right_to_config_earns_a_warning(self, store_with):
        url = await store_with(*DURABLE, "--user", "racer", "on", ">secret", "~*", "&*", "+@all", "-config")
        (warning,) = await warnings_of(url.replace("unix://", "unix://racer:secret@"))
        assert "does not tell" in warning
        assert "secret" not in warning

    async def test_a_replica_is_refused_and_its_primary_named(self, store_with):
        with pytest.raises(StoreUnfit, match=r"is a replica .* 127\.0\.0\.1:9"):
            await connect(await store_with(*DURABLE, "--replicaof", "127.0.0.1 9"))

    async def test_a_part_of_a_cluster_is_refused(self, store_with):
        with pytest.raises(StoreUnfit, match="part of a cluster"):
            await connect(await store_with(*DURABLE, "--cluster-enabled", "yes", "--cluster-port", str(free_port())))

    async def test_a_wrong_password_is_told_without_showing_it(self, store_with):
        url = await store_with(*DURABLE, "--requirepass", "right")
        with pytest.raises(StoreUnfit, match="refuses to be used") as caught:
            await connect(url.replace("unix://", "unix://:wrong-one@"))
        assert "wrong-one" not in str(caught.value)

    async def test_a_missing_password_is_told(self, store_with):
        with pytest.raises(StoreUnfit, match="Correct the user, the password"):
            await connect(await store_with(*DURABLE, "--requirepass", "right"))

    async def test_a_database_that_does_not_exist_is_told(self, store_url):
        with pytest.raises(StoreUnfit, match="the database number"):
            await connect(f"{store_url}?db=1000")

    async def test_a_store_that_is_too_old_is_refused(self):
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while await reader.read(1000):
                writer.write(b"$19\r\nredis_version:6.2.7\r\n")
            writer.close()

        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            with pytest.raises(StoreUnfit, match=r"is Redis 6\.2\.7\. Version 7\.0 or later"):
                await connect(f"redis://127.0.0.1:{port}")


class TestUnreachable:
    @pytest.fixture(autouse=True)
    def less_patience(self, monkeypatch):
        assert connecting.FIRST_ANSWER < 5
        monkeypatch.setattr(connecting, "FIRST_ANSWER", 0.3)

    async def test_a_refused_connection_is_told_in_time(self):
        port = free_port()
        async with asyncio.timeout(60):
            with pytest.raises(StoreUnavailable, match=f"127.0.0.1:{port} cannot be reached .*--redis"):
                await connect(f"redis://127.0.0.1:{port}")

    async def test_a_socket_that_is_not_there_is_told(self, tmp_path):
        with pytest.raises(StoreUnavailable, match=r"cannot be reached .*missing\.sock"):
            await connect(f"unix://{tmp_path}/missing.sock")

    async def test_a_store_that_starts_meanwhile_is_waited_for(self, store_with, tmp_path, monkeypatch):
        monkeypatch.setattr(connecting, "FIRST_ANSWER", 4.5)
        connection = asyncio.create_task(connect(f"unix://{tmp_path}/s"))
        await store_with(*DURABLE)
        await (await connection).client.aclose()

    async def test_a_store_that_never_answers_is_told_in_time(self, deaf_port):
        async with asyncio.timeout(60):
            with pytest.raises(StoreUnavailable, match=r"no answer in 0\.3 s"):
                await connect(f"redis://127.0.0.1:{deaf_port}")

    async def test_an_end_of_patience_that_is_lost_on_the_way_still_ends_the_looking(self, monkeypatch):
        async def lose_a_cancellation(*_):
            nonlocal is_lost
            try:
                await asyncio.sleep(0 if is_lost else 600)
            except asyncio.CancelledError:
                is_lost = True
            raise ConnectionError("gone")

        is_lost = False
        monkeypatch.setattr(connecting, "_look_at", lose_a_cancellation)
        async with asyncio.timeout(60):
            with pytest.raises(StoreUnavailable, match=r"cannot be reached \(gone\)"):
                await connect("redis://127.0.0.1")
        assert is_lost

    @pytest.mark.parametrize(
        "url", ["http://127.0.0.1", "127.0.0.1:6379", "", "redis://h/0?db=x", "redis://h:port", "redis://h?nonsense=1"]
    )
    async def test_a_url_that_names_no_store_is_told(self, url):
        with pytest.raises(StoreUnfit, match=r"names no store .*redis://HOST:PORT"):
            await connect(url)


class TestClients:
    async def test_a_command_outlasts_a_kill_of_the_embedded_store(self, data_dir, open_store, client_of):
        client = client_of((await open_store(data_dir)).url)
        for expected in range(1, 4):
            assert await client.set("key", expected)
            pid = store_pid(data_dir)
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            assert await client.get("key") == b"%d" % expected

    async def test_commands_beyond_the_bound_wait_for_a_connection(self, store_url, redis_client):
        # Others may be connected: what an earlier test has left to the collector.
        before = int((await redis_client.info("clients"))["connected_clients"])
        client = client_for(store_url, connections=2)
        assert set(await asyncio.gather(*(client.incr("n") for _ in range(50)))) == set(range(1, 51))
        assert int((await redis_client.info("clients"))["connected_clients"]) <= before + 2
        await client.aclose()

    async def test_answers_are_bytes(self, redis_client):
        await redis_client.set("key", b"\xff")
        assert await redis_client.get("key") == b"\xff"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://localhost:6379/0", "redis://localhost:6379/0"),
        ("rediss://user:secret@host:1/0", "rediss://user:***@host:1/0"),
        ("redis://:se@cret@host", "redis://:***@host"),
        ("redis://user@host", "redis://user@host"),
        ("unix:///run/s.sock", "unix:///run/s.sock"),
        ("unix:///run/s.sock?db=1&password=secret", "unix:///run/s.sock?db=1&password=***"),
        ("redis://[broken", "the URL of the store"),
        ("redis+sentinel://a:1,b:2/races", "redis+sentinel://a:1,b:2/races"),
        ("rediss+sentinel://user:se@cret@a,b:2/races", "rediss+sentinel://user:***@a,b:2/races"),
        (
            "redis+sentinel://a/races?sentinel_user=s&sentinel_password=secret&wait_replicas=1",
            "redis+sentinel://a/races?sentinel_user=s&sentinel_password=***&wait_replicas=1",
        ),
        ("rediss://host?ssl_password=secret", "rediss://host?ssl_password=***"),
        ("redis://user:a/secret@host:1/0", "redis://***"),
        ("redis://user:a@b/secret@host:1/0", "redis://***"),
        ("redis://:a?secret#b@host/0?db=1", "redis://***"),
        ("redis://[secret@host", "redis://***"),
        ("redis://host:1/0?password=se@cret", "redis://host:1/0?password=***"),
        ("user:secret@host:6379", "***"),
        (":secret@host", "***"),
        ("localhost:6379", "localhost:6379"),
    ],
)
def test_a_url_is_shown_without_its_password(url, shown):
    assert without_secrets(url) == shown


@pytest.mark.parametrize("password", ["a/secret", "a:b/secret", "a#secret", "a?secret", "a@b/secret"])
async def test_a_password_that_tears_its_url_apart_is_not_told_in_pieces(password: str) -> None:
    with pytest.raises(StoreUnfit, match="%2F") as unfit:
        await connect(f"redis://user:{password}@127.0.0.1:1/0")
    assert "secret" not in str(unfit.value)
