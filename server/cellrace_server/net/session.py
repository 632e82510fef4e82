"""One connection: frames in, in the order in which they came; one answer for each request; pushes in between."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog
from websockets.exceptions import ConnectionClosed

from cellrace.codec import Codec
from cellrace.errors import BadMessage, CellraceError, ErrorCode, Refused
from cellrace.messages import (
    CLOSE_SENTENCES,
    ClientMessage,
    CloseCode,
    MatchedPush,
    Player,
    RequestId,
    ServerAnswer,
    error_answer,
)
from cellrace_server.matching import Wish
from cellrace_server.net.connection import Connection
from cellrace_server.net.inbox import Arrived, Inbox
from cellrace_server.net.outbox import Outbox, frame_bytes
from cellrace_server.net.pinger import Pinger
from cellrace_server.net.services import Services
from cellrace_server.referee import Referee
from cellrace_server.store.errors import StoreError, StoreUnreplicated
from cellrace_server.store.players import new_credentials
from cellrace_server.store.races import LostTrack, Superseded

RETRY_AFTER = 1_000
"""What a client waits when the store is in trouble, ms."""
EVICTION = 1.0
"""How many seconds a client that does not read has for the close frame."""
ENDED_KEPT = 4
"""How many races that have ended a connection still hears of, for a rematch."""

_CLOSED_AFTER: dict[str, CloseCode] = {
    ErrorCode.BAD_TOKEN: CloseCode.BAD_TOKEN,
    ErrorCode.BANNED: CloseCode.BANNED,
}
"""The refusals after which a connection is closed."""

CarryOut = Callable[["Session", ClientMessage, float], Awaitable[None]]
"""Carries out one request that was read at a monotonic time, and answers it."""

log = structlog.get_logger()


class Session:
    """A connection from its first frame to its last; a member of rooms once its player is known."""

    def __init__(
        self, connection: Connection, codec: Codec, address: str, services: Services, carry_out: CarryOut
    ) -> None:
        bounds = services.bounds
        self.services = services
        self.address = address
        self.codec = codec
        self.outbox = Outbox(connection, bounds, self._evict)
        self.player = Player(id="", name="", bot=False)
        self.sid = ""
        self.newcomer = new_credentials()
        """Who this connection makes its player if that is a new one, the same however often hello is repeated."""
        self.races: dict[str, Referee] = {}
        self.opened: dict[str, str] = {}
        self.resumed: set[str] = set()
        self.queued: Wish | None = None
        """What the player waits for."""
        self.doubted: Wish | None = None
        """What the player may wait for: the store has not answered."""
        self.queueing = asyncio.Lock()
        """Held while the wish is put on record."""
        self.queues: set[str] = set()
        """The games in whose queues the player may be on record, so that they are left when the connection ends."""
        self._connection = connection
        self._carry_out = carry_out
        self._inbox = Inbox(codec, bounds, self._take_up, self.close)
        self._hello_due: asyncio.TimerHandle | None = None
        self._excused = False
        """Whether a hello was refused for what is no fault of the client's."""
        self._pinger = Pinger(connection, bounds.ping_seconds, self._note_latency)
        self._ending: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._counts = services.store.counts
        self.closing: CloseCode | None = None
        self.halted = False
        """Whether a newer connection of the player is about to take over."""

    @property
    def known(self) -> bool:
        """Whether the player is known: hello was said and accepted."""
        return bool(self.sid)

    @property
    def waiting(self) -> int:
        """How many frames wait to be carried out."""
        return len(self._inbox)

    async def run(self) -> None:
        """Carry out what comes, until the connection ends."""
        self._counts.connections[self.codec.subprotocol] += 1
        self._expect_hello()
        try:
            self._connection.when_lost(self._lose)
            self._connection.hand_over(self._receive, lambda: self.close(CloseCode.RATE_LIMITED))
            self._pinger.start()
            await self._ending
        finally:
            if self._hello_due is not None:
                self._hello_due.cancel()
            self._pinger.stop()
            self._stop(CloseCode.LOST_TRACK)
            gone_at = self.services.store.clock.now()
            code = self.closing or CloseCode.LOST_TRACK
            closed = self._connection.close(code, CLOSE_SENTENCES[code])
            # The request under way is not cut off: what it has written already must become known to its room.
            await asyncio.gather(closed, self._inbox.settle(), return_exceptions=True)
            self._depart(gone_at)

    def close(self, code: CloseCode) -> None:
        """End the connection; nothing more of it is carried out."""
        if self.closing is None:
            self._counts.closes[code] += 1
            self._stop(code)

    def _stop(self, code: CloseCode) -> None:
        if self.closing is None:
            self.closing = code
            self.outbox.close()
            self._inbox.clear()
            if not self._ending.done():
                self._ending.set_result(None)

    def _lose(self) -> None:
        protocol, sent = self._connection.protocol, self._connection.protocol.close_sent
        # A close that the library below has decided on: a frame that was too large, or none at all.
        if self.closing is None and sent is not None and not protocol.close_rcvd_then_sent:
            self._counts.closes[sent.code] += 1
        self._stop(CloseCode.LOST_TRACK)

    def measure(self) -> None:
        """Measure the round trip now."""
        self._pinger.measure()

    def answer(self, message: ServerAnswer) -> None:
        """Send an answer."""
        self.outbox.send(frame_bytes(self.codec.encode(message), self.codec.text))

    def push(self, message: MatchedPush) -> None:
        """Send what was not asked for."""
        self.outbox.send(frame_bytes(self.codec.encode(message), self.codec.text))

    def track(self, referee: Referee) -> None:
        """Note that this connection hears a room; of the rooms whose races have ended, only the latest are kept."""
        self.races[referee.room.id] = referee
        ended = [known for known in self.races.values() if known.room.race.ended]
        for known in ended[:-ENDED_KEPT]:
            self.untrack(known.room.id)

    def untrack(self, race_id: str) -> None:
        """Hear a room no more."""
        self.opened.pop(race_id, None)
        if (referee := self.races.pop(race_id, None)) is not None:
            referee.room.detach(self)
            self.services.rooms.left(referee)

    async def halt(self) -> None:
        """Carry out nothing more; returns when the request under way is answered."""
        self.halted = True
        self._inbox.clear()
        await self._inbox.settle()

    def _depart(self, gone_at: int) -> None:
        for referee in self.races.values():
            referee.room.detach(self)
        self.services.admission.disconnected(self, self.races, gone_at)
        self.queued = self.doubted = None
        for variant in self.queues:
            self.services.admission.unqueued(self, variant, self.queueing)

    def _expect_hello(self) -> None:
        self._excused = False
        self._hello_due = asyncio.get_running_loop().call_later(self.services.bounds.hello_seconds, self._miss_hello)

    def _miss_hello(self) -> None:
        self._hello_due = None
        if self.known:
            return
        if self._inbox.busy or self._excused:
            self._expect_hello()  # Said in time, and we are late: a client that is closed for that never comes back.
        else:
            self.close(CloseCode.NO_HELLO)

    def _evict(self) -> None:
        log.info("a client that does not read is let go", player=self.player.id)
        self.close(CloseCode.TOO_SLOW)
        # What the client does not read holds the close frame back as well.
        asyncio.get_running_loop().call_later(EVICTION, self._connection.transport.abort)

    def _receive(self, payload: bytes, text: bool, at: float) -> None:
        if self.halted or self.closing is not None:
            self._connection.count_idle()
        else:
            self._inbox.receive(payload, text, at)

    async def _take_up(self, frame: Arrived) -> None:
        request = frame.request
        if frame.retry_after:
            self._refuse_too_fast(frame)
            return
        if isinstance(request, BadMessage):
            self._refuse(request)
            return
        self._counts.requests[type(request)] += 1
        try:
            await self._carry_out(self, request, frame.at)
        except (StoreUnreplicated, LostTrack, ConnectionClosed):
            # What is written without replicas may be undone: whoever comes back resumes with what was not (NODES, 17).
            self.close(CloseCode.LOST_TRACK)
        except StoreError as error:
            # Not a warning: the chores say once that the store is in trouble, for however many requests.
            log.debug("the outcome of a request is unknown", player=self.player.id, reason=str(error))
            self._refuse(Refused(ErrorCode.RETRY_LATER, retry_after=RETRY_AFTER), request.id)
        except CellraceError as refused:
            self._refuse(refused, request.id)
            if refused.code in _CLOSED_AFTER:
                self.close(_CLOSED_AFTER[refused.code])
        except Superseded:
            self.close(CloseCode.TAKEN_OVER)
        except Exception:  # The edge: a mistake of ours costs one request, not the node.
            race = getattr(request, "race", None)
            log.exception("a request failed", player=self.player.id, race=race, request=type(request).__name__)
            self._refuse(Refused(ErrorCode.INTERNAL), request.id)

    def _refuse(self, refused: CellraceError, re: RequestId | None = None) -> None:
        self._excused = self._excused or refused.code == ErrorCode.RETRY_LATER
        self._counts.refusals[refused.code] += 1
        self.answer(error_answer(refused, re))

    def _refuse_too_fast(self, frame: Arrived) -> None:
        request = frame.request
        re = request.re if isinstance(request, BadMessage) else request.id
        self._refuse(Refused(ErrorCode.RATE_LIMITED, retry_after=frame.retry_after), re)
        if self._inbox.note_too_fast(frame.at):
            self.close(CloseCode.RATE_LIMITED)

    def _note_latency(self, milliseconds: int) -> None:
        for referee in self.races.values():
            referee.room.note_latency(self.player.id, milliseconds)

    def become(self, player: Player, sid: str) -> None:
        """The player is known from now on."""
        self.player = player
        self.sid = sid

    def forget(self) -> None:
        """The player is not known after all: hello may be repeated."""
        self.sid = ""
