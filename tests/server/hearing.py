"""A node without sockets that hears the others: what they tell comes into its rooms."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from cellrace_server.store.hearing import FactTold, Hearing, MovesTold, PresenceTold, Telling
from tests.background import background
from tests.server.shell import Shell


@dataclass
class Ears:
    """The subscription of a node, and all that it has heard."""

    subscription: Hearing
    heard: list[Telling] = field(default_factory=list)


@asynccontextmanager
async def hearing(shell: Shell) -> AsyncIterator[Ears]:
    """The subscription of a node, confirmed before the block begins."""
    confirmed = asyncio.Event()

    def hear(telling: Telling) -> None:
        ears.heard.append(telling)
        if isinstance(telling, FactTold | MovesTold | PresenceTold):
            shell.rooms.hear(telling)

    def catch_up() -> None:
        confirmed.set()
        shell.rooms.catch_up()

    ears = Ears(Hearing(shell.link.redis, shell.store.races.node, hear, catch_up))
    async with background(ears.subscription.run()):
        await confirmed.wait()
        yield ears
