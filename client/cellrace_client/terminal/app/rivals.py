"""Bots that race against the player who called them, each on a connection of its own; they enter rematches too."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from random import Random

from cellrace.errors import CellraceError, ErrorCode, Refused
from cellrace.messages import Hello
from cellrace_client.bot_races import keep_company
from cellrace_client.connection import GIVE_UP_AFTER, Connection
from cellrace_client.pace import PACES

MOST = 8
"""So many at once: each has a solver process of its own while it thinks."""
_NAMES = ("Robo", "Ada", "Bix", "Cog", "Dot", "Esk", "Fig", "Gyro")


class Rivals:
    """The bots of one player."""

    def __init__(self, url: str, chance: Random | None = None) -> None:
        self._url = url
        self._chance = chance or Random()  # noqa: S311 - a pace, no secret
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._tasks)

    async def call(self, code: str, strength: int) -> None:
        """Lets a bot enter a race by its code. Raises CellraceError when it cannot."""
        if self.count >= MOST:
            raise Refused(ErrorCode.RACE_FULL)
        connection = await self._come()
        try:
            race = (await connection.join(code=code)).race
        except BaseException:
            await connection.close()
            raise
        task = asyncio.create_task(self._race(connection, race, strength), name=f"rival in {race}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _come(self) -> Connection:
        names = [f"{name} {number}".strip() for number in ("", self._chance.randint(2, 999)) for name in _NAMES[:3]]
        for name in (*names, None):
            try:
                return await _connected(self._url, name)
            except Refused as refused:
                if refused.code != ErrorCode.NAME_TAKEN:
                    raise
        raise Refused(ErrorCode.NAME_TAKEN)

    async def _race(self, connection: Connection, race: str, strength: int) -> None:
        try:
            # A server that ends this connection has told the player by what becomes of the race.
            with suppress(CellraceError):
                await keep_company(connection, race, PACES[strength], self._chance)
        finally:
            await connection.close()

    async def close(self) -> None:
        """Sends all of them away."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _connected(url: str, name: str | None) -> Connection:
    # Not the context manager: the connection lives as long as the bot does.
    # A server that is away at the moment is waited for: the player waits for it too.
    connection = Connection(url, Hello(name=name, bot=True, client="cellrace play"), patience=GIVE_UP_AFTER)
    try:
        await connection.open()
    except BaseException:
        await connection.close()
        raise
    return connection
