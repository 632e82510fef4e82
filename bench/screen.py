"""How soon a move shows on the screen after its key, in a race with eight rivals who never rest; and what idling costs.

A real server in a process of its own, the app drawn at 120 × 40, its rivals on connections of their own. Timed is from
the key's arrival at the app to the drawn lines that leave it, through a driver that writes to nowhere.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from contextlib import AsyncExitStack
from itertools import cycle
from time import perf_counter, process_time

from textual import events
from textual.drivers.headless_driver import HeadlessDriver

from cellrace.errors import CellraceError
from cellrace.messages import SettingsRequest
from cellrace_client.connection import Connection, connect
from cellrace_client.own_server import own_server
from cellrace_client.terminal.app.app import CellraceApp
from cellrace_client.terminal.app.desk import Taste
from cellrace_client.terminal.app.screens.play import PlayScreen

RIVALS = 8
MOVES = ("4a", "u", "6b", "u", "58", "u")
"""Moves of deal 617 and back, for as long as is wanted."""
RIVALS_PAUSE = 0.1
IDLE_SECONDS = 10.0
SETTLE = 1.0


class TimedDriver(HeadlessDriver):
    """Notes when something drawn leaves the app."""

    written = asyncio.Event()
    written_at = 0.0
    size_written = 0

    @property
    def is_headless(self) -> bool:
        """Textual draws nothing for a headless driver."""
        return False

    def write(self, data: str) -> None:
        """Notes the time of what would go to the terminal."""
        TimedDriver.written_at = perf_counter()
        TimedDriver.size_written += len(data)
        TimedDriver.written.set()


async def rival(connection: Connection, race: str, offset: int) -> None:
    """Plays and takes back, again and again."""
    moves = cycle(MOVES)
    for _ in range(offset % len(MOVES) // 2 * 2):
        next(moves)
    try:
        while True:
            await connection.move(race, next(moves))
            await asyncio.sleep(RIVALS_PAUSE)
    except CellraceError:
        return


async def time_keys(app: CellraceApp, moves: int, pause: float) -> list[float]:
    """Milliseconds from the last key of each move to the drawn board."""
    took = []
    for move in [move for move, _ in zip(cycle(MOVES), range(moves), strict=False)]:
        last = move[-1]
        for key in move[:-1]:
            app.post_message(events.Key(key, key))
            await asyncio.sleep(pause / 4)
        screen = app.screen
        assert isinstance(screen, PlayScreen)
        before = screen.own.ahead.seq
        begin = perf_counter()
        app.post_message(events.Key(last, last))
        while True:
            TimedDriver.written.clear()
            await TimedDriver.written.wait()
            if screen.own.ahead.seq > before:
                break
        took.append((TimedDriver.written_at - begin) * 1000)
        await asyncio.sleep(pause)
    return took


async def main(moves: int, pause: float) -> None:
    """Prints the figures."""
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(own_server())
        ann = await stack.enter_async_context(connect(url, name="Ann"))
        rivals = [await stack.enter_async_context(connect(url, name=f"Rival {i}")) for i in range(RIVALS)]
        settings = SettingsRequest(deal=617, seats=RIVALS + 1, countdown=0, time_limit=3600)
        race = (await ann.create(settings)).race
        for player in rivals:
            await player.join(race)
            await player.ready(race)
        await ann.ready(race)
        for player in (ann, *rivals):
            await player.view_where(race, lambda view: view.playing)
        app = CellraceApp(ann, race=race, taste=Taste(steps=False))
        app.driver_class = TimedDriver
        stack.push_async_callback(app.desk.close)
        running = asyncio.create_task(app.run_async(size=(120, 40)))
        await asyncio.sleep(SETTLE)
        began = process_time()
        await asyncio.sleep(IDLE_SECONDS)
        idle = (process_time() - began) / IDLE_SECONDS * 100
        playing = [asyncio.create_task(rival(player, race, i)) for i, player in enumerate(rivals)]
        await asyncio.sleep(SETTLE)
        took = await time_keys(app, moves, pause)
        for task in playing:
            task.cancel()
        await asyncio.gather(*playing, return_exceptions=True)
        app.exit()
        await running
    took.sort()
    print(f"{moves} moves against {RIVALS} rivals with {1 / RIVALS_PAUSE:.0f} moves a second each, in this process too")
    print(
        f"key to drawn move, ms: median {statistics.median(took):.1f}  p90 {took[int(len(took) * 0.9)]:.1f}"
        f"  p99 {took[int(len(took) * 0.99)]:.1f}  worst {took[-1]:.1f}"
    )
    print(f"processor while a race runs and nobody moves: {idle:.1f} % of one core")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=300, help="how many moves to time")
    parser.add_argument("--pause", type=float, default=0.05, help="seconds between two moves")
    arguments = parser.parse_args()
    asyncio.run(main(arguments.moves, arguments.pause))
