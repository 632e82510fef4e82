"""Players on record: names, tokens as hashes, and which connection plays (NODES, 12, 23)."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Collection, Sequence
from hashlib import sha256

from msgspec import Struct

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import Player
from cellrace_server.core.addresses import caller_of
from cellrace_server.core.names import Name
from cellrace_server.store import keys
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.library import Answer, Link

ORPHANED_NAME = 60_000
"""After how many ms a name whose player was never written may be taken, ms."""
RECENT_RACES = 50
"""How many ended races a player's list keeps."""

_IDENTITY = ("name", "bot", "since", "folded")
ID_LENGTH = 12
_ID_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
_IS_ID = re.compile("[0-9a-z]{1,20}")  # Shorter than any secret.


class Identity(Struct, frozen=True):
    """A player on record, and since when."""

    player: Player
    since: int
    folded: str


class Credentials(Struct, frozen=True):
    """The id of a player and the token that proves it, of which only a hash is kept."""

    id: str
    token: str

    def __repr__(self) -> str:
        return f"Credentials({self.id}, …)"


class Holder(Struct, frozen=True):
    """Which connection plays for a player, and whether the player is banned, or not on record: deleted."""

    sid: str
    banned: bool
    unknown: bool = False


def new_credentials() -> Credentials:
    """Those of a player to be."""
    player_id = new_id()
    return Credentials(player_id, f"{player_id}.{secrets.token_urlsafe(24)}")


def new_id(length: int = ID_LENGTH) -> str:
    """A random id without letters that look alike: about 59 bits at the usual length."""
    return "".join(secrets.choice(_ID_LETTERS) for _ in range(length))


class PlayerStore:
    """Reads and writes players for one node."""

    def __init__(self, link: Link, node: str) -> None:
        self._link = link
        self._node = node

    async def register(self, newcomer: Credentials, name: Name, bot: bool, now: int) -> Player:
        """A new player, once however often this is repeated. Raises Refused with `name_taken`."""
        player = Player(id=newcomer.id, name=name.shown, bot=bot)
        await self._claim_name(name.folded, player.id, now)
        token = _hashed(newcomer.token)
        record = ("name", name.shown, "folded", name.folded, "bot", int(bot), "since", now, "token", token)
        await self._link.command("HSET", keys.player(player.id), *record)
        return player

    async def recognise(self, token: str) -> Identity:
        """The player of a token. Raises Refused with `bad_token` or `banned`."""
        player_id, _, secret = token.partition(".")
        if not secret or not _IS_ID.fullmatch(player_id):
            raise Refused(ErrorCode.BAD_TOKEN)  # No store is asked for a name that may be the whole of a mistyped one.
        fields = ("token", "banned", *_IDENTITY)
        known, banned, *identity = await self._link.command("HMGET", keys.player(player_id), *fields)
        if known is None or identity[0] is None or not hmac.compare_digest(known, _hashed(token).encode()):
            raise Refused(ErrorCode.BAD_TOKEN)
        if banned is not None:
            raise Refused(ErrorCode.BANNED)
        return _identity(player_id, identity)

    async def find(self, player_id: str) -> Identity | None:
        """The player of an id, or None."""
        found: Answer = await self._link.command("HMGET", keys.player(player_id), *_IDENTITY)
        return None if found[0] is None else _identity(player_id, found)

    async def find_all(self, player_ids: Sequence[str]) -> dict[str, Player]:
        """The players of several ids; those that there are not are left out."""
        answers = await self._link.commands([("HMGET", keys.player(p), "name", "bot") for p in player_ids])
        return {
            player_id: Player(id=player_id, name=name.decode(), bot=bot == b"1")
            for player_id, (name, bot) in zip(player_ids, answers, strict=True)
            if name is not None
        }

    async def change(self, identity: Identity, name: Name | None, bot: bool, now: int) -> Player:
        """The player under another name, and marked as a bot for good. Raises Refused with `name_taken`."""
        player = identity.player
        if bot and not player.bot:
            await self._link.command("SADD", keys.NEW_BOTS, player.id)  # The intent first (NODES, 23).
            await self.mark(player.id)
            player = Player(id=player.id, name=player.name, bot=True)
        if name is None or name.shown == player.name:
            return player
        if name.folded != identity.folded:
            await self._claim_name(name.folded, player.id, now)
        await self._link.command("HSET", keys.player(player.id), "name", name.shown, "folded", name.folded)
        if name.folded != identity.folded:
            await self._free_name(identity.folded, player.id)
        return Player(id=player.id, name=name.shown, bot=player.bot)

    async def mark(self, player_id: str) -> bool:
        """Mark a player as a bot for good; False when there is no such player."""
        return bool(await self._link.call("player_mark", [keys.player(player_id)]))

    async def new_bots(self) -> tuple[str, ...]:
        """The players who have become bots and may still stand among people on boards."""
        found: Answer = await self._link.command("SMEMBERS", keys.NEW_BOTS)
        return tuple(sorted(player.decode() for player in found))

    async def among_bots(self, player_id: str) -> None:
        """A player who has become a bot stands among people on no board any more."""
        await self._link.command("SREM", keys.NEW_BOTS, player_id)

    async def take_over(self, player_id: str, said_at: int | None = None) -> str:
        """A new sid for a player's connection; every older one is superseded from now on.

        `said_at` is when it said hello: one that was held up, while the player has come elsewhere, takes nothing over.
        Raises StoreUnavailable then; Refused with `banned`, or `bad_token` when the player is deleted: both may be
        just so.
        """
        random = secrets.token_hex(8)
        said = "" if said_at is None else said_at
        answer: Answer = await self._link.call("player_hello", [keys.player(player_id)], random, self._node, said)
        if answer == [b"late"]:
            raise StoreUnavailable("A hello has come to the store after a later one.")
        if len(answer) < 3:
            raise Refused(ErrorCode.BANNED if answer else ErrorCode.BAD_TOKEN)
        return f"{answer[0]}.{random}"

    async def renew(self, player_id: str, sid: str, above: int) -> str | None:
        """Another sid, of an epoch above that, for a connection that is the player's newest; None if it is not."""
        random = secrets.token_hex(8)
        epoch = await self._link.call("player_renew", [keys.player(player_id)], sid, random, above)
        return f"{epoch}.{random}" if epoch else None

    async def holders(self, player_ids: Sequence[str]) -> list[Holder]:
        """The sids of several players' newest connections, and whether the players may be in at all."""
        fields = ("epoch", "random", "banned", "name")
        answers = await self._link.commands([("HMGET", keys.player(p), *fields) for p in player_ids])
        return [
            Holder(_sid(epoch, random), banned is not None, name is None) for epoch, random, banned, name in answers
        ]

    async def races(self, player_id: str) -> tuple[str, ...]:
        """The races of a player that are not over, newest first."""
        found: Answer = await self._link.command("ZREVRANGE", keys.player_races(player_id), 0, -1)
        return tuple(race.decode() for race in found)

    async def recent_races(self, player_id: str) -> tuple[str, ...]:
        """The last races of a player that have ended, newest first."""
        found: Answer = await self._link.command("ZREVRANGE", keys.player_ended(player_id), 0, -1)
        return tuple(race.decode() for race in found)

    async def enter(self, player_id: str, race_id: str, created_at: int) -> None:
        """Put a race on the player's list: the intent, before the fact (NODES, 23)."""
        await self._link.command("ZADD", keys.player_races(player_id), created_at, race_id)

    async def enter_within(self, most: int, player_id: str, race_id: str, created_at: int) -> bool:
        """The same for who may be in so many; False when others take up all the places."""
        words = (race_id, created_at, most)
        return bool(await self._link.call("player_enter", [keys.player(player_id)], *words))

    async def exit(self, player_id: str, race_id: str) -> None:
        """Take a race off the player's list."""
        await self._link.command("ZREM", keys.player_races(player_id), race_id)

    async def race_ended(self, player_ids: Sequence[str], race_id: str, created_at: int) -> None:
        """Move a race to the players' lists of those that have ended."""
        for player_id in player_ids:
            ended = keys.player_ended(player_id)
            await self._link.command("ZADD", ended, created_at, race_id)
            await self._link.command("ZREMRANGEBYRANK", ended, 0, -RECENT_RACES - 1)
            await self.exit(player_id, race_id)

    async def unlist(self, player_ids: Collection[str], race_id: str) -> None:
        """Take a race off all the lists of players."""
        for player_id in player_ids:
            await self._link.command("ZREM", keys.player_ended(player_id), race_id)
            await self.exit(player_id, race_id)

    async def count_guess(self, kind: str, address: str, window: int) -> int:
        """How often an address has done something within the last `window` seconds, this time included."""
        key = keys.guesses(kind, caller_of(address))
        count: int = await self._link.command("INCR", key, lasting=False)
        await self._link.command("EXPIRE", key, window, "NX", lasting=False)
        return count

    async def guesses(self, kind: str, address: str) -> int:
        """How often an address has done something lately."""
        return int(await self._link.command("GET", keys.guesses(kind, caller_of(address))) or 0)

    async def _claim_name(self, folded: str, player_id: str, now: int) -> None:
        # Players are named by id or by name: a name that is another's id would stand for both.
        if len(folded) == ID_LENGTH and folded != player_id and await self.find(folded) is not None:
            raise Refused(ErrorCode.NAME_TAKEN)
        key = keys.name(folded)
        claim = f"{player_id}:{now}"
        if await self._swap_name(key, "", claim):
            return
        held = (await self._link.command("GET", key) or b"").decode()
        holder_id, _, since = held.partition(":")
        if holder_id == player_id:
            return
        if held:
            owner = await self.find(holder_id)
            if (owner is not None and owner.folded == folded) or now < int(since) + ORPHANED_NAME:
                raise Refused(ErrorCode.NAME_TAKEN)
        if not await self._swap_name(key, held, claim):
            raise Refused(ErrorCode.NAME_TAKEN)  # Another player was faster.

    async def _free_name(self, folded: str, player_id: str) -> None:
        key = keys.name(folded)
        held = (await self._link.command("GET", key) or b"").decode()
        if held.partition(":")[0] == player_id:
            await self._swap_name(key, held, "")

    async def _swap_name(self, key: str, held: str, wanted: str) -> bool:
        return bool(await self._link.call("name_swap", [key], held, wanted))


def _identity(player_id: str, found: Answer) -> Identity:
    name, bot, since, folded = found
    return Identity(Player(id=player_id, name=name.decode(), bot=bot == b"1"), int(since), folded.decode())


def _sid(epoch: bytes | None, random: bytes | None) -> str:
    return f"{epoch.decode()}.{random.decode()}" if epoch and random else ""


def _hashed(token: str) -> str:
    return sha256(token.encode()).hexdigest()
