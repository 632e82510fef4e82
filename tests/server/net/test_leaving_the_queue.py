"""Who loses the connection leaves the queue, and is matched with nobody."""

from __future__ import annotations

from cellrace_server.app import Node
from tests.story.players import Table
from tests.waiting import eventually


async def test_a_lost_connection_leaves_the_queue(seats: Table, node: Node) -> None:
    async def waiting() -> list[str]:
        everybody, _ = await node.services.store.queue.read("freecell")
        return [one.player.id for one in everybody]

    ann = await seats.player("Ann")
    await ann.ask("queue.join")
    assert await waiting() == [ann.id]
    ann.socket.transport.abort()

    async def nobody() -> bool:
        return await waiting() == []

    await eventually(nobody)
