"""A player made from the protocol page alone with `websockets`, `msgpack` and `json`: no code is the server's."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import msgpack
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

Map = dict[str, Any]

MSGPACK = "cellrace.v1.msgpack"
JSON = "cellrace.v1.json"
PATIENCE = 60.0
"""Seconds after which a test has waited in vain, however busy its machine is."""

FACTS = {
    "race.joined",
    "race.left",
    "race.ready",
    "race.countdown",
    "race.done",
    "race.over",
    "race.cancelled",
    "race.rematch",
}
SECRETS = {"deal", "salt", "layout", "cells", "reserve", "you", "logs"}


class Refusal(AssertionError):
    """An `error` where the test wanted an answer."""

    def __init__(self, error: Map) -> None:
        super().__init__(f"refused: {error}")
        self.error = error


class Player:
    """One connection. Whatever comes is held to the page: versions without a gap, secrets only after the start."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.text = socket.subprotocol == JSON
        self.welcome: Map = {}
        self.token = ""
        """What brings the player back."""
        self.frames: list[Map] = []
        """Everything that has come, in order."""
        self.pushes: list[Map] = []
        """Pushes that the test has not asked for yet."""
        self.versions: dict[str, int] = {}
        self._answers: dict[str | int, Map] = {}
        self._next_id = 0

    @property
    def id(self) -> str:
        """The player's id."""
        return str(self.welcome["player"]["id"])

    async def send(self, kind: str, /, **fields: Any) -> int:
        """Send a request without waiting for its answer; the id that was given to it."""
        self._next_id += 1
        await self.send_map({"type": kind, "id": self._next_id, **fields})
        return self._next_id

    async def send_map(self, message: Map) -> None:
        """Send a map as it stands."""
        await self.socket.send(json.dumps(message) if self.text else msgpack.packb(message))

    async def read(self, patience: float = PATIENCE) -> Map:
        """The next message of the server, whatever it is."""
        async with asyncio.timeout(patience):
            frame = await self.socket.recv()
        assert isinstance(frame, str) == self.text, "text frames for JSON, binary ones for MessagePack"
        message: Map = json.loads(frame) if isinstance(frame, str) else msgpack.unpackb(frame)
        self.frames.append(message)
        self._check(message)
        if "re" in message:
            self._answers[message["re"]] = message
        elif message["type"] != "error":
            self.pushes.append(message)
        return message

    def _check(self, message: Map) -> None:
        kind = message["type"]
        if kind in FACTS:
            known = self.versions.get(message["race"])
            if known is not None and message["version"] <= known:
                return  # A client ignores versions that it has.
            assert known is None or message["version"] == known + 1, f"after version {known} came {message}"
            self.versions[message["race"]] = message["version"]
        elif kind == "race":
            self.versions[message["race"]] = message["version"]
            if message["state"] in ("open", "countdown", "cancelled"):
                assert not SECRETS & message.keys(), f"a secret before the start: {message}"
        assert None not in message.values(), f"a null on the wire: {message}"

    async def answer(self, request_id: str | int, patience: float = PATIENCE) -> Map:
        """The answer to a request, whatever it is."""
        while request_id not in self._answers:
            await self.read(patience)
        return self._answers.pop(request_id)

    async def ask(self, kind: str, /, **fields: Any) -> Map:
        """Send a request and return its answer; fails when it is refused. Who is too fast waits as long as is told."""
        while True:
            answer = await self.answer(await self.send(kind, **fields))
            if answer["type"] != "error":
                return answer
            if answer["code"] != "rate_limited" or answer["retry_after"] > 1000:
                raise Refusal(answer)
            await asyncio.sleep(answer["retry_after"] / 1000)

    async def refused(self, kind: str, /, **fields: Any) -> Map:
        """Send a request that must be refused, and return the error."""
        answer = await self.answer(await self.send(kind, **fields))
        assert answer["type"] == "error", f"not refused: {answer}"
        assert isinstance(answer["message"], str)
        assert answer["message"]
        return answer

    async def push(self, kind: str, /, patience: float = PATIENCE, **fields: Any) -> Map:
        """The first push of this kind with these fields that was not asked for yet; those before it stay."""
        seen = 0
        while True:
            for place in range(seen, len(self.pushes)):
                candidate = self.pushes[place]
                if candidate["type"] == kind and all(candidate.get(name) == value for name, value in fields.items()):
                    return self.pushes.pop(place)
            seen = len(self.pushes)
            await self.read(patience)

    async def settle(self) -> None:
        """Read what is on its way: an answer precedes nothing that was sent before it."""
        await self.ask("ping")

    async def closed(self, patience: float = PATIENCE) -> int:
        """Read until the server closes; the code with which it does."""
        while True:
            try:
                await self.read(patience)
            except ConnectionClosed as closed:
                return closed.rcvd.code if closed.rcvd else 1006

    async def hello(self, **fields: Any) -> Map:
        """Say hello."""
        self.welcome = await self.ask("hello", **fields)
        self.token = self.welcome.get("token") or str(fields.get("token", ""))
        assert self.welcome["type"] == "welcome"
        return self.welcome

    async def drop(self) -> None:
        """Lose the connection without a word."""
        self.socket.transport.abort()
        await self.socket.wait_closed()

    async def close(self) -> None:
        """Take leave."""
        await self.socket.close()


async def open_socket(url: str, *subprotocols: str, **options: Any) -> ClientConnection:
    """A WebSocket that offers subprotocols, MessagePack where none is named."""
    offered = [Subprotocol(name) for name in subprotocols or (MSGPACK,)]
    # Without a bound on what waits to be read, so that pings are answered while a test looks elsewhere. No proxy of the
    # environment stands between a test and its own machine.
    settled = {"compression": None, "max_queue": None, "max_size": None, "proxy": None, "open_timeout": PATIENCE}
    return await connect(url, subprotocols=offered, **(settled | options))


class Table:
    """Where the players of one test sit: opens connections, and closes all of them at the end."""

    def __init__(self, url: str, stack: AsyncExitStack) -> None:
        self.url = url
        self._stack = stack

    async def stranger(self, subprotocol: str = MSGPACK, **options: Any) -> Player:
        """A connection that has not said hello."""
        socket = await open_socket(self.url, subprotocol, **options)
        self._stack.push_async_callback(socket.close)
        return Player(socket)

    async def player(self, name: str | None = None, subprotocol: str = MSGPACK, **hello: Any) -> Player:
        """A connection that has said hello."""
        player = await self.stranger(subprotocol)
        await player.hello(**({} if name is None else {"name": name}), **hello)
        return player

    async def back(self, player: Player, subprotocol: str = MSGPACK) -> Player:
        """The same player on a new connection, who has read nothing yet but the welcome."""
        return await self.player(subprotocol=subprotocol, token=player.token)


@asynccontextmanager
async def table(url: str) -> AsyncIterator[Table]:
    """A table at a server."""
    async with AsyncExitStack() as stack:
        yield Table(url, stack)


async def open_race(host: Player, *others: Player, **settings: Any) -> str:
    """A race of these players, everybody in it and nobody ready; its id."""
    settings = {"seats": max(1 + len(others), 2), "countdown": 0, **settings}
    race = str((await host.ask("race.create", settings=settings))["race"])
    for other in others:
        await other.ask("race.join", race=race)
    return race


async def start_race(host: Player, *others: Player, **settings: Any) -> str:
    """A race of these players that all of them know to be running; its id."""
    if not others:
        settings = {"seats": 1, **settings}
    race = await open_race(host, *others, **settings)
    for player in (host, *others):
        await player.ask("race.ready", race=race)
    for player in (host, *others):
        check_start(await player.push("race.countdown", race=race), await player.push("race.started", race=race))
    return race


def check_start(countdown: Map, started: Map, variant: str | None = None) -> None:
    """What is told at the start must be what the countdown has committed to, and not be told before it."""
    assert started["start_at"] == countdown["start_at"]
    assert re.fullmatch("[0-9a-f]{32}", started["salt"])
    assert re.fullmatch("[0-9a-f]{64}", countdown["commitment"])
    if variant is not None:
        text = f"cellrace:{variant}:{started['deal']}:{started['salt']}"
        assert hashlib.sha256(text.encode()).hexdigest() == countdown["commitment"]


async def play(player: Player, race: str, moves: list[str], at_once: int = 10, seq: int = 0) -> Map:
    """Play moves, some at once; the last answer."""
    answer: Map = {}
    for begin in range(0, len(moves), at_once):
        sent = moves[begin : begin + at_once]
        answer = await player.ask("move", race=race, seq=seq, moves=sent)
        seq += len(sent)
        assert answer["seq"] == seq
        assert [step[0] for step in answer["steps"]] == sent
    return answer
