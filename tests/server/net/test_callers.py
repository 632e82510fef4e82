"""Whose connection it is, and how many one address may have."""

from __future__ import annotations

import asyncio

import pytest
from click.testing import CliRunner
from websockets.exceptions import InvalidStatus

from cellrace_client.cli.serving import serve
from cellrace_server.app import running
from cellrace_server.config import Bounds, Config
from cellrace_server.net import callers
from cellrace_server.net.callers import FULL, Callers
from cellrace_server.net.hosts import check_origin
from tests.server.net.fetching import fetch
from tests.story.players import open_socket
from tests.waiting import eventually

PROXIES = ("10.0.0.0/8", "127.0.0.1", "fd00::/8")


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("203.0.113.7", (), "203.0.113.7"),
        ("203.0.113.7", ("198.51.100.1",), "203.0.113.7"),
        ("10.0.0.1", (), "10.0.0.1"),
        ("10.0.0.1", ("198.51.100.1",), "198.51.100.1"),
        ("10.0.0.1", ("1.1.1.1, 198.51.100.1",), "198.51.100.1"),
        ("10.0.0.1", ("1.1.1.1", "198.51.100.1, 10.2.0.9"), "198.51.100.1"),
        ("10.0.0.1", ("198.51.100.1:5123",), "198.51.100.1"),
        ("fd00::1", ('"[2001:db8::1]:99"',), "2001:db8::1"),
        ("::ffff:10.0.0.1", ("198.51.100.1",), "198.51.100.1"),
        ("10.0.0.1", ("198.51.100.1, nonsense",), "10.0.0.1"),
        ("10.0.0.1", ("", ","), "10.0.0.1"),
        ("10.0.0.1", ("127.0.0.1",), "127.0.0.1"),
    ],
)
def test_only_trusted_proxies_are_believed_and_of_each_only_the_last_word(
    peer: str, forwarded: tuple[str, ...], address: str
) -> None:
    assert Callers(Bounds(), PROXIES).address(peer, forwarded) == address


def test_without_a_trusted_proxy_nobody_is_believed() -> None:
    assert Callers(Bounds()).address("127.0.0.1", ("198.51.100.1",)) == "127.0.0.1"


def test_an_address_has_so_many_connections_and_gets_room_when_one_ends() -> None:
    one = Callers(Bounds(connections=2))
    for _ in range(2):
        assert one.knock("203.0.113.7", 0) == 0
        one.enter("203.0.113.7")
    assert one.knock("203.0.113.7", 0) == FULL
    assert one.knock("203.0.113.8", 0) == 0
    one.leave("203.0.113.7")
    assert one.knock("203.0.113.7", 0) == 0


def test_one_network_of_ipv6_is_one_address() -> None:
    one = Callers(Bounds(connections=1))
    one.enter("2001:db8::1")
    assert one.knock("2001:db8::2", 0) == FULL
    assert one.knock("2001:db8:0:1::2", 0) == 0


def test_handshakes_come_no_faster_than_they_may() -> None:
    one = Callers(Bounds(handshakes=2, handshakes_per_second=4))
    assert [one.knock("203.0.113.7", at) for at in (0, 0, 0)] == [0, 0, 0.25]
    assert one.knock("203.0.113.7", 0.25) == 0


def test_so_many_may_not_have_asked_for_anything_yet_and_a_proxy_is_not_held_back() -> None:
    bounded = Callers(Bounds(handshakes=2), PROXIES)
    assert [bounded.begin(f"2001:db8::{n}") for n in range(3)] == [True, True, False]
    assert bounded.begin("203.0.113.7")
    bounded.end("2001:db8::9")
    assert bounded.begin("2001:db8::1")
    for address in ("10.0.0.1", "127.0.0.1", "::1"):
        assert all(bounded.begin(address) for _ in range(3))


async def test_who_connects_and_asks_for_nothing_takes_nobody_elses_place(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over the socket: the one too many is let go at once, and whoever has gone or asked has left room."""
    monkeypatch.setattr(callers, "_is_here", lambda _: False)
    async with running(Config(port=0, redis=store_url, bounds=Bounds(handshakes=3))) as node:
        silent = [await asyncio.open_connection("127.0.0.1", node.port) for _ in range(4)]
        ended = [asyncio.create_task(reader.read()) for reader, _ in silent]
        await eventually(lambda: any(task.done() for task in ended))
        assert sum(task.done() for task in ended) == 1
        for _, writer in silent:
            writer.transport.abort()
        await asyncio.gather(*ended, return_exceptions=True)
        for _ in range(5):
            assert (await eventually(lambda: _fetched(node.port))) == 200


async def _fetched(port: int) -> int | None:
    try:
        return (await fetch(port, "/healthz")).status
    except (OSError, IndexError):
        return None  # The server has not heard yet that the others are gone.


def test_this_machine_is_not_held_back() -> None:
    one = Callers(Bounds(connections=1, handshakes=1))
    for address in ("127.0.0.1", "::1", "::ffff:127.0.0.1"):
        one.enter(address)
        assert [one.knock(address, 0) for _ in range(3)] == [0, 0, 0]


async def test_a_connection_too_many_is_told_so_and_a_place_that_is_left_is_free(store_url: str) -> None:
    """Over the socket, for the address that a trusted proxy tells."""
    config = Config(port=0, redis=store_url, trusted_proxies=("127.0.0.1",), bounds=Bounds(connections=2))
    async with running(config) as node:
        url = f"ws://127.0.0.1:{node.port}/ws"
        caller = {"X-Forwarded-For": "203.0.113.7"}
        sockets = [await open_socket(url, additional_headers=caller) for _ in range(2)]
        with pytest.raises(InvalidStatus) as refused:
            await open_socket(url, additional_headers=caller)
        assert refused.value.response.status_code == 429
        assert refused.value.response.headers["Retry-After"] == "10"
        other = await open_socket(url, additional_headers={"X-Forwarded-For": "203.0.113.8"})
        await sockets[0].close()
        again = await eventually(lambda: _try(url, caller))
        for socket in (sockets[1], other, again):
            await socket.close()


async def _try(url: str, headers: dict[str, str]) -> object:
    try:
        return await open_socket(url, additional_headers=headers)
    except InvalidStatus:
        return None


async def test_handshakes_that_fail_and_connections_cut_at_once_leave_no_trace(store_url: str) -> None:
    """Whoever ends badly gives the place back, too."""
    config = Config(port=0, redis=store_url, trusted_proxies=("127.0.0.1",), bounds=Bounds(connections=1))
    async with running(config) as node:
        upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: x")
        named = ("X-Forwarded-For: 203.0.113.7", "Sec-WebSocket-Protocol: cellrace.v1.json")
        for _ in range(5):
            await fetch(node.port, "/ws", headers=(*upgrade, *named))
            _, writer = await asyncio.open_connection("127.0.0.1", node.port)
            writer.write("\r\n".join(("GET /ws HTTP/1.1", "Host: here", *upgrade, *named, "", "")).encode())
            writer.transport.abort()
        url = f"ws://127.0.0.1:{node.port}/ws"
        socket = await eventually(lambda: _try(url, {"X-Forwarded-For": "203.0.113.7"}))
        await socket.close()  # type: ignore[attr-defined]  # it is one by now


@pytest.mark.parametrize("word", ["here", "10.0.0.0/99", ""])
def test_what_is_no_address_is_a_wrong_use(word: str) -> None:
    result = CliRunner().invoke(serve, ["--trusted-proxy", word])
    assert result.exit_code == 2
    assert "Write an address" in result.output


@pytest.mark.parametrize(
    ("told", "origin"),
    [
        ("https://example.com", "https://example.com"),
        ("HTTPS://Example.COM/", "https://example.com"),
        ("https://example.com:443", "https://example.com"),
        ("http://example.com:443", "http://example.com:443"),
        ("http://[::1]:80", "http://[::1]"),
        ("null", "null"),
    ],
)
def test_an_origin_is_taken_as_browsers_send_it(told: str, origin: str) -> None:
    assert check_origin(told) == origin


@pytest.mark.parametrize(
    "word", ["", "*", "example.com", "https://example.com/game", "https://*.example.com", "https://"]
)
def test_what_no_browser_would_ever_send_is_said(word: str) -> None:
    result = CliRunner().invoke(serve, ["--origin", word])
    assert result.exit_code == 2
    assert "https://example.com" in result.output
