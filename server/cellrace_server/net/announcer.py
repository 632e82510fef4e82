"""Tells the members of a room what happens in it: each message is built once, and encoded once for each subprotocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, cast

from cellrace.codec import Codec
from cellrace.messages import DelayedPush, DelayReason, FactPush, NewsPush, OnlinePush
from cellrace_server.core.facts import Stamped
from cellrace_server.gallery import visible
from cellrace_server.net import views
from cellrace_server.net.outbox import NewsKey, Outbox, frame_bytes
from cellrace_server.room import Member, Room
from cellrace_server.store.races import Entry


class Listener(Member, Protocol):
    """A member with a way to be told."""

    codec: Codec
    outbox: Outbox


class RoomAnnouncer:
    """Writes to the sockets of a room's members."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now

    def facts(self, room: Room, stamped: Sequence[Stamped]) -> None:
        """To every entrant and spectator, the actor too."""
        now = self._now()
        for fact in stamped:
            _send(_listeners(room), views.fact_push(room.race, fact, now))

    def started(self, room: Room) -> None:
        """To every entrant and spectator."""
        assert room.start is not None
        _send(_listeners(room), views.started_push(room, room.start, self._now()))

    def moved(self, room: Room, player: str, entries: Sequence[Entry]) -> None:
        """Progress to all but the player; the moves to those who may see them."""
        at = entries[-1].at - (room.race.start_at or 0)
        others = _listeners(room, but=player)
        _send_news(others, ("race.progress", room.id, player), views.progress_push(room, player, at))
        done = [
            listener
            for listener in others
            if (entrant := room.entrant(listener.player.id)) is not None and entrant.done is not None
        ]
        if done:
            _send(done, views.moved_push(room, player, room.tally(player).seq, entries, at))
        if room.spectators:
            room.show(player, visible(room, player, self._now()))

    def shown(self, room: Room, player: str, seq: int, entries: Sequence[Entry]) -> None:
        """To the spectators."""
        at = entries[-1].at - (room.race.start_at or 0)
        spectators = [cast(Listener, spectator) for spectator in room.spectators]
        _send(spectators, views.moved_push(room, player, seq, entries, at))

    def online(self, room: Room, player: str, online: bool) -> None:
        """To all but the player."""
        message = OnlinePush(race=room.id, player=player, online=online)
        _send_news(_listeners(room, but=player), ("race.online", room.id, player), message)

    def delayed(self, room: Room) -> None:
        """To every entrant and spectator."""
        _send_news(
            _listeners(room), ("race.delayed", room.id, ""), DelayedPush(race=room.id, reason=DelayReason.NO_DEAL)
        )


def _listeners(room: Room, but: str = "") -> list[Listener]:
    return [cast(Listener, member) for member in room.members() if member.player.id != but]


def _send(listeners: Sequence[Listener], message: FactPush | NewsPush) -> None:
    frames = _Frames(message)
    for listener in listeners:
        listener.outbox.send(frames.of(listener.codec))


def _send_news(listeners: Sequence[Listener], key: NewsKey, message: NewsPush) -> None:
    frames = _Frames(message)
    for listener in listeners:
        listener.outbox.send_news(key, frames.of(listener.codec))


class _Frames:
    """One message as frames, made when the first listener of a subprotocol wants one."""

    def __init__(self, message: FactPush | NewsPush) -> None:
        self._message = message
        self._frames: dict[Codec, bytes] = {}

    def of(self, codec: Codec) -> bytes:
        """The frame of one subprotocol."""
        frame = self._frames.get(codec)
        if frame is None:
            frame = self._frames[codec] = frame_bytes(codec.encode(self._message), codec.text)
        return frame
