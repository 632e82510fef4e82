"""A connection that is cut, refused or closed: it comes back, repeats, or says why it does not."""

from __future__ import annotations

import asyncio

import pytest

from cellrace.errors import Refused
from cellrace.messages import Hello, SettingsRequest
from cellrace_client.connection import Connection, connect
from cellrace_client.errors import Closed, Unreachable
from cellrace_client.events import TAKEN_OUT, Back, Dropped, Happened, Lost, Synced
from tests.client.connecting import Standing, connected, noted
from tests.client.fake_server import ANN, BOB, NOW, Peer, entrant, fake_server, race, running, settings
from tests.waiting import eventually


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


@pytest.mark.parametrize("state", ["running", "over"])
async def test_an_attempt_that_was_begun_without_an_answer_is_gone_on_with(state: str) -> None:
    """Its hour runs from the time it was first asked for; one that has ended is refused."""

    async def script(peer: Peer) -> None:
        await peer.welcome()
        await peer.refuse(await peer.expect("daily.start"), "retry_later", retry_after=1)
        await peer.refuse(await peer.expect("daily.start"), "already_attempted", race="r9")
        daily = running("r9", "1a") | {"kind": "daily", "state": state}
        await peer.answer(await peer.expect("race.sync"), "race", **daily)
        await peer.linger()

    async with fake_server(script) as server, connected(server) as c:
        if state == "running":
            assert (await c.start_daily()).log == ("1a",)
        else:
            with pytest.raises(Refused, match="already_attempted"):
                await c.start_daily()


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
    async with fake_server(script) as server, connected(server, waits, clock=Standing()) as c:
        await asyncio.gather(c.move("r1", "1a"), c.move("r1", "2b"))
        assert c.view("r1").log == ("1a", "2b")
    assert waits == [pytest.approx(0.020 * 1.125)]


async def test_waits_no_longer_than_anybody_would() -> None:
    """Whatever a server says: nothing would ever be sent again, not even after it has been mended."""

    async def script(peer: Peer) -> None:
        await peer.welcome("r1")
        await peer.answer(await peer.expect("race.sync"), "race", **running("r1"))
        await peer.refuse(await peer.expect("move"), "retry_later", retry_after=10**15)
        await peer.linger()

    waits: list[float] = []
    async with fake_server(script) as server, connected(server, waits) as c:
        move = asyncio.create_task(c.move("r1", "1a"))
        await eventually(lambda: waits)
        assert waits[0] <= 75
        move.cancel()


async def test_who_is_to_wait_for_long_is_told_so_at_once_and_holds_nothing_else_up() -> None:
    """Whoever has tried too many wrong codes: what is asked next is answered as ever."""

    async def script(peer: Peer) -> None:
        await peer.welcome()
        await peer.refuse(await peer.expect("race.join"), "rate_limited", retry_after=600_000)
        await peer.answer(await peer.expect("race.list"), "races", races=[])
        await peer.linger()

    waits: list[float] = []
    async with fake_server(script) as server, connected(server, waits) as c:
        with pytest.raises(Refused) as refused:
            await c.join(code="22222222")
        assert (refused.value.code, refused.value.retry_after) == ("rate_limited", 600_000)
        assert await c.list_races() == ()
    assert waits == []


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


async def test_a_patient_client_waits_for_its_server() -> None:
    """With patience the first connection is tried again."""

    async def cut(peer: Peer) -> None:
        peer.socket.transport.abort()

    async def script(peer: Peer) -> None:
        await peer.welcome()
        await peer.linger()

    async with fake_server(cut, cut, script) as server, connected(server, patience=10.0, clock=Standing()) as c:
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


@pytest.mark.parametrize(("player", "told"), [("p1", TAKEN_OUT), ("p2", "No: not_allowed.")])
async def test_whoever_was_taken_out_of_a_race_while_away_is_told_that(player: str, told: str) -> None:
    """The server says no more than that it may not be seen; to somebody who was not in it that is all."""
    entrants = [entrant(ANN if player == "p1" else BOB)]

    async def first(peer: Peer) -> None:
        await peer.welcome("r1")
        await peer.answer(await peer.expect("race.sync"), "race", **race("r1", entrants=entrants))
        peer.socket.transport.abort()

    async def second(peer: Peer) -> None:
        await peer.welcome(token=None)
        await peer.refuse(await peer.expect("race.sync"), "not_allowed")
        await peer.linger()

    async with fake_server(first, second) as server, connected(server) as c:
        async for event in c.events():
            if isinstance(event, Lost):
                assert event == Lost("r1", told)
                break


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


async def test_of_several_servers_the_next_is_tried_at_once_where_one_is_not_reached() -> None:
    """Nodes of one server: the player comes back at another, with the same token, and stays there."""

    async def first(peer: Peer) -> None:
        await peer.welcome()
        await peer.close(4001)

    async def second(peer: Peer) -> None:
        hello = await peer.welcome(token=None)
        assert hello["token"] == "t0"
        await peer.close(4001)

    async def third(peer: Peer) -> None:
        await peer.welcome(token=None)
        await peer.linger()

    waits: list[float] = []
    async with fake_server(first) as gone, fake_server(second, third) as server:
        connection = Connection([gone.url, server.url], Hello(name="Ann"), sleep=noted(waits), draw=lambda: 0.5)
        await connection.open()
        events = connection.events()
        kinds = [type(await anext(events)) for _ in range(4)]
        await connection.close()
        assert connection.url == server.url
    assert kinds == [Dropped, Back, Dropped, Back]
    assert len(waits) == 2


async def test_of_several_servers_none_is_there() -> None:
    """What can change is told, not what cannot: one of them may come back."""
    with pytest.raises(Unreachable, match="nothing listens") as unreachable:
        async with connect(["ws://127.0.0.1:99999/ws", "ws://127.0.0.1:1/ws"]):
            pass
    assert not unreachable.value.final
