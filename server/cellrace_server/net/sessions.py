"""The connections of a node, and which of them plays for a player."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from cellrace.messages import CloseCode
from cellrace_server.core.presence import epoch_of, is_set_back
from cellrace_server.net.session import Session
from cellrace_server.store.players import PlayerStore

COMPARISON = 10.0
"""Seconds between two looks whether the players have newer connections elsewhere."""
_COMPARED_AT_ONCE = 256
"""Players that the store is asked about in one go, so that others get their turn in between."""


class Sessions:
    """Knows every connection of the node."""

    def __init__(self) -> None:
        # In the order of coming, which a set has not.
        self._all: dict[Session, None] = {}
        self._newest: dict[str, Session] = {}
        # Whom this node was told to send away since each hello began that is being carried out.
        self._coming: dict[Session, set[str]] = {}

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Session]:
        return iter(tuple(self._all))

    def add(self, session: Session) -> None:
        """A connection has been opened."""
        self._all[session] = None

    def remove(self, session: Session) -> None:
        """A connection has ended."""
        self._all.pop(session, None)
        if self._newest.get(session.player.id) is session:
            del self._newest[session.player.id]

    async def halt_older(self, session: Session) -> None:
        """Nothing more of the connection before this one is carried out, and nothing is under way."""
        before = self._newest.get(session.player.id)
        if before is not None and epoch_of(before.sid) < epoch_of(session.sid):
            await before.halt()

    def is_newest(self, session: Session) -> bool:
        """Whether no later connection of the player has been welcomed here meanwhile."""
        before = self._newest.get(session.player.id)
        return before is None or epoch_of(before.sid) <= epoch_of(session.sid)

    def take_over(self, session: Session) -> None:
        """A connection plays for its player from now on; the one before it is closed."""
        before = self._newest.get(session.player.id)
        self._newest[session.player.id] = session
        if before is not None and before is not session:
            before.close(CloseCode.TAKEN_OVER)

    async def compare(self, players: PlayerStore) -> None:
        """Close the connections whose players have newer ones elsewhere (NODES, 12), or are banned.

        Those that the store has forgotten, for it was set back, are to come back. Raises StoreUnavailable.
        """
        known = list(self._newest.values())
        for first in range(0, len(known), _COMPARED_AT_ONCE):
            some = known[first : first + _COMPARED_AT_ONCE]
            sids = [session.sid for session in some]
            holders = await players.holders([session.player.id for session in some])
            for session, sid, holder in zip(some, sids, holders, strict=True):
                if holder.banned:
                    session.close(CloseCode.BANNED)
                elif holder.sid != sid == session.sid:  # One that has got another meanwhile was asked about too early.
                    session.close(CloseCode.LOST_TRACK if is_set_back(holder.sid, sid) else CloseCode.TAKEN_OVER)

    def find(self, player: str, sid: str) -> Session | None:
        """The connection that plays for a player, if it is this one."""
        session = self._newest.get(player)
        return session if session is not None and session.sid == sid else None

    @contextmanager
    def coming(self, session: Session) -> Iterator[Collection[str]]:
        """The players who are banned while a hello is carried out: until then nobody knows whose it is."""
        self._coming[session] = banned = set[str]()
        try:
            yield banned
        finally:
            del self._coming[session]

    def ban(self, player: str) -> None:
        """A player is banned: every connection of the player is closed, also one that is on its way in."""
        for session in self:
            if session.player.id == player:
                session.close(CloseCode.BANNED)
        for banned in self._coming.values():
            banned.add(player)

    def supersede(self, player: str, sid: str) -> None:
        """A player has connected at another node: the connection `sid` is closed."""
        session = self.find(player, sid)
        if session is not None:
            session.close(CloseCode.TAKEN_OVER)
