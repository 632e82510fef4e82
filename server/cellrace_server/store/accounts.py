"""What operators do to players on record: find them by name, ban them, forget them."""

from __future__ import annotations

import msgpack

from cellrace.errors import ErrorCode, Refused
from cellrace_server.core.names import parse_name
from cellrace_server.core.standins import stand_in_id
from cellrace_server.store import keys
from cellrace_server.store.census import Census
from cellrace_server.store.library import Link
from cellrace_server.store.players import new_id


class AccountStore:
    """Reads and writes what `cellrace admin` does to players."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._census = Census(link)

    async def find_id(self, named: str) -> str:
        """The id of a player, who is named by id or by name. Raises Refused with `not_found`."""
        if await self._link.command("HEXISTS", keys.player(named), "name"):
            return named
        try:
            held: bytes | None = await self._link.command("GET", keys.name(parse_name(named).folded))
        except Refused:
            held = None  # No name at all.
        player_id = (held or b"").decode().partition(":")[0]
        if player_id and await self._link.command("HEXISTS", keys.player(player_id), "name"):
            return player_id
        raise Refused(ErrorCode.NOT_FOUND, f"There is no player {named[:60]!r}, by id or by name.")

    async def ban(self, player_id: str, now: int) -> None:
        """Let a player in no more, and tell the node that the player is connected to."""
        await self._link.command("HSET", keys.player(player_id), "banned", now)
        await self._tell_banned(player_id)

    async def _tell_banned(self, player_id: str) -> None:
        node = await self.node(player_id)
        if node is not None:
            # Lost, it is found by the node within seconds: it compares its connections with the store.
            await self._link.command("PUBLISH", keys.channel(node), msgpack.packb([[player_id, "banned"]]))

    async def unban(self, player_id: str) -> None:
        """Let a player in again."""
        await self._link.command("HDEL", keys.player(player_id), "banned")

    async def node(self, player_id: str) -> str | None:
        """The node that a player connected to last."""
        node: bytes | None = await self._link.command("HGET", keys.player(player_id), "node")
        return None if node is None else node.decode()

    async def banned_at(self, player_id: str) -> int | None:
        """Since when a player is banned, ms; None for who is not."""
        banned: bytes | None = await self._link.command("HGET", keys.player(player_id), "banned")
        return None if banned is None else int(banned)

    async def stand_in(self, player_id: str) -> str:
        """Who stands in for a player who is being deleted: the same, however often that is begun."""
        record = keys.player(player_id)
        await self._link.command("HSETNX", record, "stand_in", stand_in_id(new_id()))
        name: bytes = await self._link.command("HGET", record, "stand_in")
        return name.decode()

    async def forget(self, player_id: str) -> int:
        """Delete all that is kept of a player alone, the name too; says how many keys went."""
        folded: bytes | None = await self._link.command("HGET", keys.player(player_id), "folded")
        if folded is not None:
            name = keys.name(folded.decode())
            held: bytes | None = await self._link.command("GET", name)
            if held is not None and held.decode().partition(":")[0] == player_id:
                await self._link.call("name_swap", [name], held, "")
        return await self._census.delete_player(player_id)
