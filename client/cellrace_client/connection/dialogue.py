"""What is said between one player and the server, over all connections: no socket, no waiting."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from operator import attrgetter

from cellrace.errors import BadMessage, CellraceError, ErrorCode, Refused
from cellrace.messages import (
    ClientMessage,
    Error,
    Fact,
    FactPush,
    Moved,
    News,
    NewsPush,
    Ok,
    Pong,
    RaceAnswer,
    RaceConcede,
    RaceCreate,
    RaceForfeit,
    RaceLeave,
    RaceMissed,
    RaceReady,
    RaceSync,
    RaceUnwatch,
    RaceWatch,
    ServerAnswer,
    ServerMessage,
    Welcome,
    settle,
)
from cellrace_client.connection.clock import RaceClock
from cellrace_client.connection.flight import Ask, Flight, holds_back, numbered, outcome
from cellrace_client.connection.inbox import Inbox
from cellrace_client.connection.races import Races
from cellrace_client.connection.silence import Silence
from cellrace_client.errors import Unanswered
from cellrace_client.events import TAKEN_OUT, Back, Dropped, Lost, Renamed, Synced
from cellrace_client.race_view import RaceView

_RETRY_AFTER = 1000
"""Milliseconds to wait where the server names none."""
_RETRY_SPREAD = 0.25
"""By so much longer at most, and by chance: clients that were refused together do not ask together again."""
_LONGEST_HOLD = 60_000
"""A server that asks for more milliseconds than these is asked again after them: it may have meant another unit."""


class Dialogue:
    """Matches answers to requests, keeps the races current, and asks by itself for what was missed."""

    def __init__(self, clock: RaceClock, draw: Callable[[], float]) -> None:
        self.clock = clock
        self.flight = Flight()
        self.races = Races()
        self.inbox = Inbox()
        self.silence = Silence(clock, self.flight, self.inbox)
        self.to_send = asyncio.Event()
        self.hold_until = 0.0
        self.settled = asyncio.Event()
        self._draw = draw
        self._numbers = itertools.count(1)
        self._refreshing: dict[str, RaceAnswer | None] = {}
        self._watched: dict[str, RaceWatch] = {}
        self._doubtful: list[Ask] = []
        self._change = asyncio.Event()

    def ask(self, request: ClientMessage, refreshes: str | None = None) -> Ask:
        """Puts a request on its way."""
        number = next(self._numbers)
        known = frozenset(self.races.views) if isinstance(request, RaceCreate) else frozenset()
        answer: asyncio.Future[ServerAnswer] = asyncio.get_running_loop().create_future()
        ask = Ask(number, numbered(request, number), answer, known, refreshes)
        self.flight.add(ask)
        self.to_send.set()
        return ask

    def sent(self, ask: Ask) -> None:
        """A request is being sent."""
        ask.sent_at = self.clock.local()
        if ask.asked_at is None:
            ask.asked_at = ask.sent_at
        self.silence.sent()

    async def change(self) -> None:
        """Waits until some race has changed, or the connection's end."""
        await self._change.wait()

    def _changed(self) -> None:
        self._change.set()
        self._change = asyncio.Event()

    # --- the connection

    def welcomed(self, welcome: Welcome, told: Back | Renamed | None) -> None:
        """A connection has its player: asks for every race that may have gone on meanwhile."""
        self.races.player = welcome.player.id
        self.settled.clear()
        if told is not None:
            self.inbox.put(told)
        going_on = [view.race for view in self.races.views.values() if not view.ended]
        self._refreshing.clear()
        for race in dict.fromkeys([*(ref.race for ref in welcome.races), *going_on]):
            self._refresh(race)
        self._settle()

    def dropped(self, close_code: int | None, sentence: str, wait: float) -> None:
        """A connection is gone, and the next comes after `wait` seconds: what was not answered is repeated there.

        A `race.create` is in doubt until the races of the next `welcome` are known, as what the server carried out
        is among them; a request that could be done twice fails.
        """
        self.inbox.put(Dropped(close_code, sentence, wait))
        self.moves_over()

    def moves_over(self) -> None:
        """The same where another connection is there already, and nobody need know."""
        self.silence.over()
        doubtful, lost = self.flight.drop()
        self._doubtful += doubtful
        for ask in lost:
            ask.fail(Unanswered(str(ask.request.__struct_config__.tag)))

    def finish(self, error: Exception | None, closed: Exception) -> None:
        """Nothing more is said: events end with `error`, requests with `closed`."""
        self.silence.over()
        for ask in (*self.flight.clear(), *self._doubtful):
            ask.fail(closed)
        self._doubtful.clear()
        self.inbox.end(error)
        self.settled.set()
        self._changed()

    # --- what the server says

    def take_in(self, message: ServerMessage) -> None:
        """Takes a message of the server in."""
        if isinstance(message, Fact | News):
            self._hear(message)
        elif isinstance(message.re, int):
            self._answered(message.re, message)

    def cannot_read(self, number: int | None, why: BadMessage) -> None:
        """A message is none that we know: a push of a later version is passed over, an answer fails its request."""
        ask = self.flight.sent.pop(number, None) if number is not None else None
        if ask is None:
            return
        if ask.refreshes:
            self._lost(ask.refreshes, str(why))
        ask.fail(why)

    def _hear(self, push: FactPush | NewsPush) -> None:
        try:
            event, unknown = self.races.hear(push)
        except CellraceError as wrong:
            self._lost(push.race, str(wrong))
            return
        if event is not None:
            self.inbox.put(event)
            self._changed()
        if unknown:
            self._refresh(push.race)

    def _answered(self, number: int, answer: ServerAnswer) -> None:
        if isinstance(answer, Error) and holds_back(answer):
            # All wait, not this request alone: the server is in trouble, or this client is too fast.
            named = min(answer.retry_after or _RETRY_AFTER, _LONGEST_HOLD)
            wait = named * (1.0 + _RETRY_SPREAD * self._draw()) / 1000.0
            self.hold_until = max(self.hold_until, self.clock.local() + wait)
        ask = self.flight.answered(number, answer)
        if ask is None:
            self.to_send.set()
            return
        self.silence.answered()
        try:
            self._learn(ask, answer)
        except CellraceError as wrong:
            if ask.refreshes:
                self._lost(ask.refreshes, str(wrong))
            result: ServerAnswer | CellraceError = wrong
        else:
            result = outcome(ask, answer)
        if isinstance(result, CellraceError):
            ask.fail(result)
        elif not ask.answer.done():
            ask.answer.set_result(result)

    def _learn(self, ask: Ask, answer: ServerAnswer) -> None:
        request = ask.request
        match answer:
            case Pong():
                self.clock.sample(ask.sent_at, self.clock.local(), answer.now)
            case RaceAnswer():
                before, view = self.races.learn(answer)
                if isinstance(request, RaceWatch):
                    self._watched = {race: asked for race, asked in self._watched.items() if race in self.races.views}
                    self._watched[answer.race] = request
                if ask.refreshes:
                    self.inbox.put(Synced(before, view))
                    self._refreshed(answer.race, answer)
                self._changed()
            case RaceMissed():
                events, gap = self.races.missed(answer)
                for event in events:
                    self.inbox.put(event)
                self._changed()
                if gap:
                    self._refresh(answer.race)
            case Moved():
                if not self.races.moved(answer):
                    self._refresh(answer.race)
                self._changed()
            case Ok() if isinstance(request, RaceLeave | RaceUnwatch):
                self._forget(request.race)
            case Ok() if isinstance(request, RaceReady | RaceConcede | RaceForfeit):
                self.races.carried_out(request)
                self._changed()
            case Error() if ask.refreshes:
                known = self.races.views.get(ask.refreshes)
                out = answer.code == ErrorCode.NOT_ALLOWED and known is not None and known.me is not None
                self._lost(ask.refreshes, TAKEN_OUT if out else answer.message)
            case _:
                return

    # --- what this side asks by itself

    def _refresh(self, race: str) -> None:
        if race in self._refreshing and self._refreshing[race] is None:
            return
        self._refreshing[race] = None
        watching = self._watched.get(race)
        self.ask(watching or RaceSync(race=race), refreshes=race)

    def _refreshed(self, race: str, answer: RaceAnswer) -> None:
        if race in self._refreshing:
            self._refreshing[race] = answer
        self._settle()

    def _lost(self, race: str, sentence: str) -> None:
        known = race in self.races.views
        self._forget(race)
        if known:
            self.inbox.put(Lost(race, sentence))
        self._settle()

    def _forget(self, race: str) -> None:
        self.races.forget(race)
        self._watched.pop(race, None)
        self._refreshing.pop(race, None)
        self._changed()

    def _settle(self) -> None:
        """Once all races are known: finds those that a `race.create` without an answer has made, asks the others again.

        The old connection's requests were carried out in order, and none after the new one's `welcome`.
        """
        if any(answer is None for answer in self._refreshing.values()):
            return
        made = sorted((answer for answer in self._refreshing.values() if answer), key=attrgetter("created_at"))
        self._refreshing.clear()
        for ask in self._doubtful:
            if ask.given_up:
                continue
            answer = next((answer for answer in made if self._answers(ask, answer)), None)
            if answer is None:
                self.flight.add(ask)
                self.to_send.set()
            else:
                made.remove(answer)
                ask.answer.set_result(answer)
        self._doubtful.clear()
        self.settled.set()

    def _answers(self, ask: Ask, answer: RaceAnswer) -> bool:
        request = ask.request
        if not isinstance(request, RaceCreate) or answer.race in ask.known_races or answer.parent is not None:
            return False
        try:
            settings = settle(request.settings)
        except Refused:
            return False
        return answer.host == self.races.player and answer.settings == settings

    def view(self, race: str) -> RaceView:
        """A race as it is known. Raises Refused where it is not."""
        view = self.races.views.get(race)
        if view is None:
            raise Refused(ErrorCode.NO_SUCH_RACE)
        return view
