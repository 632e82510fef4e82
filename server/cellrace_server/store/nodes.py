"""The nodes that are alive, by their beats (NODES, 10)."""

from __future__ import annotations

from cellrace_server.core.presence import NODE_SILENCE, Nodes
from cellrace_server.store import keys
from cellrace_server.store.library import Answer, Link

BEAT = 2.0
"""Seconds between two beats."""
FORGOTTEN = 24 * 3_600_000
"""After how many ms a dead node's last beat is forgotten."""


class NodeStore:
    """This node's beat, and what it sees of the others."""

    def __init__(self, link: Link, node: str) -> None:
        self._link = link
        self.node = node
        self.nodes = Nodes({}, 0, 0, 0)

    async def beat(self, now: int) -> bool:
        """Say that this node lives, and look who else does; False when it had been silent until it seemed dead."""
        before = await self._look()
        if not any(before.live(node, now) for node in before.beats):
            await self._link.command("SET", keys.UP_SINCE, now, lasting=False)
        # A beat is good for seconds: it waits for no replica, or a replica that is slow would make all nodes seem dead.
        await self._link.command("HSET", keys.NODES, self.node, now, lasting=False)
        up_since: bytes | None = await self._link.command("GET", keys.UP_SINCE)
        unbroken = not self.nodes.seen_at or now < self.nodes.seen_at + NODE_SILENCE
        contact_at = self.nodes.contact_at if unbroken else now
        beats = {**before.beats, self.node: now}
        self.nodes = Nodes(beats, int(up_since or now), contact_at or now, now, before.left)
        if forgotten := [node for node, beat in beats.items() if now > beat + FORGOTTEN]:
            await self._link.command("HDEL", keys.NODES, *forgotten, lasting=False)
        return unbroken

    async def leave(self, now: int) -> None:
        """Say that this node ends: whom it still seems to have is gone since then, and no longer."""
        await self._link.command("HSET", keys.NODES, self.node, -now, lasting=False)

    async def _look(self) -> Nodes:
        answer: Answer = await self._link.command("HGETALL", keys.NODES)
        beats = {node.decode(): int(beat) for node, beat in answer.items()}
        left = frozenset(node for node, beat in beats.items() if beat < 0)
        return Nodes({node: abs(beat) for node, beat in beats.items()}, 0, 0, 0, left)
