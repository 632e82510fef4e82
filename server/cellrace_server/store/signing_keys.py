"""The public keys of replays: one set for all nodes of a store, out of which nothing is ever taken."""

from __future__ import annotations

from msgspec import Struct

from cellrace_server.store import keys
from cellrace_server.store.library import Answer, Link


class PublishedKey(Struct, frozen=True):
    """A public key: its name, and its 32 raw bytes in base64."""

    key: str
    public: str


class SigningKeyStore:
    """Reads and writes the public keys."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def publish(self, key: PublishedKey, now: int) -> None:
        """A key is signed with from now on: it comes first, and stays for ever. Raises StoreUnavailable."""
        published = await self.published()
        if not published or published[0] != key:
            await self._link.command("HSET", keys.SIGNING_KEYS, key.key, f"{now}:{key.public}")

    async def published(self) -> tuple[PublishedKey, ...]:
        """All keys, the one that was published last first. Raises StoreUnavailable."""
        answer: Answer = await self._link.command("HGETALL", keys.SIGNING_KEYS)
        found = []
        for name, value in answer.items():
            since, _, public = value.decode().partition(":")
            found.append((-int(since), PublishedKey(key=name.decode(), public=public)))
        return tuple(key for _, key in sorted(found, key=lambda entry: (entry[0], entry[1].key)))
