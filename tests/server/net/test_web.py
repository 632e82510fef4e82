"""The port's other face: handshakes that are not ours, and whether the node lives and is ready (protocol, 1 and 7)."""

from __future__ import annotations

import asyncio

import pytest
from websockets.exceptions import InvalidStatus

from cellrace_server.app import Node, running
from cellrace_server.config import Config
from cellrace_server.store.hearing import Hearing
from tests.server.net.fetching import fetch
from tests.story.players import JSON, MSGPACK, open_socket
from tests.waiting import eventually

UPGRADE = (
    "Connection: keep-alive, Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        ((MSGPACK,), MSGPACK),
        ((JSON,), JSON),
        ((JSON, MSGPACK), JSON),
        ((MSGPACK, JSON), MSGPACK),
        (("cellrace.v9.msgpack", "chat", JSON, MSGPACK), JSON),
    ],
)
async def test_the_clients_first_subprotocol_that_is_known_is_taken(
    url: str, offered: tuple[str, ...], chosen: str
) -> None:
    socket = await open_socket(url, *offered)
    assert socket.subprotocol == chosen
    await socket.close()


@pytest.mark.parametrize("offered", [(), ("chat",), ("cellrace.v1",), ("CELLRACE.V1.JSON",)])
async def test_without_one_that_is_known_both_are_named(node: Node, offered: tuple[str, ...]) -> None:
    header = (f"Sec-WebSocket-Protocol: {', '.join(offered)}",) if offered else ()
    fetched = await fetch(node.port, "/ws", headers=(*UPGRADE, *header))
    assert fetched.status == 400
    assert MSGPACK.encode() in fetched.body
    assert JSON.encode() in fetched.body


async def test_subprotocols_may_be_offered_in_several_headers(node: Node) -> None:
    headers = [f"Sec-WebSocket-Protocol: {name}" for name in ("chat", JSON)]
    reader, writer = await asyncio.open_connection("127.0.0.1", node.port)
    writer.write("\r\n".join(("GET /ws HTTP/1.1", "Host: here", *UPGRADE, *headers, "", "")).encode())
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)
    writer.close()
    assert b" 101 " in head
    assert f"Sec-WebSocket-Protocol: {JSON}".encode() in head


async def test_a_plain_request_for_the_socket_is_told_to_upgrade(node: Node) -> None:
    for method in ("GET", "HEAD"):
        fetched = await fetch(node.port, "/ws", method)
        assert fetched.status == 426
        assert fetched.headers["upgrade"] == "websocket"
        assert (fetched.body == b"") == (method == "HEAD")
    assert (await fetch(node.port, "/ws")).code == "upgrade_required"


@pytest.mark.parametrize("path", ["/", "/ws/", "/wss", "/socket"])
async def test_a_handshake_elsewhere_is_not_found(url: str, path: str) -> None:
    with pytest.raises(InvalidStatus, match="404"):
        await open_socket(url.replace("/ws", path))


@pytest.mark.parametrize("path", ["//[", "//[::1/ws", "http://[/healthz"])
async def test_a_target_that_is_no_url_is_not_found(node: Node, path: str) -> None:
    fetched = await fetch(node.port, path)
    assert (fetched.status, fetched.code) == (404, "not_found")


@pytest.mark.parametrize("length", ["Content-Length: 2", "Transfer-Encoding: chunked"])
@pytest.mark.parametrize(
    ("method", "answer"),
    [("POST", (405, "method_not_allowed")), ("PATCH", (405, "method_not_allowed")), ("GET", (400, "bad_message"))],
)
async def test_a_request_with_a_body_is_told_why_it_is_not_served(
    node: Node, method: str, answer: tuple[int, str], length: str
) -> None:
    for body in ("{}", "{}" * 100_000):
        fetched = await fetch(node.port, "/api/v1/races", method, headers=(length, "", body))
        assert (fetched.status, fetched.code) == answer
        assert fetched.headers.get("allow") == ("GET, HEAD" if answer[0] == 405 else None)


@pytest.mark.parametrize(
    "junk", [b"junk\r\n\r\n", b"GET /healthz HTTP/9\r\n\r\n", b"\x16\x03\x01\n", b"GET /\xff HTTP/1.1\r\n\r\n"]
)
async def test_what_is_no_request_is_told_so(node: Node, junk: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", node.port)
    for byte in junk:
        writer.write(bytes([byte]))
        await writer.drain()
    async with asyncio.timeout(60):
        response = await reader.read()
    writer.close()
    assert response.startswith(b"HTTP/1.1 400 ")
    assert b'"bad_message"' in response


async def test_who_goes_without_having_asked_is_told_nothing(node: Node) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", node.port)
    writer.write(b"GET /heal")
    writer.write_eof()
    async with asyncio.timeout(60):
        assert await reader.read() == b""
    writer.close()


async def test_a_query_does_not_matter(url: str) -> None:
    await (await open_socket(url + "?from=here")).close()


async def test_pages_may_not_connect_unless_they_are_named(node: Node, store_url: str, url: str) -> None:
    """A browser says where its page comes from; other clients say nothing, and are let in."""
    with pytest.raises(InvalidStatus, match="403"):
        await open_socket(url, origin="https://elsewhere.example")
    config = Config(port=0, redis=store_url, origins=("https://races.example",))
    async with running(config) as open_node:
        named = f"ws://127.0.0.1:{open_node.port}/ws"
        await (await open_socket(named, origin="https://races.example")).close()
        await (await open_socket(named)).close()


async def test_healthz_says_that_the_process_lives(node: Node) -> None:
    fetched = await fetch(node.port, "/healthz")
    assert (fetched.status, fetched.json["status"]) == (200, "ok")
    head = await fetch(node.port, "/healthz", "HEAD")
    assert (head.status, head.headers, head.body) == (200, fetched.headers, b"")


async def test_balancers_that_speak_http_1_0_are_answered(node: Node) -> None:
    for request in ("GET /healthz HTTP/1.0", "GET /readyz HTTP/1.0"):
        reader, writer = await asyncio.open_connection("127.0.0.1", node.port)
        writer.write(f"{request}\r\n\r\n".encode())
        async with asyncio.timeout(60):
            assert (await reader.read()).startswith((b"HTTP/1.1 200 ", b"HTTP/1.1 503 "))
        writer.close()


async def test_readyz_needs_a_message_that_has_come_back(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    async def ready() -> bool:
        return (await fetch(node.port, "/readyz")).status == 200

    await eventually(ready)
    assert (await fetch(node.port, "/readyz", "HEAD")).body == b""
    monkeypatch.setattr(Hearing, "ready", False)
    fetched = await fetch(node.port, "/readyz")
    assert (fetched.status, fetched.code) == (503, "not_ready")
    assert "come back" in fetched.json["message"]
    assert (await fetch(node.port, "/healthz")).status == 200


async def test_readyz_needs_a_sure_clock(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    async def ready() -> bool:
        return (await fetch(node.port, "/readyz")).status == 200

    await eventually(ready)
    monkeypatch.setattr(type(node.services.store.clock), "ready", False)
    fetched = await fetch(node.port, "/readyz")
    assert (fetched.status, fetched.code) == (503, "not_ready")
    assert "clock" in fetched.json["message"]


async def test_asyncapi_is_served(node: Node) -> None:
    document = (await fetch(node.port, "/asyncapi.json")).json
    assert document["asyncapi"].startswith("3.")
