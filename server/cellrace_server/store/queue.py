"""The queue of quick matches on record, shared by all nodes (NODES, 22)."""

from __future__ import annotations

from collections.abc import Sequence

import msgpack
import msgspec
from msgspec import Struct

from cellrace_server.core.matchmaking import Waiting
from cellrace_server.store import keys
from cellrace_server.store.library import Answer, Link


class Match(Struct, frozen=True):
    """Two who race each other: the race that they get, and when they were matched."""

    race: str
    at: int
    waiting: tuple[Waiting, Waiting]


class QueueStore:
    """Reads and writes the queues."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def join(self, variant: str, waiting: Waiting) -> int:
        """Wait for a rival, in place of an older connection's entry; says how many wait.

        Who has been matched since the same command was first sent does not wait again.
        """
        words = (*_words(waiting), waiting.command_id)
        count: int = await self._link.call("queue_join", [keys.queue(variant)], *words)
        return count

    async def leave(self, variant: str, player: str, sid: str) -> None:
        """Wait no more, if it is this connection that waits."""
        await self._link.call("queue_leave", [keys.queue(variant)], player, sid)

    async def read(self, variant: str) -> tuple[list[Waiting], list[Match]]:
        """Who waits, and the matches whose races are not made yet."""
        answer: Answer = await self._link.call("queue_read", [keys.queue(variant)])
        entries, pending = answer
        return (
            [msgspec.json.decode(entry, type=Waiting) for entry in entries],
            [msgspec.json.decode(match, type=Match) for match in pending[1::2]],
        )

    async def pop(self, variant: str, match: Match) -> bool:
        """Take two out of the queue and record their match, at once; False when one of them waits no more."""
        one, other = match.waiting
        taken = (match.race, msgspec.json.encode(match), one.player.id, one.sid, other.player.id, other.sid)
        return bool(await self._link.call("queue_pop", [keys.queue(variant)], *taken))

    async def tell(self, match: Match) -> None:
        """Tell both that their race is there, wherever they are connected by now: they may have had to come back."""
        for waiting in match.waiting:
            found: Answer = await self._link.command("HMGET", keys.player(waiting.player.id), "epoch", "random", "node")
            epoch, random, node = found
            sid = f"{epoch.decode()}.{random.decode()}" if epoch and random else waiting.sid
            telling = msgpack.packb([[waiting.player.id, "matched", match.race, sid]])
            await self._link.command("PUBLISH", keys.channel(node.decode() if node else waiting.node), telling)

    async def clear(self, variant: str, match: Match) -> None:
        """The race of a match is made and told."""
        await self._link.call("queue_clear", [keys.queue(variant)], match.race)

    async def call_off(self, variant: str, match: Match, left: Sequence[Waiting]) -> None:
        """The race of a match will not be made; those who are `left` of it wait on, from when they did."""
        words = [word for waiting in left for word in _words(waiting)]
        await self._link.call("queue_call_off", [keys.queue(variant)], match.race, *words)


def _words(waiting: Waiting) -> tuple[str, str, bytes]:
    return waiting.player.id, waiting.sid, msgspec.json.encode(waiting)
