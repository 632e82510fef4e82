"""A connection: requests matched, drops survived, ends told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from cellrace.errors import BadMessage, ErrorCode, Reason, Refused
from cellrace.messages import Hello, Ping, RaceCreate, RaceSync, SettingsRequest
from cellrace_client.connection import Connection, connect, server_url
from cellrace_client.errors import Closed, Unreachable
from cellrace_client.events import Back, Dropped, Happened, Lost, Synced
from tests.client.fake_server import BOB, NOW, FakeServer, Peer, fake_server, race, running, settings


@asynccontextmanager
async def connected(server: FakeServer, waits: list[float] | None = None, **options: Any) -> AsyncIterator[Connection]:
    """A connection whose waits take no time and are noted down."""

    async def note(seconds: float) -> None:
        if waits is not None:
            waits.append(seconds)
        await asyncio.sleep(0)

    connection = Connection(server.url, Hello(name="Ann"), sleep=note, draw=lambda: 0.5, **options)
    try:
        await connection.open()
        yield connection
    finally:
        await connection.close()


@pytest.mark.parametrize("subprotocol", ["msgpack", "json"])
async def test_speaks_both_subprotocols(subprotocol: str) -> None:
    """A race is created and a refusal told over either subprotocol."""

    async def script(peer: Peer) -> None:
        hello = await peer.welcome()
        assert hello == {"type": "hello", "name": "Ann", "client": "test 1"}
        create = await peer.expect("race.create")
        assert create["settings"] == {"variant": "two-suit", "seats": 1}
        await peer.answer(create, "race", **race(settings=settings(variant="two-suit", seats=1)))
        await peer.refuse(await peer.expect("race.start"), "too_few")
        await peer.linger()

    async with (
        fake_server(script) as server,
        connect(server.url, name="Ann", client="test 1", subprotocol=subprotocol) as c,
    ):
        assert (c.player.name, c.token, c.node) == ("Ann", "t0", "n1")
        view = await c.create(SettingsRequest(variant="two-suit", seats=1))
        assert view.settings.seats == 1
        with pytest.raises(Refused) as refused:
            await c.start(view.race)
        assert refused.value.code == ErrorCode.TOO_FEW


async def test_answers_find_their_requests_by_re() -> None:
    """Pipelined requests get their own answers, and pushes in between go to the events."""

    async def script(peer: Peer) -> None:
        await peer.welcome()
        first, second = await peer.expect("race.sync"), await peer.expect("race.sync")
        await peer.answer(first, "race", **race("r1"))
        await peer.send({"type": "race.ready", "race": "r1", "version": 2, "now": NOW, "player": "p1", "ready": True})
        await peer.answer(second, "race", **race("r2"))
        await peer.linger()

    async with fake_server(script) as server, connect(server.url) as c:
        answers = await asyncio.gather(c.request(RaceSync(race="r1")), c.request(RaceSync(race="r2")))
        assert [answer.race for answer in answers] == ["r1", "r2"]
        event = await anext(c.events())
        assert isinstance(event, Happened)
        assert event.view.me is not None
        assert event.view.me.status == "ready"


async def test_a_refused_move_tells_all_of_the_error() -> None:
    """The fields of `error` are those of Refused."""

    async def script(peer: Peer) -> None:
        await peer.welcome("r1")
        await peer.answer(await peer.expect("race.sync"), "race", **running("r1"))
        move = await peer.expect("move")
        assert (move["seq"], move["moves"]) == (0, ["7a", "7a"])
        await peer.refuse(move, "illegal_move", index=1, move="7a", reason="cell_full", seq=0)
        await peer.linger()

    async with fake_server(script) as server, connect(server.url) as c:
        with pytest.raises(Refused) as refused:
            await c.move("r1", "7a", "7a")
        assert (refused.value.index, refused.value.move, refused.value.reason, refused.value.seq) == (
            1,
            "7a",
            Reason.CELL_FULL,
            0,
        )


async def test_moves_may_be_sent_before_the_last_are_answered() -> None:
    """`seq` counts what is known and what is on its way; the own game follows the answers."""

    async def script(peer: Peer) -> None:
        await peer.welcome("r1")
        await peer.answer(await peer.expect("race.sync"), "race", **running("r1"))
        first, second = await peer.expect("move"), await peer.expect("move")
        assert (first["seq"], second["seq"]) == (0, 2)
        await peer.answer(first, "moved", race="r1", seq=2, steps=[["1a"], ["2b"]], home=0, at=10, won=False)
        await peer.answer(second, "moved", race="r1", seq=3, steps=[["u"]], home=0, at=20, won=False)
        await peer.linger()

    async with fake_server(script) as server, connect(server.url) as c:
        await asyncio.gather(c.move("r1", "1a", "2b"), c.undo("r1"))
        view = c.view("r1")
        assert view.log == ("1a", "2b", "u")
        assert view.game is not None
        assert (view.game.moves, view.game.undos) == (2, 1)


async def test_an_unanswered_move_is_repeated_with_the_same_seq() -> None:
    """After a drop the client says hello with its token, asks for its race, and repeats the move unchanged."""
    moves = []

    async def first(peer: Peer) -> None:
        await peer.welcome("r1")
        await peer.answer(await peer.expect("race.sync"), "race", **running("r1"))
        moves.append(await peer.expect("move"))
        peer.socket.transport.abort()

    async def second(peer: Peer) -> None:
        hello = await peer.welcome("r1", token=None)
        assert hello == {"type": "hello", "token": "t0"}
        requests = {}
        for _ in range(2):
            request = await peer.next()
            requests[request["type"]] = request
        moves.append(requests["move"])
        await peer.answer(requests["move"], "moved", race="r1", seq=1, steps=[["1a"]], home=0, at=10, won=False)
        await peer.answer(requests["race.sync"], "race", **running("r1", "1a", version=7))
        await peer.linger()

    waits: list[float] = []
    async with fake_server(first, second) as server, connected(server, waits) as c:
        moved = await c.move("r1", "1a")
        assert moved.seq == 1
        assert moves[0] == moves[1]
        kinds = []
        async for event in c.events():
            kinds.append(type(event))
            if isinstance(event, Synced) and event.view.version == 7:
                break
        assert kinds[-3:] == [Dropped, Back, Synced]
        assert c.view("r1").log == ("1a",)
        assert c.token == "t0"
    assert len(waits) == 1


async def test_a_create_without_an_answer_is_found_among_the_races() -> None:
    """A race that was created before the drop is not created twice."""

    async def first(peer: Peer) -> None:
        await peer.welcome()
        await peer.expect("race.create")
        await peer.expect("race.create")
        await peer.close(4001)

    async def second(peer: Peer) -> None:
        await peer.welcome("r9", token=None)
        await peer.answer(await peer.expect("race.sync"), "race", **race("r9", settings=settings(seats=3)))
        again = await peer.expect("race.create")
        assert again["settings"] == {"seats": 4}
        await peer.answer(again, "race", **race("r10", settings=settings(seats=4)))
        await peer.linger()

    async with fake_server(first, second) as server, connected(server) as c:
        views = await asyncio.gather(c.create(SettingsRequest(seats=3)), c.create(SettingsRequest(seats=4)))
        assert [view.race for view in views] == ["r9", "r10"]


async def test_a_repeated_start_that_is_already_so_is_ok() -> None:
    """A start whose answer was lost is repeated; `already_started` then says that it worked."""

    async def first(peer: Peer) -> None:
        await peer.welcome()
        await peer.expect("race.start")
        peer.socket.transport.abort()

    async def second(peer: Peer) -> None:
        await peer.welcome(token=None)
        await peer.refuse(await peer.expect("race.start"), "already_started")
        await peer.refuse(await peer.expect("race.start"), "already_started")
        await peer.linger()

    async with fake_server(first, second) as server, connected(server) as c:
        await c.start("r1")
        with pytest.raises(Refused):
            await c.start("r1")


@pytest.mark.parametrize("code", ["retry_later", "rate_limited"])
async def test_waits_as_long_as_the_server_says_and_repeats(code: str) -> None:
    """`retry_later` and `rate_limited` hold everything back for `retry_after`, and moves keep their order."""

    async def script(peer: Peer) -> None:
        await peer.welcome("r1")
        await peer.answer(await peer.expect("race.sync"), "race", **running("r1"))
        first, second = await peer.expect("move"), await peer.expect("move")
        await peer.refuse(first, code, retry_after=20)
        await peer.refuse(second, "stale", seq=0)
        again, after = await peer.expect("move"), await peer.expect("move")
        assert (again, after) == (first, second)
        await peer.answer(again, "moved", race="r1", seq=1, steps=[["1a"]], home=0, at=10, won=False)
        await peer.answer(after, "moved", race="r1", seq=2, steps=[["2b"]], home=0, at=20, won=False)
        await peer.linger()

    waits: list[float] = []
    async with fake_server(script) as server, connected(server, waits) as c:
        await asyncio.gather(c.move("r1", "1a"), c.move("r1", "2b"))
        assert c.view("r1").log == ("1a", "2b")
    assert waits
    assert max(waits) == pytest.approx(0.020 * 1.125, abs=0.005)


async def test_comes_back_within_five_seconds_after_a_restart() -> None:
    """1001 spreads the clients over five seconds, then tries again and again."""

    async def first(peer: Peer) -> None:
        await peer.welcome()
        await peer.close(1001)

    async def second(peer: Peer) -> None:
        await peer.welcome(token=None)
        await peer.linger()

    waits: list[float] = []
    async with fake_server(first, second) as server, connected(server, waits) as c:
        events = c.events()
        dropped = await anext(events)
        assert isinstance(dropped, Dropped)
        assert (dropped.close_code, dropped.wait) == (1001, 2.5)
        assert isinstance(await anext(events), Back)
    assert waits[0] == 2.5


@pytest.mark.parametrize(
    ("code", "word"), [(4100, "elsewhere"), (4102, "rate limit"), (4104, "banned"), (4177, "later versions")]
)
async def test_41xx_ends_it_for_good(code: int, word: str) -> None:
    """A client does not come back by itself; requests and events say why."""

    async def script(peer: Peer) -> None:
        await peer.welcome()
        await peer.expect("race.sync")
        await peer.close(code, "a code of later versions")

    async with fake_server(script) as server, connected(server) as c:
        with pytest.raises(Closed, match=word) as closed:
            await c.sync("r1")
        assert closed.value.close_code == code
        with pytest.raises(Closed, match=word):
            await c.ping()
        with pytest.raises(Closed, match=word):
            async for _ in c.events():
                pass
        assert server.connections == 1


async def test_a_bad_token_is_told() -> None:
    """A token that the server does not know is refused, not tried again."""

    async def script(peer: Peer) -> None:
        await peer.refuse(await peer.expect("hello"), "bad_token")
        await peer.close(4101)

    async with fake_server(script) as server:
        with pytest.raises(Refused) as refused:
            async with connect(server.url, token="wrong"):
                pass
        assert refused.value.code == ErrorCode.BAD_TOKEN


async def test_no_server_is_told_in_a_sentence() -> None:
    """Where nothing listens, one sentence says so at once."""
    async with fake_server() as server:
        url = server.url
    with pytest.raises(Unreachable, match="nothing listens there"):
        async with connect(url):
            pass


async def test_a_patient_client_waits_for_its_server() -> None:
    """With patience the first connection is tried again."""

    async def cut(peer: Peer) -> None:
        peer.socket.transport.abort()

    async def script(peer: Peer) -> None:
        await peer.welcome()
        await peer.linger()

    async with fake_server(cut, cut, script) as server, connected(server, patience=10.0) as c:
        assert c.player.name == "Ann"


async def test_a_gap_in_the_facts_is_filled_by_sync() -> None:
    """A version too early makes the client ask once; what the answer holds is not told again."""

    async def script(peer: Peer) -> None:
        await peer.welcome("r1")
        await peer.answer(await peer.expect("race.sync"), "race", **race("r1"))
        for version in (3, 4):
            await peer.send(
                {"type": "race.ready", "race": "r1", "version": version, "now": NOW, "player": "p1", "ready": True}
            )
        sync = await peer.expect("race.sync")
        await peer.answer(sync, "race", **race("r1", version=4))
        await peer.send({"type": "race.joined", "race": "r1", "version": 5, "now": NOW, "player": BOB})
        await peer.linger()

    async with fake_server(script) as server, connect(server.url) as c:
        events = c.events()
        first, second, third = [await anext(events) for _ in range(3)]
        assert isinstance(first, Synced)
        assert isinstance(second, Synced)
        assert (first.view.version, second.view.version) == (1, 4)
        assert isinstance(third, Happened)
        assert [rival.player.name for rival in third.view.rivals] == ["Bob"]


async def test_a_race_that_the_server_knows_no_more_is_lost() -> None:
    """After a drop a race may be gone; that is told, and waiting for it ends."""

    async def first(peer: Peer) -> None:
        await peer.welcome("r1")
        await peer.answer(await peer.expect("race.sync"), "race", **race("r1"))
        await peer.close(4001)

    async def second(peer: Peer) -> None:
        await peer.welcome(token=None)
        await peer.refuse(await peer.expect("race.sync"), "no_such_race")
        await peer.linger()

    async with fake_server(first, second) as server, connected(server) as c:
        with pytest.raises(Refused):
            await c.view_where("r1", lambda view: view.ended)
        kinds = [type(await anext(c.events())) for _ in range(4)]
        assert kinds == [Synced, Dropped, Back, Lost]


async def test_a_spectator_watches_again_after_a_drop() -> None:
    """`race.watch` is asked again on the new connection."""

    async def first(peer: Peer) -> None:
        await peer.welcome()
        watch = await peer.expect("race.watch")
        assert watch["code"] == "ABCD2345"
        await peer.answer(watch, "race", **running("r1"))
        await peer.close(4000)

    async def second(peer: Peer) -> None:
        await peer.welcome(token=None)
        watch = await peer.expect("race.watch")
        assert watch["code"] == "ABCD2345"
        await peer.answer(watch, "race", **running("r1"))
        await peer.linger()

    async with fake_server(first, second) as server, connected(server) as c:
        await c.watch(code="ABCD2345")
        async for event in c.events():
            if isinstance(event, Synced):
                break


async def test_messages_of_later_versions_are_passed_over() -> None:
    """An unknown push is ignored; an answer that cannot be read fails its request and no other."""

    async def script(peer: Peer) -> None:
        await peer.welcome()
        await peer.send({"type": "race.fireworks", "race": "r1", "colour": "red"})
        create = await peer.expect("race.create")
        await peer.answer(create, "race", race="r1", shape="round")
        await peer.answer(await peer.expect("race.create"), "race", **race("r2"), fireworks=True)
        await peer.linger()

    async with fake_server(script) as server, connect(server.url) as c:
        with pytest.raises(BadMessage):
            await c.create()
        assert (await c.create()).race == "r2"


async def test_the_race_clock_is_told() -> None:
    """`clock.now` follows the server's `now`, however wrong the local clock is."""

    async def script(peer: Peer) -> None:
        await peer.welcome()
        await peer.linger()

    local = 5.0
    async with fake_server(script) as server, connected(server, local=lambda: local) as c:
        assert c.clock.now() == NOW
        local += 1.5
        assert c.clock.now() == NOW + 1500


async def test_a_server_that_answers_wrongly_is_told() -> None:
    """An answer of another kind is no answer."""

    async def script(peer: Peer) -> None:
        await peer.welcome()
        await peer.answer(await peer.expect("race.create"), "ok")
        await peer.linger()

    async with fake_server(script) as server, connect(server.url) as c:
        with pytest.raises(BadMessage, match="RaceCreate with Ok"):
            await c.request(RaceCreate())


async def test_what_is_too_large_is_not_sent() -> None:
    """A frame that the server would close for is refused here."""

    async def script(peer: Peer) -> None:
        await peer.welcome()
        await peer.linger()

    async with fake_server(script) as server, connect(server.url) as c:
        with pytest.raises(BadMessage, match="larger"):
            await c.join(code="A" * 20_000)
        with pytest.raises(BadMessage):
            await c.join(code="\ud800")


async def test_closing_fails_what_is_not_answered() -> None:
    """Whoever still waits when the connection is closed is told."""

    async def script(peer: Peer) -> None:
        await peer.welcome()
        await peer.expect("race.sync")
        await peer.linger()

    async with fake_server(script) as server:
        async with connect(server.url) as c:
            waiting = asyncio.create_task(c.sync("r1"))
            await asyncio.sleep(0)
        with pytest.raises(Closed):
            await waiting
        with pytest.raises(Closed):
            await c.request(Ping())


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("localhost", "ws://localhost:8765/ws"),
        ("192.168.1.5:9000", "ws://192.168.1.5:9000/ws"),
        ("[::1]", "ws://[::1]:8765/ws"),
        ("http://race.example", "ws://race.example/ws"),
        ("wss://race.example/", "wss://race.example/ws"),
        ("ws://race.example:1/game/ws", "ws://race.example:1/game/ws"),
    ],
)
def test_servers_are_named_as_people_type_them(typed: str, url: str) -> None:
    """A host is enough."""
    assert server_url(typed) == url
