"""Who races whom in a quick match: near in rating at first, anybody after a while, the longest waiting first.

A person who accepts bots is offered one after a while, whatever its rating; whoever else waits for people is chosen
before. Two bots race each other only if both accept bots: the others wait for people.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from cellrace.messages import Player
from cellrace.queueing import BOT_AFTER, range_after


class Waiting(Struct, frozen=True):
    """Somebody in the queue: since when (ms), with which rating, whether a bot will do; `sid` and `node` tell where.

    `command_id` is that of the wish to wait: sent again by mistake, it is known.
    """

    player: Player
    sid: str
    node: str
    since: int
    rating: int
    bots: bool
    command_id: str = ""


def pairs(waiting: Sequence[Waiting], now: int) -> list[tuple[Waiting, Waiting]]:
    """Those who race each other now; whoever has waited longest chooses first, and takes who is nearest in rating."""
    left = sorted(waiting, key=lambda w: (w.since, w.player.id))
    found: list[tuple[Waiting, Waiting]] = []
    while left:
        first = left.pop(0)
        rivals = [rival for rival in left if _may_race(first, rival, now)]
        if rivals:
            # A person is chosen before any bot.
            rival = min(rivals, key=lambda r: (r.player.bot, abs(r.rating - first.rating), r.since))
            left.remove(rival)
            found.append((first, rival))
    return found


def _may_race(one: Waiting, other: Waiting, now: int) -> bool:
    if not (_accepts(one, other, now) and _accepts(other, one, now)):
        return False
    # Whoever is offered a bot gets one, if not the nearest: bots are few, and of very different strengths.
    apart = 0 if one.player.bot != other.player.bot else abs(one.rating - other.rating)
    return apart <= range_after(max(now - one.since, now - other.since))


def _accepts(who: Waiting, rival: Waiting, now: int) -> bool:
    if not rival.player.bot:
        return True
    return who.bots and (who.player.bot or now - who.since >= BOT_AFTER)
