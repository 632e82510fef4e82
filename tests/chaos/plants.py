"""Bugs that are planted into a server's process by its test, one at a time, to see that they are found.

`python -m tests.chaos.plants serve …` is `cellrace serve` with the bug that the environment names; as a plugin of
pytest (`-p tests.chaos.plants`) the module plants it into the tests' own process. Nothing of this is in the product.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

from cellrace.messages import Moved
from cellrace_server.net.outbox import Outbox
from cellrace_server.net.session import Session
from cellrace_server.play import Play, Start
from cellrace_server.room import Room
from cellrace_server.rooms import Rooms
from cellrace_server.store.commits import Commit, Committed, Committer, Outcome
from cellrace_server.store.library import Answer, Argument, Link
from cellrace_server.store.races import Secret
from cellrace_server.upkeep import Upkeep

NAMED = "CELLRACE_PLANTED"
"""The environment variable that names the bug."""


def _function(old: str, new: str = "") -> Callable[[], None]:
    """A bug in the store's functions: these words become those."""

    def plant() -> None:
        send = Link.command

        async def command(self: Link, *words: Argument, lasting: bool = True) -> Answer:
            if words[0] == "FUNCTION LOAD" and "local function commit_one" in str(words[2]):
                assert str(words[2]).count(old) == 1, f"this bug has no place any more: {old}"
                words = (*words[:2], str(words[2]).replace(old, new))
            return await send(self, *words, lasting=lasting)

        Link.command = command  # type: ignore[method-assign]  # that is what planting is

    return plant


def _answer_first() -> None:
    write = Committer.submit

    def submit(self: Committer, commit: Commit) -> asyncio.Future[Outcome]:
        written = write(self, commit)
        if commit.done is not None:
            return written
        written.add_done_callback(lambda future: future.exception())
        told: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        told.set_result(Committed(commit.at))
        return told

    Committer.submit = submit  # type: ignore[method-assign]  # that is what planting is


def _no_repeats() -> None:
    _function("  if known then\n    local at", "  if false then\n    local at")()
    _replace(Play, "holds", lambda self, seq, moves: False)


def _deal_at_once() -> None:
    learn = Room.learn_secret

    def learn_secret(self: Room, secret: Secret) -> None:
        learn(self, secret)
        self.release()

    Room.learn_secret = learn_secret  # type: ignore[method-assign]  # that is what planting is


def _other_layouts() -> None:
    start = Start.__init__

    def other(self: Start, settings: Any, number: int) -> None:
        start(self, settings, number + os.getpid() % 3)

    _replace(Start, "__init__", other)


def _lose_answers() -> None:
    answer, told = Session.answer, [0]

    def lossy(self: Session, message: Any) -> None:
        told[0] += isinstance(message, Moved)
        if not isinstance(message, Moved) or told[0] % 5:
            answer(self, message)

    _replace(Session, "answer", lossy)


def _lose_facts() -> None:
    send, told = Outbox.send, [0]

    def lossy(self: Outbox, frame: bytes) -> None:
        told[0] += b"race.ready" in frame
        if b"race.ready" not in frame or told[0] % 10:
            send(self, frame)

    _replace(Outbox, "send", lossy)


def _replace(owner: type, name: str, by: Callable[..., Any]) -> None:
    assert name in vars(owner), f"this bug has no place any more: {owner.__name__}.{name}"
    setattr(owner, name, by)


async def _nothing(*_: object) -> None:
    """Does nothing."""


PLANTS: dict[str, Callable[[], None]] = {
    "no-sid-check": _function("if sid_of(presence) ~= entry.sid then return {'fenced'} end"),
    "answer-before-commit": _answer_first,
    "no-catch-up": lambda: _replace(Rooms, "catch_up", lambda self: None),
    "no-command-id": _function("if redis.call('HEXISTS', base .. ':commands', command) == 1 then", "if false then"),
    "no-terminal-guard": _function("if redis.call('LLEN', base .. ':log:' .. player) ~= seq then return {'moved'} end"),
    "stamps-fall": _function("if before then at = math.max(at, tonumber(string.match(before, '^%d+'))) end"),
    "no-repeat-check": _no_repeats,
    "takeover-not-fenced": _function(
        "if epoch_of(sid_of(presence)) > epoch_of(sid) then return {'superseded', ''} end"
    ),
    "deal-before-start": _deal_at_once,
    "unknown-taken-for-failed": lambda: _replace(Room, "doubt", lambda self: None),
    "commitment-to-another-deal": lambda: _replace(Secret, "commitment", lambda self, variant: "0" * 64),
    "another-layout-at-each-node": _other_layouts,
    "answers-lost": _lose_answers,
    "facts-lost": _lose_facts,
    "no-sweep": lambda: _replace(Upkeep, "sweep_once", _nothing),
    "no-seq-check": _function("if length ~= entry.seq then return {'stale', length} end"),
}
"""Each bug's name, and what plants it."""


def plant() -> None:
    """Plant the bug that the environment names, if it names one."""
    if name := os.environ.get(NAMED):
        PLANTS[name]()


def pytest_configure() -> None:
    """As a plugin of pytest: plant it into this process."""
    plant()


if __name__ == "__main__":
    from cellrace_client.cli import main

    plant()
    main()
