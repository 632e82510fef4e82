"""The events that a user of a connection has not read yet: bounded, merged, never in the way of the socket.

What gives way: news of one race and player replace what is queued of the same kind. Should more than LIMIT events
still wait, they all give way to one `Synced` for each race, which tells all that they would have led to.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import replace

from msgspec import structs

from cellrace.messages import MovedPush, OnlinePush, ProgressPush
from cellrace_client.events import Back, Dropped, Event, Happened, Heard, Lost, Matched, Renamed, Silent, Synced

LIMIT = 512
"""More events than wait for a reader who keeps up, also in a race of 250."""

_Key = tuple[str, ...] | int


class Inbox:
    """A queue of events for one reader."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._events: OrderedDict[_Key, Event] = OrderedDict()
        self._count = 0
        self._ended = False
        self._error: Exception | None = None
        self._there = asyncio.Event()

    def __len__(self) -> int:
        return len(self._events)

    def put(self, event: Event) -> None:
        """Queues an event, merged with what it replaces; never blocks, never fails."""
        if self._ended:
            return
        self._count += 1
        key = _merge_key(event) or self._count
        if (earlier := self._events.pop(key, None)) is not None:
            event = _merged(earlier, event)
        self._events[key] = event
        if len(self._events) > self._limit:
            self._give_way()
        self._there.set()

    def _give_way(self) -> None:
        races: OrderedDict[str, Event] = OrderedDict()
        renamed: Event | None = None
        connection: Event | None = None
        for event in self._events.values():
            match event:
                case Happened() | Synced():
                    earlier = races.pop(event.view.race, None)
                    before = earlier.before if isinstance(earlier, Synced) else event.before
                    races[event.view.race] = Synced(before, event.view)
                case Lost() | Matched():
                    races[event.race] = event
                case Dropped() | Back() | Silent() | Heard():
                    connection = event
                case Renamed():
                    renamed = event
        self._events.clear()
        for event in (*races.values(), *(event for event in (renamed, connection) if event)):
            self._count += 1
            self._events[_merge_key(event) or self._count] = event

    def end(self, error: Exception | None) -> None:
        """No event follows; once all are read, the reader gets the error or the end."""
        self._ended = True
        self._error = error
        self._there.set()

    def take(self) -> Event | None:
        """The next event, None when none waits."""
        return self._events.popitem(last=False)[1] if self._events else None

    async def get(self) -> Event | None:
        """Waits for the next event; None after a plain end. Raises the error of any other end."""
        while not self._events:
            if self._ended:
                if self._error is not None:
                    raise self._error
                return None
            self._there.clear()
            await self._there.wait()
        return self._events.popitem(last=False)[1]


def _merge_key(event: Event) -> tuple[str, ...] | None:
    match event:
        case Happened(push=ProgressPush() | OnlinePush() | MovedPush() as push):
            return type(push).__name__, push.race, push.player
        case Synced():
            return "Synced", event.view.race
        case _:
            return None


def _merged(earlier: Event, event: Event) -> Event:
    match earlier, event:
        case Happened(push=MovedPush() as old), Happened(push=MovedPush() as new):
            if old.seq == new.seq - len(new.moves):
                new = structs.replace(new, moves=old.moves + new.moves)
            return Happened(new, earlier.before, event.view)
        case Happened(), Happened():
            return replace(event, before=earlier.before)
        case Synced(), Synced():
            return replace(event, before=earlier.before)
        case _:
            return event
