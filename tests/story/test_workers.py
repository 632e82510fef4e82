"""`cellrace serve --workers N`: one address, several processes, one race; one that is killed is started again."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, WebSocketException

from tests.server.store.processes import is_alive, parent_of
from tests.story.players import JSON, MSGPACK, Player, Table, open_race, play, start_race, table
from tests.story.servers import Server, Servers, end_process, processes_of
from tests.waiting import eventually

WIN = ["2a", "2b", "31v2"]
"""Wins deal 94 of one-suit."""
ESTABLISHED = "01"
"""A connection, as Linux tells its state."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")


def workers_of(server: Server, house: Servers) -> list[int]:
    """The processes that serve."""
    return [pid for pid in processes_of(house.data_dir) if parent_of(pid) == server.process.pid and is_alive(pid)]


def connections_of(pid: int, port: int) -> int:
    """How many connections to a port a process has."""
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    inodes = {row[9] for row in rows if row[1].endswith(f":{port:04X}") and row[3] == ESTABLISHED}
    found = 0
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            found += str(link.readlink()).removeprefix("socket:[").removesuffix("]") in inodes
    return found


async def crowd(seats: Table, count: int) -> list[Player]:
    """So many players: enough that each process has some."""
    return [await seats.player(subprotocol=JSON if n % 2 else MSGPACK) for n in range(count)]


async def come_back(seats: Table, player: Player) -> Player:
    """Try until a process that lives takes the connection, as a client does."""

    async def attempt() -> Player | None:
        try:
            return await seats.back(player)
        except (OSError, EOFError, WebSocketException):
            return None

    back = await eventually(attempt)
    assert back is not None
    return back


async def test_one_race_over_several_processes(house: Servers) -> None:
    server = await house.start("--workers", "2")
    async with table(server.url) as seats:
        players = await crowd(seats, 12)
        race = await start_race(*players, variant="one-suit", deal=94)
        await asyncio.gather(*(play(player, race, WIN, at_once=1) for player in players))
        overs = [await player.push("race.over", race=race) for player in players]
        assert all(over["standings"] == overs[0]["standings"] for over in overs)
        assert [standing["status"] for standing in overs[0]["standings"]] == ["won"] * 12
        assert len(workers_of(server, house)) == 2
    assert await server.terminate() == 0
    await eventually(lambda: not processes_of(house.data_dir))


async def test_a_process_that_is_killed_is_started_again_and_the_race_goes_on(house: Servers) -> None:
    server = await house.start("--workers", "2")
    async with table(server.url) as seats:
        players = await crowd(seats, 8)
        race = await open_race(*players, variant="one-suit", deal=94)
        for player in players:
            await player.ask("race.ready", race=race)
        for player in players:
            await player.push("race.started", race=race)
            await play(player, race, WIN[:1])
        # Which of them a connection comes to is chance: it may be the same one for all.
        spared, killed = sorted(workers_of(server, house), key=lambda pid: connections_of(pid, server.port))
        end_process(killed)
        racing: list[Player] = []
        for player in players:
            try:
                await player.settle()
                racing.append(player)
            except ConnectionClosed:
                racing.append(await come_back(seats, player))
        assert racing != players, "somebody was at the process that died"
        for player in racing:
            assert (await player.ask("race.sync", race=race))["you"]["moves"] == WIN[:1]
            await play(player, race, WIN[1:], seq=1)
        for player in racing:
            over = await player.push("race.over", race=race)
            assert [standing["status"] for standing in over["standings"]] == ["won"] * 8

        def two_again() -> bool:
            now = workers_of(server, house)
            return len(now) == 2 and spared in now and killed not in now

        await eventually(two_again)
        # The new one serves as well.
        await start_race(*await crowd(seats, 8), variant="one-suit", deal=94)
    assert await server.terminate() == 0


async def test_if_their_keeper_is_killed_the_processes_end_as_well(house: Servers) -> None:
    server = await house.start("--workers", "2")
    workers = workers_of(server, house)
    assert len(workers) == 2
    await server.kill()
    await eventually(lambda: not any(map(is_alive, workers)))
    await eventually(lambda: not processes_of(house.data_dir))


async def test_sigterm_ends_all_of_them_and_every_client_is_told(house: Servers) -> None:
    """With 1001, so that each comes back after a while; and the store has ended too (how soon: test_shutdown)."""
    server = await house.start("--workers", "2")
    async with table(server.url) as seats:
        players = await crowd(seats, 8)
        race = await open_race(*players, variant="one-suit", deal=94)
        for player in players:
            await player.ask("race.ready", race=race)
        server.process.terminate()
        assert {await player.closed() for player in players} == {1001}
        assert await server.process.wait() == 0
        await eventually(lambda: not processes_of(house.data_dir))
