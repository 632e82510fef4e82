"""A player's moves, from the wire to the record: judged, committed, answered, told (protocol, section 5)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, assert_never
from uuid import uuid4

from cellrace.errors import ErrorCode, IllegalMove, Refused
from cellrace.game import Game
from cellrace.messages import EntrantStatus, Move, Moved, RaceState
from cellrace_server.core.facts import Done, Stamped
from cellrace_server.play import Play, tally_of
from cellrace_server.referee import AT_ODDS, Referee
from cellrace_server.room import Room
from cellrace_server.store import Store
from cellrace_server.store.commits import Barred, Commit, Committed, Fenced, Stale
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.races import Entry, Superseded

ATTEMPTS = 3
"""How often a message is judged anew after the store has said that this node's board is not the latest."""

Answer = Callable[[Moved], None]


class Judged(NamedTuple):
    """Legal moves: what to write, the game after them, the steps to answer; `at` by the monotonic clock."""

    commit: Commit
    game: Game
    steps: list[list[str]]
    at: float


class Mover:
    """Carries out the moves of one connection."""

    def __init__(self, store: Store, player: str, sid: str, log_limit: int) -> None:
        self._store = store
        self._player = player
        self.sid = sid
        self._log_limit = log_limit

    async def play(
        self, referee: Referee, request: Move, arrival: int, answer: Answer, read_at: float | None = None
    ) -> None:
        """Carry out one `move` that arrived at an instant of the race clock: answer it, then tell the others.

        `read_at` is the same instant by the monotonic clock, for the metrics; now, where it is not known.
        Raises Refused, Superseded, StoreUnavailable (the outcome is unknown), LostTrack.
        """
        room = referee.room
        read_at = time.monotonic() if read_at is None else read_at
        verdict = ""
        for _ in range(ATTEMPTS):
            if room.doubtful or room.wants_deal:
                await referee.make_sure()
            judged = self._judge(room, request, arrival)
            if isinstance(judged, Moved):
                answer(judged)
                return
            if judged.commit.done is not None:
                # A win may leave the race with nothing to wait for: if this node dies now, another looks at it soon.
                await self._store.due.expect(room.id, self._store.clock.now())
            referee.commit_begins()
            try:
                outcome = await self._store.committer.submit(judged.commit)
                if isinstance(outcome, Committed) and not outcome.repeat:
                    self._record(referee, request, judged, outcome, answer, read_at)
                    return
            except BaseException:
                room.doubt()
                raise
            finally:
                referee.commit_ends()
            match outcome:
                case Fenced():
                    raise Superseded
                case Barred():
                    verdict = outcome.verdict
                    room.doubt()
                case Committed() | Stale():
                    room.doubt()
                case _:
                    assert_never(outcome)
        if verdict == "late":
            raise Refused(ErrorCode.ALREADY_DONE)
        raise StoreUnavailable(AT_ODDS)

    def _judge(self, room: Room, request: Move, arrival: int) -> Judged | Moved:
        """The moves judged on the board that is known here, in the order of checks that the protocol gives."""
        race = room.race
        entrant = race.entrant(self._player)
        if entrant is None:
            raise Refused(ErrorCode.NOT_ENTRANT)
        play = room.plays.get(self._player)
        if play is not None and play.holds(request.seq, request.moves):
            return _repeated(room, play, request)
        match race.state(arrival):
            case RaceState.OPEN | RaceState.COUNTDOWN:
                raise Refused(ErrorCode.NOT_STARTED)
            case RaceState.CANCELLED:
                raise Refused(ErrorCode.NOT_RUNNING)
            case RaceState.OVER:
                raise Refused(ErrorCode.ALREADY_DONE)
            case RaceState.RUNNING:
                pass
        assert race.limit_at is not None
        if entrant.done is not None or arrival > race.limit_at:
            raise Refused(ErrorCode.ALREADY_DONE)
        if play is None:
            raise StoreUnavailable("The deal of this race is not known here yet.")
        known = len(play.entries)
        if request.seq != known:
            raise Refused(ErrorCode.STALE, seq=known)
        try:
            game, steps = play.game.play_all(request.moves, self._log_limit)
        except IllegalMove as illegal:
            raise Refused(
                ErrorCode.ILLEGAL_MOVE, index=illegal.index, move=illegal.move, reason=illegal.reason, seq=known
            ) from None
        return Judged(self._commit(room, request, arrival, game), game, steps, time.monotonic())

    def _commit(self, room: Room, request: Move, arrival: int, game: Game) -> Commit:
        tally = tally_of(game)
        done = None
        if game.won:
            done = Done(self._player, EntrantStatus.WON, tally, room.latency.get(self._player, 0))
        return Commit(
            room.id,
            self._player,
            self.sid,
            request.seq,
            arrival,
            request.moves,
            tally,
            uuid4().hex[:16] if done else "",
            done,
        )

    def _record(
        self, referee: Referee, request: Move, judged: Judged, outcome: Committed, answer: Answer, read_at: float
    ) -> None:
        room = referee.room
        entries = [Entry(outcome.at, move) for move in request.moves]
        play = room.plays[self._player]
        new = len(play.entries) == request.seq
        if new:
            play.record(judged.game, entries)
        answer(_moved(room, request, judged.game, judged.steps, outcome.at))
        written_at = self._store.committer.written_at
        self._store.counts.add_move(len(entries), read_at, judged.at, written_at, time.monotonic())
        if new:
            room.tell_moves(self._player, entries)
        if judged.commit.done is not None:
            won = Stamped(outcome.version, judged.commit.command_id, outcome.at, judged.commit.done)
            referee.tell((won,))


def _repeated(room: Room, play: Play, request: Move) -> Moved:
    """The answer that these entries got when they were first carried out."""
    assert room.start is not None
    game, _ = room.start.game().play_all(play.moves[: request.seq])
    game, steps = game.play_all(request.moves)
    return _moved(room, request, game, steps, play.entries[request.seq + len(request.moves) - 1].at)


def _moved(room: Room, request: Move, game: Game, steps: Sequence[Sequence[str]], at: int) -> Moved:
    assert room.race.start_at is not None
    return Moved(
        re=request.id,
        race=room.id,
        seq=game.seq,
        steps=tuple(tuple(step) for step in steps),
        home=game.board.cards_home,
        at=at - room.race.start_at,
        won=game.won,
    )
