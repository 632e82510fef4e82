"""SIGTERM: clients are told, answered moves are kept, and nothing is left running within five seconds.

Nobody counts these by a clock, which would tell how busy the machine is: they are what a server waits for at most.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import time
from asyncio.subprocess import DEVNULL
from pathlib import Path

import pytest

from cellrace_server.app import LAST_WRITES, SHUTDOWN
from cellrace_server.store.embedded import SHUT_DOWN
from tests.server.net.fetching import fetch
from tests.server.store.processes import store_pid
from tests.story.players import JSON, Player, play, start_race, table
from tests.story.servers import COMMAND, ENDING, Servers, processes_of
from tests.waiting import eventually


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_clients_are_told_and_nothing_is_left(house: Servers, number: signal.Signals) -> None:
    server = await house.start()
    async with table(server.url) as seats:
        ann, bob = await seats.player("Ann"), await seats.player("Bob", JSON)
        stranger = await seats.stranger()
        race = await start_race(ann, bob, deal=617)
        await play(ann, race, ["1a"])
        server.process.send_signal(number)
        assert [await player.closed() for player in (ann, bob, stranger)] == [1001] * 3
        assert await asyncio.wait_for(server.process.wait(), ENDING) == 0
        await eventually(lambda: store_pid(house.data_dir) is None)
    await eventually(lambda: not processes_of(house.data_dir))


def test_what_a_server_waits_for_at_its_end_is_less_than_five_seconds() -> None:
    """Clients that do not take leave, the last writes, the word to the other nodes, and its store."""
    assert SHUTDOWN + 2 * LAST_WRITES + SHUT_DOWN < 5


async def test_clients_that_do_not_answer_do_not_hold_it_up(house: Servers) -> None:
    server = await house.start()
    async with table(server.url) as seats:
        deaf = [await seats.player() for _ in range(5)]
        for player in deaf:
            player.socket.transport.pause_reading()
        assert await server.terminate() == 0
        for player in deaf:
            await player.drop()


async def test_a_flood_of_requests_does_not_hold_it_up(house: Servers) -> None:
    server = await house.start("--burst", "1000000", "--inbox", "1000000")
    async with table(server.url) as seats:
        ann = await seats.player("Ann")
        for _ in range(2000):
            await ann.send("race.create")
        assert await server.terminate() == 0


async def test_a_store_that_hangs_does_not_hold_it_up(house: Servers) -> None:
    """Not even with a request under way, whose outcome nobody can know."""
    server = await house.start()
    pid = store_pid(house.data_dir)
    assert pid is not None
    async with table(server.url) as seats:
        ann = await seats.player("Ann")
        os.kill(pid, signal.SIGSTOP)
        await ann.send("race.create")
        assert await server.terminate() == 0
    await eventually(lambda: store_pid(house.data_dir) is None)


async def test_a_data_directory_that_was_deleted_does_not_make_it_fail(house: Servers) -> None:
    server = await house.start()
    shutil.rmtree(house.data_dir)
    assert await server.terminate() == 0
    assert "Error" not in server.log


async def test_the_race_goes_on_after_the_restart(house: Servers) -> None:
    server = await house.start()
    async with table(server.url) as seats:
        ann, bob = await seats.player("Ann"), await seats.player("Bob")
        race = await start_race(ann, bob, deal=617)
        await play(ann, race, ["1a"])
        assert await server.terminate() == 0
    server = await house.start()
    async with table(server.url) as seats:
        ann, bob = await seats.back(ann), await seats.back(bob)
        whole = await ann.ask("race.sync", race=race)
        assert whole["you"]["moves"] == ["1a"]
        assert [entrant["status"] for entrant in whole["entrants"]] == ["playing", "playing"]
        await play(ann, race, ["1b"], seq=1)
        await bob.push("race.progress", race=race, seq=2)


async def test_a_server_that_is_told_to_end_while_it_starts_leaves_nothing(tmp_path: Path) -> None:
    """As soon as there is a store that could be left behind."""
    data = tmp_path / "data"
    process = await asyncio.create_subprocess_exec(
        *COMMAND, "serve", "--port", "0", "--pool", "0", "--data-dir", str(data), stdout=DEVNULL, stderr=DEVNULL
    )
    await eventually(data.exists)
    process.terminate()
    await asyncio.wait_for(process.wait(), ENDING)
    await eventually(lambda: not processes_of(data))


async def test_a_server_that_drains_takes_no_new_races_and_ends_when_the_last_is_over(house: Servers) -> None:
    """Balancers are told at once (`/readyz`), players at the end; whoever races races on."""
    server = await house.start("--drain", "30")
    async with table(server.url) as seats:
        ann, bob = await seats.player("Ann"), await seats.player("Bob", JSON)
        race = await start_race(ann, bob, deal=617)

        async def ready() -> bool:
            return (await fetch(server.port, "/readyz")).status == 200

        await eventually(ready)
        server.process.send_signal(signal.SIGTERM)
        await eventually(lambda: _says_no(ann))
        told = await fetch(server.port, "/readyz")
        assert (told.status, told.code) == (503, "not_ready")
        for kind, fields in (("daily.start", {}), ("queue.join", {}), ("race.create", {"settings": {"seats": 1}})):
            refusal = await bob.refused(kind, **fields)
            assert (refusal["code"], refusal["retry_after"]) == ("retry_later", 5000)
        await play(ann, race, ["1a"])
        await bob.ask("race.forfeit", race=race)
        assert server.process.returncode is None
        await ann.ask("race.forfeit", race=race)
        for player in (ann, bob):
            await player.push("race.over", race=race)
            assert await player.closed() == 1001
        assert await asyncio.wait_for(server.process.wait(), ENDING) == 0


async def _says_no(player: Player) -> bool:
    answer = await player.answer(await player.send("race.create"))
    return answer.get("code") == "retry_later"


async def test_it_waits_no_longer_than_it_may(house: Servers) -> None:
    server = await house.start("--drain", "1")
    async with table(server.url) as seats:
        ann = await seats.player("Ann")
        await start_race(ann, deal=617)
        began = time.monotonic()
        server.process.terminate()
        assert await ann.closed() == 1001
        assert time.monotonic() - began >= 1


async def test_told_again_it_waits_no_longer(house: Servers) -> None:
    """Nor for a signal that comes twice, as to a group and from whoever passes it on."""
    server = await house.start("--drain", "600")
    async with table(server.url) as seats:
        ann = await seats.player("Ann")
        race = await start_race(ann, deal=617)
        for _ in range(2):
            server.process.terminate()
        await eventually(lambda: _says_no(ann))
        await play(ann, race, ["1a"])
        told = asyncio.create_task(ann.closed())

        def tell_again() -> bool:
            if not told.done():
                server.process.terminate()
            return told.done()

        await eventually(tell_again)
        assert await told == 1001
        assert await asyncio.wait_for(server.process.wait(), ENDING) == 0
