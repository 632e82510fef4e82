"""A connection that comes back by itself: one player, one server, typed messages."""

from __future__ import annotations

import asyncio
import random
import ssl
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from msgspec import structs

from cellrace.codec import JSON
from cellrace.errors import BadMessage, CellraceError, Refused
from cellrace.messages import ClientMessage, Hello, Limits, Player, ServerAnswer, Welcome
from cellrace_client.connection.backoff import NEVER, STEADY_AFTER, Trying, comes_back, wait_after, wait_before_return
from cellrace_client.connection.clock import RaceClock
from cellrace_client.connection.dialogue import Dialogue
from cellrace_client.connection.greeting import greet
from cellrace_client.connection.pulse import keep_time
from cellrace_client.connection.renaming import Renaming, Successor
from cellrace_client.connection.requests import Requests
from cellrace_client.connection.throttle import TokenBucket
from cellrace_client.connection.wire import Closing, Unread, Wire, open_wire
from cellrace_client.errors import Closed, Unreachable
from cellrace_client.events import Back, Event, Renamed
from cellrace_client.language import _
from cellrace_client.race_view import RaceView

IN_FLIGHT = 64
"""So many requests may wait for their answer; who asks for more waits for room."""
GIVE_UP_AFTER = 600.0
"""Seconds after which a server that cannot be reached any more is given up."""


class Connection(Requests):
    """One player's line to a server, over as many connections as it takes; made by `connect`.

    `player`, `token`, `node` and `limits` are those of the last `welcome`; `races` are the races known, kept current;
    `clock.now()` tells the race clock. `urls` are nodes of one server: where one is not reached, the next is tried.
    """

    player: Player
    limits: Limits
    node: str

    def __init__(
        self,
        urls: str | Sequence[str],
        hello: Hello,
        *,
        subprotocol: str | None = None,
        patience: float = 0.0,
        give_up_after: float = GIVE_UP_AFTER,
        tls: ssl.SSLContext | None = None,
        local: Callable[[], float] | None = None,
        draw: Callable[[], float] = random.random,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._urls = deque([urls] if isinstance(urls, str) else urls)
        self.token = hello.token
        self.clock = RaceClock(local) if local else RaceClock()
        self._hello = hello
        self._subprotocol = subprotocol
        self._patience = patience
        self._give_up_after = give_up_after
        self._tls = tls
        self._draw = draw
        self._sleep = sleep
        self._dialogue = Dialogue(self.clock, draw)
        self.races = self._dialogue.races.views
        self._renaming = Renaming()
        self._room = asyncio.Semaphore(IN_FLIGHT)
        self._wire: Wire | None = None
        self._bucket = TokenBucket(1, 1, 0.0)
        self._been_there = False
        self._ended: CellraceError | None = None
        self._life: asyncio.Task[None] | None = None

    # --- what a user calls, beside the requests

    @property
    def url(self) -> str:
        """Where the connection is, or is tried next."""
        return self._urls[0]

    @property
    def connected(self) -> bool:
        """Whether there is a connection right now."""
        return self._wire is not None

    @property
    def over(self) -> bool:
        """Whether the connection has ended for good."""
        return self._ended is not None

    async def open(self) -> None:
        """Connects, and learns the player's races. Raises Unreachable, Refused or Closed."""
        self._life = asyncio.create_task(self._live(), name="connection")
        await self._dialogue.settled.wait()
        if self._ended is not None:
            raise self._ended

    async def close(self) -> None:
        """Says goodbye; what is not answered fails with Closed."""
        if self._life is None:
            return
        self._life.cancel()
        await asyncio.wait([self._life])
        if not self._life.cancelled():
            self._life.result()

    async def rename(self, name: str) -> None:
        """Takes another name; races go on, a place in a queue is lost. Raises Refused, which changes nothing."""
        if self._ended is not None:
            raise self._ended
        await self._renaming.wish(name)

    async def events(self) -> AsyncIterator[Event]:
        """What happens, in order, for one reader; ends after `close`, raises Closed when the server ends it.

        What a slow reader misses is merged, and at last told as one Synced for each race (see `inbox`).
        """
        while (event := await self._dialogue.inbox.get()) is not None:
            yield event

    def view(self, race: str) -> RaceView:
        """A race as it is known. Raises Refused where it is not."""
        return self._dialogue.view(race)

    async def view_where(self, race: str, holds: Callable[[RaceView], bool]) -> RaceView:
        """Waits until something holds of a race. Raises Refused when it is known no longer, Closed at the end."""
        while True:
            view = self.view(race)
            if holds(view):
                return view
            if self._ended is not None:
                raise self._ended
            await self._dialogue.change()

    async def race_where(self, holds: Callable[[RaceView], bool]) -> RaceView:
        """Waits until something holds of some race that is known, as one that the queue has found. Raises Closed."""
        while True:
            found = next((view for view in self.races.values() if holds(view)), None)
            if found is not None:
                return found
            if self._ended is not None:
                raise self._ended
            await self._dialogue.change()

    async def view_after(self, view: RaceView) -> RaceView:
        """Waits until a race is no longer as `view` has it."""
        return await self.view_where(view.race, lambda now: now is not view)

    async def exchange(self, request: ClientMessage) -> ServerAnswer:
        """The answer to a request. Raises Refused, Closed, Unanswered or Unreachable."""
        self._check(request)
        async with self._room:
            if self._ended is not None:
                raise self._ended
            return await self._dialogue.ask(request).answer

    def next_seq(self, race: str) -> int:
        """The `seq` of the next `move`: the log entries known, and those on their way."""
        view = self.view(race)
        return (view.game.seq if view.game else 0) + self._dialogue.flight.moves_on_their_way(race)

    def _check(self, request: ClientMessage) -> None:
        try:
            size = len(JSON.encode_request(request))
        except (UnicodeEncodeError, OverflowError) as wrong:
            raise BadMessage(_("This cannot be said to a server: {why}.").format(why=wrong)) from None
        if self._been_there and size > self.limits.frame_bytes:
            told = _("The request is larger than the {most} bytes that the server reads.")
            raise BadMessage(told.format(most=self.limits.frame_bytes))

    # --- its life

    async def _live(self) -> None:
        ended: CellraceError | None = None
        try:
            await self._come_and_go()
        except CellraceError as error:
            ended = error
        finally:
            self._wire = None
            self._ended = ended or Closed(None, "The connection is closed.")
            self._renaming.end(self._ended)
            self._dialogue.finish(ended, self._ended)

    async def _come_and_go(self) -> None:
        attempt = 0
        trying = Trying(self.clock.local())
        while True:
            try:
                wire = await self._arrive()
            except (Unreachable, Refused) as failed:
                wait = wait_after(failed, attempt, self._draw())
                patience = self._give_up_after if self._been_there else self._patience
                if trying.failed(self.clock.local()) + wait > patience or wait == NEVER:
                    raise
            else:
                arrived = self.clock.local()
                closing = await self._converse(wire)
                while (successor := self._renaming.take()) is not None:
                    self._dialogue.moves_over()
                    self._welcomed(successor.welcome, Renamed(successor.welcome.player.name))
                    self._renaming.settle()
                    closing = await self._converse(successor.wire)
                trying = Trying(self.clock.local())
                if not comes_back(closing.code):
                    raise Closed.by_server(closing.code, closing.reason)
                if self.clock.local() - arrived >= STEADY_AFTER:
                    attempt = 0
                wait = wait_before_return(attempt, closing.code, self._draw())
                self._dialogue.dropped(closing.code, closing.sentence, wait)
            attempt += 1
            await self._sleep(wait)

    async def _arrive(self) -> Wire:
        failures: list[Unreachable] = []
        for _url in range(len(self._urls)):
            try:
                return await self._arrive_there()
            except Unreachable as failed:
                failures.append(failed)
                self._urls.rotate(-1)
        raise next((failed for failed in failures if not failed.final), failures[0])

    async def _arrive_there(self) -> Wire:
        wire, welcome = await self._say_hello(self._hello)
        self._welcomed(welcome, Back(welcome.node) if self._been_there else None)
        return wire

    async def _say_hello(self, hello: Hello) -> Successor:
        wire = await open_wire(self.url, self._subprotocol, self._tls)
        try:
            return Successor(wire, await greet(self.url, wire, hello, self.clock, self._sleep))
        except BaseException:
            await wire.close()
            raise

    def _say_name(self, name: str) -> Awaitable[Successor]:
        return self._say_hello(structs.replace(self._hello, name=name))

    def _welcomed(self, welcome: Welcome, told: Back | Renamed | None) -> None:
        self.player = welcome.player
        self.limits = welcome.limits
        self.node = welcome.node
        self.token = welcome.token or self.token
        # From now on this player comes back, under whatever name it has by then.
        self._hello = Hello(token=self.token, bot=self._hello.bot, client=self._hello.client)
        self._bucket = TokenBucket(welcome.limits.burst, welcome.limits.per_second, self.clock.local())
        self._dialogue.welcomed(welcome, told)
        self._been_there = True

    async def _converse(self, wire: Wire) -> Closing:
        self._wire = wire
        try:
            async with asyncio.TaskGroup() as tasks:
                renaming = self._renaming.fulfil(self._say_name, wire)
                works = (self._send_all(wire), keep_time(self._dialogue, wire), renaming)
                others = [tasks.create_task(work) for work in works]
                closing = await self._read_all(wire)
                if await self._renaming.outcome():
                    closing = Closing(None, "")
                for task in others:
                    task.cancel()
            return closing
        finally:
            self._wire = None
            await wire.close()

    async def _read_all(self, wire: Wire) -> Closing:
        while True:
            message = await wire.receive()
            match message:
                case Closing():
                    return message
                case Unread():
                    self._dialogue.cannot_read(message.re, message.why)
                case _:
                    self._dialogue.take_in(message)

    async def _send_all(self, wire: Wire) -> None:
        flight = self._dialogue.flight
        while True:
            while not flight.waiting:
                self._dialogue.to_send.clear()
                await self._dialogue.to_send.wait()
            while (wait := self._dialogue.hold_until - self.clock.local()) > 0:
                await self._sleep(wait)
            while (wait := self._bucket.take(self.clock.local())) > 0:
                await self._sleep(wait)
            ask = flight.take()
            if ask is not None:
                self._dialogue.sent(ask)
                await wire.send(ask.request)
