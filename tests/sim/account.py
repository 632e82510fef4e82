"""What must hold at the end of a run: the checker of the chaos run, and what only a simulation can look at."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgpack

from cellrace_server.recomputing import Recomputation
from cellrace_server.store import keys, open_store
from cellrace_server.store.connect import client_for
from cellrace_server.store.races import Secret
from tests.chaos.checker import check
from tests.chaos.history import History
from tests.sim.house import LASTING, SimNode
from tests.sim.loop import SimLoop
from tests.sim.store.keyspace import Hash
from tests.sim.store.server import URL, Store

LOOKS = 3
"""How often a node is looked at that still has something: a sweep under way holds a race for as long as it takes."""


@dataclass(frozen=True, slots=True)
class Sent:
    """Something that a process has sent to a player or to a node, and when by the store's clock."""

    at: int
    by: str
    data: bytes


async def accounts(
    history: History,
    nodes: Sequence[SimNode],
    loop: SimLoop,
    model: Store,
    sent: Sequence[Sent],
    logs: Sequence[str],
    patience: float,
) -> list[str]:
    """Everything that is wrong at the end of a run, one sentence each; what follows from the ends may take a while."""
    client = client_for(URL)
    store = await open_store(client, "checker")
    found: list[str] = []
    end = loop.now + patience
    while loop.now < end:
        # A late request may make an ended race due once more, for nothing; what is packed has all its effects.
        if not (
            left := [
                race for race in history.races if not model.space.find(keys.race(race).encode(), Hash).get(b"packed")
            ]
        ):
            break
        await asyncio.sleep(0.1)  # Until what follows from the ends is on record.
    else:
        found.append(f"what follows from the ends of {left} is not on record after {patience:g} s")
    found += await check(history, store.races)
    found += [f"recompute: {difference}" for difference in await Recomputation(store, fix=False).run()]
    for race_id in history.races:
        record, secret = await store.races.load(race_id), await store.races.secret(race_id)
        if record is not None and secret is not None:
            start_at = record.race.start_at if record.race.cancelled is None else None
            found += _leaks(race_id, secret, start_at, sent, model, logs)
    await store.clock.close()
    await client.aclose()
    left_over: list[str] = []
    for _ in range(LOOKS):
        await asyncio.sleep(0.5)
        left_over = [what for node in nodes for what in _rest(node, loop)]
        if not left_over:
            break
    return found + left_over


def _leaks(
    race: str, secret: Secret, start_at: int | None, sent: Sequence[Sent], model: Store, logs: Sequence[str]
) -> Iterator[str]:
    """Where a deal has been before its start. Its number may be that of another race, its salt is its own."""
    salt, number = secret.salt.encode(), (b"\xa4deal" + msgpack.packb(secret.deal), b'"deal":%d' % secret.deal)
    for one in sent:
        if start_at is not None and one.at >= start_at:
            break
        named = race.encode() in one.data and any(mark in one.data for mark in number)
        if one.by != "players" and (salt in one.data or named):
            yield f"{race}: {one.by} sent its deal {(start_at or 0) - one.at} ms before the start: {one.data[:300]!r}"
            return
    if any(salt in message for _, message in model.published):
        yield f"{race}: its deal was published"
    if any(secret.salt in line for line in logs):
        yield f"{race}: its deal was logged"


def _rest(node: SimNode, loop: SimLoop) -> Iterator[str]:
    """What a node without players still has."""
    if node.node is None:
        yield f"{node.name} does not run"
        return
    sessions, rooms = node.node.sessions, node.node.services.rooms
    if len(sessions):
        yield f"{node.name} has {len(sessions)} connections, and nobody is there"
    if len(rooms):
        yield f"{node.name} holds {len(rooms)} races that nobody hears"
    if extra := [name for name in loop.tasks_of(node.process) if name not in LASTING]:
        yield f"{node.name} has tasks left over: {extra}"
