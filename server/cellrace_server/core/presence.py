"""Since when an entrant has been without a connection, whatever became of the node that held it (NODES, 10, 11)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from cellrace_server.core.race import Race

NODE_SILENCE = 10_000
"""After how long without a beat a node is dead, ms."""
FIRST_CONTACT = 15_000
"""For how long a node judges no absence after its first contact with the store, ms."""


class Presence(Struct, frozen=True):
    """The connection that plays for an entrant: its sid and node, and since when it is gone, if it is."""

    sid: str
    node: str
    gone_at: int | None


class Nodes(Struct, frozen=True):
    """Each node's last beat, since when there was one without a break, and since and until when this node knows.

    Those that have `left` have said so with their last beat.
    """

    beats: Mapping[str, int]
    up_since: int
    contact_at: int
    seen_at: int
    left: frozenset[str] = frozenset()

    def live(self, node: str, now: int, unknown: int = 0) -> bool:
        """Whether a node has beaten lately; for one without any beat `unknown` is taken for it."""
        return node not in self.left and now < self.beats.get(node, unknown) + NODE_SILENCE

    def know(self, presence: Presence) -> bool:
        """Whether a connection is gone, or at a node that has beaten."""
        return presence.gone_at is not None or presence.node in self.beats


def epoch_of(sid: str) -> int:
    """The epoch of a connection's name; the newer one of a player has the greater (NODES, 12)."""
    return int(sid.partition(".")[0])


def is_set_back(known: str, sid: str) -> bool:
    """Whether a player's record, which knows that connection, is of a history before `sid` (NODES, 2)."""
    return not known or epoch_of(known) < epoch_of(sid)


def absent_since(presence: Presence, nodes: Nodes, now: int) -> int | None:
    """Since when an entrant is without a connection, or None; no absence starts before `up_since`."""
    if presence.gone_at is not None:
        return max(presence.gone_at, nodes.up_since)
    if nodes.live(presence.node, now):
        return None
    return max(nodes.beats.get(presence.node, 0), nodes.up_since)


def absences(race: Race, connections: Mapping[str, Presence], nodes: Nodes, now: int) -> dict[str, int]:
    """The entrants of a race without a connection, and since when."""
    absent: dict[str, int] = {}
    for entrant in race.entrants:
        presence = connections.get(entrant.player.id)
        since = race.changed_at if presence is None else absent_since(presence, nodes, now)
        if since is not None:
            absent[entrant.player.id] = since
    return absent


def judges(nodes: Nodes, now: int) -> bool:
    """Whether this node has been in contact for long enough to judge an absence, and still is.

    Without contact the last beats only seem to be old, this node's own too.
    """
    return nodes.contact_at + FIRST_CONTACT <= now < nodes.seen_at + NODE_SILENCE
