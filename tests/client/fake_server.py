"""A server of a few lines that says what a test tells it to, written from the protocol page with msgpack and json."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgpack
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from cellrace.commitment import commitment
from cellrace.deals import deal
from cellrace.variants import find_variant

Map = dict[str, Any]

LIMITS = {
    "frame_bytes": 16384,
    "depth": 8,
    "moves": 64,
    "log_entries": 20000,
    "burst": 60,
    "per_second": 30,
    "bad_frame_cost": 5,
    "rate_limited_per_minute": 100,
    "hello_within": 10000,
}
NOW = 1_700_000_000_000
SALT = "00112233445566778899aabbccddeeff"
FIRST_TOKEN = "t0"
ANN = {"id": "p1", "name": "Ann", "bot": False}
BOB = {"id": "p2", "name": "Bob", "bot": True}


class Peer:
    """One connection as the server sees it; pings are answered by themselves."""

    def __init__(self, socket: ServerConnection) -> None:
        self.socket = socket
        self.text = str(socket.subprotocol).endswith("json")

    async def send(self, message: Map) -> None:
        """Sends a message."""
        if self.text:
            await self.socket.send(json.dumps(message))
        else:
            await self.socket.send(msgpack.packb(message))

    async def next(self) -> Map:
        """The next request that is no ping."""
        while True:
            frame = await self.socket.recv()
            assert isinstance(frame, str) == self.text, "text frames for JSON, binary ones for MessagePack"
            request: Map = json.loads(frame) if self.text else msgpack.unpackb(frame)
            if request["type"] != "ping":
                return request
            await self.send({"type": "pong", "re": request["id"], "now": NOW})

    async def expect(self, kind: str) -> Map:
        """The next request, which is of this type."""
        request = await self.next()
        assert request["type"] == kind, request
        return request

    async def answer(self, request: Map, kind: str, /, **fields: Any) -> None:
        """Answers a request."""
        await self.send({"type": kind, **({"re": request["id"]} if "id" in request else {}), **fields})

    async def refuse(self, request: Map, code: str, /, **fields: Any) -> None:
        """Refuses a request."""
        await self.answer(request, "error", code=code, message=f"No: {code}.", **fields)

    async def welcome(self, *races: str, token: str | None = FIRST_TOKEN, player: Map = ANN, version: int = 1) -> Map:
        """Greets the client, and gives back its `hello`."""
        hello = await self.expect("hello")
        fields: Map = {"token": token} if token else {}
        known = [{"race": race, "state": "running"} for race in races]
        await self.answer(
            hello,
            "welcome",
            player=player,
            node="n1",
            version=version,
            server="fake 1",
            now=NOW,
            limits=LIMITS,
            races=known,
            **fields,
        )
        return hello

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Closes the connection with a code."""
        await self.socket.close(code, reason)

    async def linger(self) -> None:
        """Answers pings until the client goes."""
        while True:
            await self.next()


Script = Callable[[Peer], Awaitable[None]]


class FakeServer:
    """A server that plays one script a connection, in order; `errors` are what went wrong in them."""

    def __init__(self, *scripts: Script) -> None:
        self.scripts = list(scripts)
        self.connections = 0
        self.errors: list[Exception] = []
        self.url = ""

    async def handle(self, socket: ServerConnection) -> None:
        """Plays the next script; without one the connection is cut."""
        self.connections += 1
        if not self.scripts:
            socket.transport.abort()
            return
        script = self.scripts.pop(0)
        try:
            await script(Peer(socket))
        except ConnectionClosed:
            return
        except Exception as wrong:  # noqa: BLE001 - kept for the test, which raises it
            self.errors.append(wrong)
            await socket.close(4100, "the test's script failed")


@asynccontextmanager
async def fake_server(*scripts: Script) -> AsyncIterator[FakeServer]:
    """Runs a server with scripts; fails when one of them met what it did not expect, or was not played."""
    fake = FakeServer(*scripts)
    offered = [Subprotocol("cellrace.v1.msgpack"), Subprotocol("cellrace.v1.json")]
    async with serve(fake.handle, "127.0.0.1", 0, subprotocols=offered, close_timeout=0.5) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        fake.url = f"ws://127.0.0.1:{port}/ws"
        yield fake
        server.close()
    await asyncio.sleep(0)
    if fake.errors:
        raise fake.errors[0]
    assert not fake.scripts, f"{len(fake.scripts)} scripts were not played"


def race(race_id: str = "r1", state: str = "open", **fields: Any) -> Map:
    """A `race` answer's fields: Ann's race of FreeCell with one seat or two."""
    whole: Map = {
        "race": race_id,
        "version": 1,
        "state": state,
        "kind": "race",
        "settings": settings(),
        "host": "p1",
        "created_at": NOW,
        "now": NOW,
        "entrants": [entrant(ANN)],
    }
    return whole | fields


def settings(**fields: Any) -> Map:
    """Complete settings."""
    whole: Map = {
        "variant": "freecell",
        "seats": 2,
        "private": False,
        "time_limit": 1800,
        "countdown": 5,
        "grace": 120,
        "undo": True,
        "autoplay": "safe",
        "placement": "player",
        "ends": "all",
        "ranked": True,
        "spectate": "delayed",
        "bots": True,
        "ghosts": [],
    }
    return whole | fields


def entrant(player: Map, status: str = "joined", **fields: Any) -> Map:
    """An entrant."""
    whole: Map = {
        "player": player,
        "status": status,
        "online": True,
        "seq": 0,
        "home": 0,
        "moves": 0,
        "undos": 0,
    }
    return whole | fields


def dealt(variant_id: str = "freecell", number: int = 617) -> Map:
    """What `race.started` tells of a deal."""
    variant = find_variant(variant_id)
    layout = deal(variant, number)
    told: Map = {"deal": number, "salt": SALT, "layout": layout.column_names()}
    return told


def committed(variant_id: str = "freecell", number: int = 617) -> str:
    """The commitment to such a deal."""
    return commitment(variant_id, number, SALT)


def running(race_id: str = "r1", *moves: str, **fields: Any) -> Map:
    """A `race` answer's fields of Ann's race with Bob on deal 617, running, with Ann's moves."""
    board: Map = {"columns": [], "cells": [], "homes": {}, "reserve": []}
    whole: Map = {
        "version": 5,
        "start_at": NOW,
        "commitment": committed(),
        "entrants": [entrant(ANN, "playing", seq=len(moves), moves=len(moves)), entrant(BOB, "playing")],
        "you": {"moves": list(moves), "seq": len(moves), "board": board},
        **dealt(),
    }
    return race(race_id, "running", **(whole | fields))
