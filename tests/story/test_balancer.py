"""Two nodes behind one address, by the balancer and the configuration of docker-compose.yml."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio

from cellrace.messages import EntrantStatus, SettingsRequest
from cellrace_client.connection import Connection, connect
from cellrace_server.store.embedded import EmbeddedStore
from tests.ports import free_port
from tests.server.net.fetching import Fetched, fetch
from tests.story.players import JSON, MSGPACK, table
from tests.story.servers import STARTING, Server, Servers, servers
from tests.waiting import eventually

CONFIGURATION = Path(__file__).parent.parent.parent / "deploy" / "haproxy.cfg"
HAPROXY = shutil.which("haproxy", path=f"{os.environ.get('PATH', '')}{os.pathsep}/usr/sbin")
PLAYERS = 8
WIN = ("2a", "2b", "31v2")
"""Wins deal 94 of one-suit."""

pytestmark = pytest.mark.skipif(HAPROXY is None, reason="haproxy is not installed here")


@dataclass
class Front:
    """The one address, and the nodes behind it by their names."""

    port: int
    house: Servers
    store: str
    said: Path
    """What the balancer says about them."""
    nodes: dict[str, Server] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Where players connect."""
        return f"ws://127.0.0.1:{self.port}/ws"

    async def start(self, name: str, port: int) -> None:
        """Start a node."""
        self.nodes[name] = await self.house.start(
            *("--redis", self.store, "--node", name, "--trusted-proxy", "127.0.0.1"), port=port
        )

    def says_last(self, node: str) -> str:
        """Whether a node is UP or DOWN, by the last that the balancer has said of it; empty where that is nothing."""
        return (["", *re.findall(rf"{node} is (UP|DOWN)", self.said.read_text())])[-1]

    async def page(self, path: str) -> Fetched:
        """What is answered to a GET there."""
        return await fetch(self.port, path, headers=("Connection: close",))


@pytest_asyncio.fixture
async def front(tmp_path: Path) -> AsyncIterator[Front]:
    """Two nodes, and the balancer before them."""
    assert HAPROXY is not None
    async with AsyncExitStack() as stack:
        house = await stack.enter_async_context(servers(tmp_path))
        store = await stack.enter_async_context(await EmbeddedStore.open(tmp_path / "store", patience=STARTING))
        made = Front(free_port(), house, store.url, tmp_path / "said")
        ports = {"north": free_port(), "south": free_port()}
        for name, port in ports.items():
            await made.start(name, port)
        with made.said.open("wb") as said:
            balancer = await asyncio.create_subprocess_exec(
                *(HAPROXY, "-db", "-f", str(CONFIGURATION)),
                env={
                    "CELLRACE_BALANCER": f"127.0.0.1:{made.port}",
                    "CELLRACE_NODE_1": f"127.0.0.1:{ports['north']}",
                    "CELLRACE_NODE_2": f"127.0.0.1:{ports['south']}",
                },
                stdout=said,
                stderr=subprocess.STDOUT,
            )
        try:
            await eventually(lambda: _answers(made))
            yield made
        finally:
            balancer.kill()
            await balancer.wait()


async def _answers(front: Front) -> bool:
    try:
        return (await front.page("/readyz")).status == 200
    except OSError:
        return False


async def test_players_race_through_it_while_one_node_is_killed(front: Front) -> None:
    """They were spread over both; whoever was at the dead one goes on at the other, and everything answered stays."""
    async with AsyncExitStack() as stack:
        players = [await stack.enter_async_context(connect(front.url, patience=STARTING)) for _ in range(PLAYERS)]
        # A node that is busy at the moment of a check gets nobody until the next.
        while {player.node for player in players} != {"north", "south"}:
            players.append(await stack.enter_async_context(connect(front.url, patience=STARTING)))
        count = len(players)
        race = (await players[0].create(SettingsRequest(variant="one-suit", deal=94, seats=count, countdown=0))).race
        for player in players[1:]:
            await player.join(race)
        for player in players:
            await player.ready(race)
        for player in players:
            await player.view_where(race, lambda view: view.playing)
        await asyncio.gather(*(player.move(race, WIN[0]) for player in players))
        killed = front.nodes["north"]
        await killed.kill()
        await asyncio.gather(*(_finish(player, race) for player in players))
        views = [await player.view_where(race, lambda view: view.ended) for player in players]
        assert {player.node for player in players} == {"south"}
        standings = views[0].standings
        assert standings is not None
        assert all(view.standings == standings for view in views)
        assert [standing.status for standing in standings] == [EntrantStatus.WON] * count
        assert all(view.log == WIN for view in views)
        newcomers = [await stack.enter_async_context(connect(front.url, patience=STARTING)) for _ in range(4)]
        assert {newcomer.node for newcomer in newcomers} == {"south"}
        await front.start("north", killed.port)
        await eventually(lambda: _reaches(front, "north"))


async def _finish(player: Connection, race: str) -> None:
    for move in WIN[1:]:
        await player.move(race, move)


async def _reaches(front: Front, node: str) -> bool:
    async with connect(front.url, patience=STARTING) as newcomer:
        return newcomer.node == node


async def test_nobody_comes_to_a_node_that_is_not_well(front: Front) -> None:
    """It hangs, and keeps its connections open; the other one takes all that come, until it is well again."""
    south = front.nodes["south"].process
    south.send_signal(signal.SIGSTOP)
    try:
        await eventually(lambda: front.says_last("node-2") == "DOWN")
        async with AsyncExitStack() as stack:
            newcomers = [await stack.enter_async_context(connect(front.url, patience=STARTING)) for _ in range(4)]
            assert {newcomer.node for newcomer in newcomers} == {"north"}
    finally:
        south.send_signal(signal.SIGCONT)
    await eventually(lambda: front.says_last("node-2") == "UP")
    await eventually(lambda: _reaches(front, "south"))


@pytest.mark.parametrize("subprotocol", [MSGPACK, JSON])
async def test_frames_and_pages_pass_as_they_are(front: Front, subprotocol: str) -> None:
    """Both subprotocols, close codes, and HTTP."""
    async with table(front.url) as seats:
        ann = await seats.player("Ann", subprotocol)
        race = (await ann.ask("race.create", settings={"variant": "one-suit"}))["race"]
        page = await front.page("/api/v1/races")
        assert [row["race"] for row in page.json["races"]] == [race]
        again = await seats.back(ann)
        assert await ann.closed() == 4100
        assert (await again.ask("race.sync", race=race))["state"] == "open"
    assert (await front.page("/nowhere")).status == 404


async def test_nobody_calls_himself_somebody_else(front: Front) -> None:
    """Whoever claims another address with each request is counted by the one that the balancer sees."""
    pages = await asyncio.gather(
        *(
            fetch(
                *(front.port, "/api/v1/races"),
                headers=("Connection: close", f"X-Forwarded-For: 203.0.113.{number}"),
                source="127.0.0.2",
            )
            for number in range(120)
        )
    )
    assert {page.status for page in pages} == {200, 429}
    assert (await front.page("/api/v1/races")).status == 200
