"""A connection: both subprotocols, requests matched, the clock, the end."""

from __future__ import annotations

import asyncio
import errno
import os
import socket

import pytest
from websockets.asyncio.server import serve
from websockets.typing import Subprotocol

from cellrace.errors import BadMessage, ErrorCode, Reason, Refused
from cellrace.messages import ClientMessage, Ghost, Hello, Ping, RaceCreate, RaceSync, ServerAnswer, SettingsRequest
from cellrace_client.connection import Connection, connect, is_of_this_machine, server_url, short_address
from cellrace_client.connection.wire import unwelcome, why_unreachable
from cellrace_client.errors import Closed, Obstacle, Unreachable
from cellrace_client.events import Happened
from tests.client.connecting import connected
from tests.client.fake_server import ANN, BOB, NOW, Peer, entrant, fake_server, race, running, settings
from tests.client.views import an_answer


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


async def test_a_newcomer_who_is_to_wait_for_long_is_told_so_at_once() -> None:
    """What the server says, not that it does not answer."""

    async def script(peer: Peer) -> None:
        await peer.refuse(await peer.expect("hello"), "rate_limited", retry_after=600_000)
        await peer.linger()

    async with fake_server(script) as server:
        with pytest.raises(Refused) as refused:
            async with connect(server.url):
                pass
        assert (refused.value.code, refused.value.retry_after) == (ErrorCode.RATE_LIMITED, 600_000)


async def test_who_has_the_patience_for_it_waits_as_long_as_the_server_says() -> None:
    """A bot that races for ever comes in when it may."""

    async def refusing(peer: Peer) -> None:
        await peer.refuse(await peer.expect("hello"), "rate_limited", retry_after=600_000)
        await peer.linger()

    async def letting_in(peer: Peer) -> None:
        await peer.welcome()
        await peer.linger()

    waits: list[float] = []
    async with fake_server(refusing, letting_in) as server, connected(server, waits, patience=1000.0):
        assert waits == [600.0]


async def test_a_server_of_another_version_is_told_as_that() -> None:
    """One that offers none of our subprotocols, answers with none, or says so in its welcome."""

    async def later(peer: Peer) -> None:
        await peer.welcome(version=2)
        await peer.linger()

    async def told(url: str) -> Unreachable:
        with pytest.raises(Unreachable) as unreachable:
            async with connect(url, patience=10.0):
                pass
        return unreachable.value

    async with fake_server(later) as server:
        assert (await told(server.url)).obstacle is Obstacle.VERSION
    for offered in (None, [Subprotocol("cellrace.v2.json")]):
        async with serve(lambda socket: socket.wait_closed(), "127.0.0.1", 0, subprotocols=offered) as other:
            port = next(iter(other.sockets)).getsockname()[1]
            unreachable = await told(f"ws://127.0.0.1:{port}/ws")
            assert (unreachable.obstacle, unreachable.final) == (Obstacle.VERSION, True)


def test_what_a_server_says_by_http_is_told_in_words() -> None:
    """JSON of ours by its message, anything else as it stands."""
    assert "too many connections come from your address." in str(unwelcome("ws://x", 429, b'{"code":"rate_limited"}'))
    assert "HTTP" not in str(unwelcome("ws://x", 503, b"<html>"))
    assert "it answered HTTP 404 (No.)." in str(unwelcome("ws://x", 404, b'{"code":"not_found","message":"No."}'))
    for body in (b"<html>", b"[]", b"1", b"{}", b"\xff", b"[" * 3000):
        assert "it answered HTTP 502 (" in str(unwelcome("ws://x", 502, body))
    assert "it answered HTTP 502." in str(unwelcome("ws://x", 502))


async def test_the_players_of_ghosts_are_found_by_their_names() -> None:
    """In a race of one's own as in one that anybody may see; what is not found is left to the server."""
    wanted = [("r1", "BOB"), ("r2", "Bob"), ("r3", "Bob"), ("r1", "p2"), ("r1", "Cy")]
    over: dict[str, object] = {"entrants": [entrant(ANN, "won"), entrant(BOB, "won")]}

    async def script(peer: Peer) -> None:
        await peer.welcome()
        await peer.refuse(await peer.expect("race.create"), "bad_settings", field="ghosts")
        await peer.answer(await peer.expect("race.sync"), "race", **race("r1", "over", **over))
        await peer.refuse(await peer.expect("race.sync"), "not_allowed")
        await peer.answer(await peer.expect("race.watch"), "race", **race("r2", "over", **over))
        await peer.answer(await peer.expect("race.unwatch"), "ok")
        for asked in ("race.sync", "race.watch"):
            await peer.refuse(await peer.expect(asked), "no_such_race")
        create = await peer.expect("race.create")
        found = [(ghost["race"], ghost["player"]) for ghost in create["settings"]["ghosts"]]
        assert found == [("r1", "p2"), ("r2", "p2"), ("r3", "Bob"), ("r1", "p2"), ("r1", "Cy")]
        await peer.refuse(create, "bad_settings", field="ghosts")
        await peer.refuse(await peer.expect("race.create"), "bad_settings", field="deal")
        await peer.linger()

    async with fake_server(script) as server, connected(server) as c:
        ghosts = SettingsRequest(ghosts=tuple(Ghost(race=race, player=player) for race, player in wanted))
        for field in ("ghosts", "deal"):
            with pytest.raises(Refused) as refused:
                await c.create(ghosts)
            assert refused.value.field == field
        assert "r2" not in c.races


async def test_no_server_is_told_in_a_sentence() -> None:
    """Where nothing listens, one sentence says so at once."""
    async with fake_server() as server:
        url = server.url
    with pytest.raises(Unreachable, match="nothing listens there"):
        async with connect(url):
            pass


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


@pytest.mark.parametrize(
    ("failed", "why"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connect call failed ('127.0.0.1', 1)"), "nothing listens there"),
        (
            OSError(
                f"Multiple exceptions: [Errno {errno.ECONNREFUSED}] Connect call failed ('::1', 1, 0, 0), "
                f"[Errno {errno.ECONNREFUSED}] Connect call failed ('127.0.0.1', 1)"
            ),
            "nothing listens there",
        ),
        (OSError(errno.EHOSTUNREACH, "Connect call failed ('10.0.0.9', 1)"), os.strerror(errno.EHOSTUNREACH)),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "Name or service not known"),
        (TimeoutError(), "it does not answer"),
        (OSError("Multiple exceptions: [Errno 1] a, [Errno 2] b"), "Multiple exceptions: [Errno 1] a, [Errno 2] b"),
        (ConnectionResetError(), os.strerror(errno.ECONNRESET)),
        (EOFError(), "EOFError"),
    ],
)
def test_why_nobody_answers_is_told_in_words(failed: Exception, why: str) -> None:
    """Without numbers of the system's, and for a name with several addresses as for one."""
    assert why_unreachable(failed) == why


@pytest.mark.parametrize(
    ("url", "short"),
    [
        ("ws://192.168.1.5:8765/ws", "192.168.1.5"),
        ("ws://races.example:9000/ws", "races.example:9000"),
        ("ws://[fe80::1]:8765/ws", "[fe80::1]"),
        ("ws://races.example/ws", "ws://races.example"),
        ("wss://races.example/ws", "wss://races.example"),
        ("wss://races.example:8765/ws", "wss://races.example:8765"),
        ("ws://races.example:8765/races", "races.example:8765/races"),
        ("ws://races.example:8765/", "ws://races.example:8765/"),
    ],
)
def test_addresses_are_told_as_short_as_they_can_be_typed(url: str, short: str) -> None:
    """And lead to the same place."""
    assert short_address(url) == short
    assert server_url(short) == server_url(url)


@pytest.mark.parametrize(
    ("server", "here"),
    [("localhost", True), ("127.0.0.1:9000", True), ("[::1]", True), ("wss://localhost", True), ("10.0.0.1", False)],
)
def test_an_address_leads_to_this_machine_or_elsewhere(server: str, here: bool) -> None:
    """By its name."""
    assert is_of_this_machine(server_url(server)) is here


async def test_a_server_without_a_certificate_is_told_from_one_with_it() -> None:
    """Whoever writes wss:// hears what to write."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(Unreachable, match="its address begins with ws://"):
            async with connect(f"wss://127.0.0.1:{port}/ws"):
                pass


async def test_a_race_that_is_lost_with_its_answer_is_refused() -> None:
    """What came right after the answer has made the race unknown, or there are too many that have ended."""

    class Forgetful(Connection):
        async def exchange(self, request: ClientMessage) -> ServerAnswer:
            return an_answer()

    connection = Forgetful("ws://nowhere", Hello())
    for asked in (connection.create(), connection.join("r1"), connection.sync("r1"), connection.watch("r1")):
        with pytest.raises(Refused) as refused:
            await asked
        assert refused.value.code == ErrorCode.NO_SUCH_RACE
