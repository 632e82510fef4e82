"""A server that is killed and started again: the clients come back by themselves and the race goes on."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

from cellrace.messages import SettingsRequest
from cellrace_client.bot import SolverBot
from cellrace_client.connection import Back, Dropped, Happened, connect
from cellrace_client.demo import race_faults
from cellrace_client.pace import Pace
from cellrace_client.race_view import RaceView
from cellrace_client.racer import race_to_the_end
from cellrace_client.thinker import Thinker
from tests.ports import free_port

WATCHABLE = Pace(0.02, 0.06)
LONG = SettingsRequest(variant="freecell", deal=617, countdown=0, seats=2)
"""A deal whose win takes dozens of moves: one that is drawn might be won before the server is killed."""


@asynccontextmanager
async def a_server(store_url: str, port: int) -> AsyncIterator[asyncio.subprocess.Process]:
    """`cellrace serve` as a process on a store that outlives it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-c", "from cellrace_client.cli import main; main()", "serve", "--port", str(port), "--redis", store_url),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        assert process.stdout is not None
        assert b"listens on" in await process.stdout.readline()
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


async def test_a_killed_server_costs_no_answered_move(store_url: str) -> None:
    """`kill -9` in mid-race, another start on the same port: both bots go on, and nothing that was answered is lost."""
    port = free_port()
    url = f"ws://127.0.0.1:{port}/ws"
    thinkers = [Thinker(), Thinker()]
    try:
        async with (
            a_server(store_url, port) as first,
            connect(url, name="Ada", bot=True) as ada,
            connect(url, name="Bix", bot=True, subprotocol="json") as bix,
        ):
            race = (await ada.create(LONG)).race
            await bix.join(race)
            playing = [
                asyncio.create_task(race_to_the_end(one, race, SolverBot(thinker, WATCHABLE, Random(1))))
                for one, thinker in zip((ada, bix), thinkers, strict=True)
            ]
            before = await ada.view_where(race, lambda view: view.game is not None and view.game.seq >= 5)
            first.send_signal(signal.SIGKILL)
            await first.wait()
            answered = ada.view(race).log
            async with a_server(store_url, port):
                views: list[RaceView] = list(await asyncio.gather(*playing))
                assert race_faults(views) == []
                assert views[0].log[: len(answered)] == answered
                assert len(answered) >= len(before.log)
                assert (await ada.sync(race)).log == views[0].log
                kinds = []
                async for event in ada.events():
                    kinds.append(type(event))
                    if isinstance(event, Happened) and event.view.ended:
                        break
                assert Dropped in kinds
                assert Back in kinds
    finally:
        for thinker in thinkers:
            await thinker.close()
