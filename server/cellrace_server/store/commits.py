"""Moves on their way into the store: what arrived during the last round trip goes into the next (NODES, 3–5, 16)."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

from cellrace_server.core.facts import Done, Tally
from cellrace_server.counts import Counts
from cellrace_server.store import keys
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.library import Answer, Argument, Link
from cellrace_server.store.records import encoded_fact

BATCH = 256
"""The most entries of one call."""


class Commit(Struct, frozen=True):
    """Moves that were judged to be legal: `seq` entries stood before them, `tally` is after them.

    `sid` names the connection that plays, `at` is the arrival on the race clock in ms, `done` the fact of a win.
    """

    race: str
    player: str
    sid: str
    seq: int
    at: int
    moves: tuple[str, ...]
    tally: Tally
    command_id: str
    done: Done | None = None


class Committed(Struct, frozen=True):
    """On record now, or from before (`repeat`), with the stamp; `version` of the win's fact, or 0."""

    at: int
    version: int = 0
    repeat: bool = False


class Fenced(Struct, frozen=True):
    """Another connection plays for this player now."""


class Stale(Struct, frozen=True):
    """The log has `seq` entries, not as many as was thought."""

    seq: int


class Barred(Struct, frozen=True):
    """The game takes no moves: `verdict` is done, not_started, not_running or late."""

    verdict: str


Outcome: TypeAlias = Committed | Fenced | Stale | Barred


class Committer:
    """Takes commits, writes them in batches, one round trip at a time, and tells each its outcome.

    The queue is as long as there are players with a move in flight, one each: a session hands in its next move only
    when the last is answered.
    """

    def __init__(self, link: Link, node: str, now: Callable[[], int], counts: Counts | None = None) -> None:
        self._link = link
        self._node = node
        self._now = now
        self._counts = counts or Counts()
        self.written_at = 0.0
        """When the store answered for the last batch, by the monotonic clock."""
        self._waiting: deque[tuple[Commit, asyncio.Future[Outcome]]] = deque()
        self._wake = asyncio.Event()

    def submit(self, commit: Commit) -> asyncio.Future[Outcome]:
        """Queue a commit; the future ends with its outcome, or with StoreUnavailable: then it is unknown."""
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiting.append((commit, future))
        self._wake.set()
        return future

    @property
    def backlog(self) -> int:
        """How many commits wait for the next batch."""
        return len(self._waiting)

    async def run(self) -> None:
        """Write batches until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting:
                batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
                await self._write(batch)

    async def _write(self, batch: list[tuple[Commit, asyncio.Future[Outcome]]]) -> None:
        arguments: list[Argument] = [self._node, self._now()]
        for commit, _ in batch:
            arguments += _arguments(commit)
        self._counts.batches.observe(len(batch))
        called_at = time.monotonic()
        try:
            answers: Answer = await self._link.call(
                "race_commit", [keys.race(commit.race) for commit, _ in batch], *arguments
            )
        except StoreUnavailable as error:
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
            return
        self.written_at = time.monotonic()
        self._counts.round_trips.observe(self.written_at - called_at)
        for (_, future), answer in zip(batch, answers, strict=True):
            if future.done():
                continue  # The session is gone; the moves are on record all the same.
            try:
                future.set_result(_outcome(answer))
            except StoreUnavailable as error:
                future.set_exception(error)


def _arguments(commit: Commit) -> list[Argument]:
    tally = commit.tally
    return [
        commit.player,
        commit.sid,
        commit.seq,
        commit.at,
        tally.home,
        tally.moves,
        tally.undos,
        commit.command_id,
        encoded_fact(commit.done) if commit.done else "",
        len(commit.moves),
        *commit.moves,
    ]


def _outcome(answer: Answer) -> Outcome:
    match answer[0]:
        case b"ok":
            return Committed(int(answer[1]), int(answer[2]))
        case b"repeat":
            return Committed(int(answer[1]), repeat=True)
        case b"fenced":
            return Fenced()
        case b"stale":
            return Stale(int(answer[1]))
        case b"done" | b"not_started" | b"not_running" | b"late":
            return Barred(answer[0].decode())
        case _:
            raise StoreUnavailable(f"The store could not judge a move ({answer!r}).")
