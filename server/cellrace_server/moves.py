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
from cellrace_server.room import Member, Room
from cellrace_server.store import Store
from cellrace_server.store.commits import Barred, Commit, Committed, Fenced, Stale
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.races import Entry, Superseded

ATTEMPTS = 3
"""How often a message is judged anew after the store has said that this node's board is not the latest."""

Answer = Callable[[Moved], None]


class Arrival(NamedTuple):
    """The instant at which a message was read: by the race clock, ms, and by the monotonic one."""

    at: int
    read_at: float


class Judged(NamedTuple):
    """Legal moves: what to write, the game after them, the steps to answer; `at` by the monotonic clock."""

    commit: Commit
    game: Game
    steps: list[list[str]]
    at: float


class Mover:
    """Carries out the moves of members, one node's."""

    def __init__(self, store: Store, log_limit: int) -> None:
        self._store = store
        self._log_limit = log_limit

    async def play(self, member: Member, referee: Referee, request: Move, arrival: Arrival, answer: Answer) -> None:
        """Carry out one `move`: answer it, then tell the others.

        Raises Refused, Superseded, StoreUnavailable (the outcome is unknown), LostTrack.
        """
        room = referee.room
        verdict = ""
        for _ in range(ATTEMPTS):
            if room.doubtful or room.wants_deal:
                await referee.make_sure()
            judged = self._judge(member, room, request, arrival.at)
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
                    entries = _take_in(room, judged, outcome.at)
                    answer(_moved(room, request, judged.game, judged.steps, outcome.at))
                    self._count(judged, arrival)
                    _tell(referee, judged.commit, outcome, entries)
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

    def _judge(self, member: Member, room: Room, request: Move, arrival: int) -> Judged | Moved:
        """The moves judged on the board that is known here, in the order of checks that the protocol gives."""
        race = room.race
        entrant = room.entrant(member.player.id)
        if entrant is None:
            raise Refused(ErrorCode.NOT_ENTRANT)
        play = room.plays.get(member.player.id)
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
            case never:
                assert_never(never)
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
        return Judged(_commit(member, room, request, arrival, game), game, steps, time.monotonic())

    def _count(self, judged: Judged, arrival: Arrival) -> None:
        written_at = self._store.committer.written_at
        entries = len(judged.commit.moves)
        self._store.counts.add_move(entries, arrival.read_at, judged.at, written_at, time.monotonic())


def _commit(member: Member, room: Room, request: Move, arrival: int, game: Game) -> Commit:
    player, tally = member.player.id, tally_of(game)
    done = Done(player, EntrantStatus.WON, tally, room.latency.get(player, 0)) if game.won else None
    return Commit(
        room.id,
        player,
        member.sid,
        request.seq,
        arrival,
        request.moves,
        tally,
        uuid4().hex[:16] if done else "",
        done,
    )


def _take_in(room: Room, judged: Judged, at: int) -> list[Entry]:
    """Take what is on record now into the player's game; nothing is new of what has been heard of meanwhile."""
    commit, play = judged.commit, room.plays[judged.commit.player]
    if len(play.entries) != commit.seq:
        return []
    entries = [Entry(at, move) for move in commit.moves]
    play.record(judged.game, entries)
    return entries


def _tell(referee: Referee, commit: Commit, outcome: Committed, entries: Sequence[Entry]) -> None:
    if entries:
        referee.room.tell_moves(commit.player, entries)
    if commit.done is not None:
        referee.tell((Stamped(outcome.version, commit.command_id, outcome.at, commit.done),))


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
