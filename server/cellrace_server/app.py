"""One node, put together and taken apart again: the only place where all floors meet."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import platform
import secrets
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version

import structlog

from cellrace.messages import CloseCode
from cellrace_server.admission import Admission
from cellrace_server.attaching import attached
from cellrace_server.challenges import PREPARING, Challenges
from cellrace_server.competition import Competition
from cellrace_server.config import Config, data_directory
from cellrace_server.descriptors import raise_open_files
from cellrace_server.ending import end_with_parent, stop_signals, told_again
from cellrace_server.filler import Filler
from cellrace_server.first_lines import first_line, local_url, note_line, say_first
from cellrace_server.keeping import Guests, guests_of, kept
from cellrace_server.listing import Listing
from cellrace_server.lobby import Lobby
from cellrace_server.marking import AGAIN, finish_marks
from cellrace_server.matching import PAIRING, Matching
from cellrace_server.metrics import Metrics
from cellrace_server.moves import Mover
from cellrace_server.net.announcer import RoomAnnouncer
from cellrace_server.net.api import Api
from cellrace_server.net.callers import Callers
from cellrace_server.net.competing import CompetitionPages
from cellrace_server.net.draining import Draining
from cellrace_server.net.listening import Server, listen
from cellrace_server.net.queueing import enter_match, wait_again
from cellrace_server.net.readiness import reason_against
from cellrace_server.net.services import Services
from cellrace_server.net.sessions import COMPARISON, Sessions
from cellrace_server.net.web import Web
from cellrace_server.replays import Replays
from cellrace_server.rooms import Rooms
from cellrace_server.signing import KEY_FILE, Signer
from cellrace_server.store import Store
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.hearing import (
    BannedTold,
    FactTold,
    Hearing,
    MatchedTold,
    MovesTold,
    PresenceTold,
    SupersededTold,
    Telling,
)
from cellrace_server.tasks import Tasks
from cellrace_server.upkeep import Upkeep, repeat
from cellrace_server.workers import is_worker

SHUTDOWN = 2.5
"""Seconds for the clients to take leave at the end; with the last writes and the store's end less than five."""
LAST_WRITES = 0.4
"""Seconds for what is under way then to be written, and again to say that the node has left."""
COLLECTIONS = (25_000, 25, 25)
"""After how many new objects the collector looks at the young ones, and how seldom at the others."""
DAY = 24 * 3_600_000
"""ms."""

log = structlog.get_logger()


class Node:
    """A running node."""

    def __init__(
        self,
        server: Server,
        services: Services,
        sessions: Sessions,
        readiness: Callable[[], str | None],
        kept_by: str,
    ) -> None:
        self.services = services
        self.sessions = sessions
        self._server = server
        self.readiness = readiness
        """Tells why this node is not ready, or None."""
        self.kept_by = kept_by

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(next(iter(self._server.sockets)).getsockname()[1])

    async def drain(self, patience: float) -> None:
        """Take no new races, and wait so many seconds at most for those that are run here."""
        log.info("node drains", races=len(self.services.rooms))
        await self.services.draining.drain(self.services.rooms, self.services.store.clock, patience)


@asynccontextmanager
async def running(config: Config) -> AsyncIterator[Node]:
    """A node that listens until the block ends; then clients are told (1001) and everything is closed.

    Raises StoreError, KeyUnfit, CertificateUnfit, OSError when the port is taken.
    """
    node = f"{config.node or platform.node()}:{secrets.token_hex(4)}"
    # Carried on to every task of this node, so that each line of its log names it.
    structlog.contextvars.bind_contextvars(node=node)
    async with AsyncExitStack() as stack:
        kept, boards_kept = int(config.keep_days * DAY), int(config.keep_boards_days * DAY)
        store, kept_by, embedded = await stack.enter_async_context(
            attached(node, config.redis, config.data_dir, kept, boards_kept)
        )
        signer = await Signer.open(
            config.signing_key or data_directory(config.data_dir) / KEY_FILE,
            store.signing_keys,
            store.clock.now,
            make=config.signing_key is None,
        )
        tasks = Tasks()
        stack.push_async_callback(tasks.close)
        rooms = Rooms(store, RoomAnnouncer(store.clock.now), tasks)
        sessions = Sessions()

        def catch_up() -> None:
            rooms.catch_up()
            tasks.spawn(_compare(sessions, store), "compare the sessions")
            for session in sessions:
                if session.queued is not None or session.doubted is not None:
                    tasks.spawn(wait_again(session), "find a match")

        hearing = Hearing(store.link.redis, node, _hearer(rooms, sessions, tasks), catch_up)
        services = _services(config, node, store, rooms, signer, tasks)
        upkeep = Upkeep(store, rooms, catch_up)
        # Before the first connection: to other nodes its players would seem to be at a node that is dead.
        await store.nodes.beat(store.clock.now())

        def readiness() -> str | None:
            return reason_against(services, hearing, embedded)

        filler = Filler(store.deals.pool, config.pool, config.pool_workers)
        for work, name in (
            (store.committer.run(), "committer"),
            (upkeep.beat(), "beat"),
            (upkeep.sweep(), "sweep"),
            (upkeep.compare(), "compare"),
            (repeat(PAIRING, "no quick matches", services.matching.pair_all), "matching"),
            (repeat(PREPARING, "the days' deals are not drawn", services.challenges.prepare), "preparing"),
            (
                repeat(COMPARISON, "the sessions could not be compared", lambda: sessions.compare(store.players)),
                "fence",
            ),
            (repeat(AGAIN, "rows of new bots are not put right", lambda: finish_marks(store)), "marking"),
            (hearing.run(), "hearing"),
            (hearing.echo(), "echo"),
            (filler.run(), "filler"),
        ):
            tasks.spawn(work, name, lasting=True)
        metrics = Metrics(node, services, sessions, hearing, lambda: readiness() is None)
        server = await listen(config, services, sessions, _web(config, services, readiness, filler, metrics))
        stack.push_async_callback(_say_goodbye, server, services.store, sessions, tasks)
        stack.callback(lambda: log.info("node stops", connections=len(sessions), races=len(rooms)))
        started = Node(server, services, sessions, readiness, kept_by)
        log.info("node started", version=services.version, port=started.port, store=kept_by)
        yield started


def _services(config: Config, node: str, store: Store, rooms: Rooms, signer: Signer, tasks: Tasks) -> Services:
    admission = Admission(store, rooms, config.bounds, tasks)
    return Services(
        node=node.partition(":")[0],
        version=f"cellrace {version('cellrace')}",
        bounds=config.bounds,
        store=store,
        rooms=rooms,
        admission=admission,
        lobby=Lobby(store, rooms, admission, config.bounds),
        listing=Listing(store),
        challenges=Challenges(store, rooms, admission),
        competition=Competition(store),
        matching=Matching(store, rooms),
        mover=Mover(store, config.bounds.log_entries),
        replays=Replays(store, signer),
        draining=Draining(),
    )


def _web(
    config: Config,
    services: Services,
    readiness: Callable[[], str | None],
    filler: Filler,
    metrics: Metrics,
) -> Web:
    store, bounds = services.store, services.bounds
    pages = CompetitionPages(store, services.competition, services.challenges)
    api = Api(store, services.listing, services.replays, pages)
    callers = Callers(bounds, config.trusted_proxies)
    return Web(readiness, filler.detail, metrics.page, api, bounds, store.counts, callers)


def _hearer(rooms: Rooms, sessions: Sessions, tasks: Tasks) -> Callable[[Telling], None]:
    def hear(telling: Telling) -> None:
        match telling:
            case MatchedTold():
                session = sessions.find(telling.player, telling.sid)
                if session is not None:
                    tasks.spawn(enter_match(session, telling.race), "enter a match")
            case BannedTold():
                sessions.ban(telling.player)
            case SupersededTold():
                sessions.supersede(telling.player, telling.sid)
            case FactTold() | MovesTold() | PresenceTold():
                rooms.hear(telling)

    return hear


async def _compare(sessions: Sessions, store: Store) -> None:
    # Where the store does not answer, the next of the regular comparisons does it.
    with contextlib.suppress(StoreUnavailable):
        await sessions.compare(store.players)


async def _say_goodbye(server: Server, store: Store, sessions: Sessions, tasks: Tasks) -> None:
    server.close(close_connections=False)
    for session in sessions:
        session.close(CloseCode.GOING_AWAY)
    try:
        async with asyncio.timeout(SHUTDOWN):
            await server.wait_closed()
    except TimeoutError:
        log.warning("some clients did not take leave", connections=len(sessions))
    await tasks.close(LAST_WRITES)
    try:
        async with asyncio.timeout(LAST_WRITES):
            await store.nodes.leave(store.clock.now())
    except Exception as error:  # noqa: BLE001 - at the very end, what cannot be said is left to the others' patience
        log.debug("the end of this node is not on record", reason=str(error))


def spare_collections() -> None:
    """Let the garbage collector pass over all that stays, and look at the rest less often: a node stops meanwhile."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTIONS)


async def _first_of(*ways: Coroutine[object, object, None]) -> None:
    """Go whichever way ends first, and leave the others."""
    tasks = [asyncio.create_task(way, name="end") for way in ways]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def serve_until_told(config: Config, guests: Guests | None = None) -> None:
    """Run a node until SIGTERM or SIGINT, or until the second where it drains.

    The first line printed says where it listens and what keeps its data.
    """
    stop = stop_signals()
    raise_open_files()
    if is_worker():
        await end_with_parent(stop)
    async with running(config) as node:
        spare_collections()
        say_first(first_line(config, node.port, node.kept_by), None if is_worker() else note_line(config))
        async with kept(guests_of(guests, local_url(config, node.port))):
            await stop.wait()
            if config.drain:
                await _first_of(node.drain(config.drain), told_again(stop))
    sys.stderr.flush()
