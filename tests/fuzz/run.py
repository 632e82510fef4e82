"""Sends bad inputs to a server process, and holds it to answering each, logging no mistake, and not growing."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import msgpack
from websockets.exceptions import ConnectionClosed

from cellrace.codec import JSON, MSGPACK
from cellrace.errors import BadMessage
from tests.fuzz.inputs import Inputs
from tests.story.players import Map, open_socket
from tests.story.servers import Server

PATIENCE = 60.0
GROWTH = 10
"""By how many MB the server may grow."""
_UNLIMITED = (
    *("burst", "per-second", "inbox", "rate-limited-per-minute", "new-players-here", "wrong-guesses"),
    *("http-burst", "http-per-second"),
)
OPTIONS = (
    *(part for name in _UNLIMITED for part in (f"--{name}", "100000000")),
    *("--bad-frame-cost", "1", "--pool", "0"),
)
"""Without limits on how often, so that what is sent is looked at."""
HANDSHAKE = (
    b"GET /ws HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: cellrace.v1.json\r\n\r\n"
)
AT_ONCE = 25
"""Inputs that are sent before answers are waited for."""
CONNECTIONS = 100
"""Connections at once, where each is for one input."""
ROUND = 50_000
"""Inputs after which the server is looked at."""
WARM_UP = 20
"""Rounds at most before the memory is measured."""
ENOUGH = 0.3
"""Seconds after which what has no answer is taken for an unfinished request."""


def read_frames(inputs: Inputs, count: int) -> None:
    """Decode so many frames: each is a request or a bad message, and nothing else."""
    for number in range(count):
        codec = (JSON, MSGPACK)[number % 2]
        frame = inputs.frame(text=codec.text)
        try:
            codec.decode_request(frame)
        except BadMessage:
            continue


class Fuzz:
    """Bad inputs for one server."""

    def __init__(self, server: Server, seed: int) -> None:
        self._server = server
        self._chance = Random(seed)
        self.inputs = Inputs(self._chance)
        self.answers: Counter[str] = Counter()
        """What came back, by what it is."""

    @property
    def memory(self) -> int:
        """The server's memory in bytes."""
        status = Path(f"/proc/{self._server.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:")) * 1024

    async def frames(self, count: int) -> None:
        """Send frames over whole connections, each of which must be answered once and in order."""
        sent = 0
        while sent < count:
            sent += await self._talk(text=self._chance.random() < 0.5, frames=min(400, count - sent))

    async def _talk(self, *, text: bool, frames: int) -> int:
        codec = JSON if text else MSGPACK
        socket = await open_socket(self._server.url, codec.subprotocol)
        sent = 0
        try:
            if self._chance.random() < 0.9:
                await socket.send(_frame({"type": "hello"}, text))
            while sent < frames:
                some = [self.inputs.frame(text=text) for _ in range(AT_ONCE)]
                for frame in some:
                    await socket.send(frame)
                await socket.send(_frame({"type": "ping", "id": "the last of them"}, text))
                sent += len(some)
                answered = await self._until_last(socket.recv, text)
                assert answered in (len(some), len(some) + 1), f"{len(some)} frames had {answered} answers"
        except ConnectionClosed as closed:
            code = closed.rcvd.code if closed.rcvd else 1006
            self.answers[f"closed with {code}"] += 1
            assert code in (1002, 1007, 1009, 4101, 4103), f"closed with {code}"
        finally:
            socket.transport.abort()
        return sent

    async def _until_last(self, receive: object, text: bool) -> int:
        answered = 0
        async with asyncio.timeout(PATIENCE):
            while True:
                data = await receive()  # type: ignore[operator]  # a socket's recv
                message: Map = json.loads(data) if text else msgpack.unpackb(data)
                kind = message["type"]
                if "re" in message or kind == "error" or kind in ANSWERS:
                    self.answers[message["code"] if kind == "error" else kind] += 1
                    if message.get("re") == "the last of them":
                        return answered
                    answered += 1
                    self._note(message)

    def _note(self, message: Map) -> None:
        names = self.inputs.names
        for name in ("race", "token", "code"):
            if message["type"] != "error" and isinstance(message.get(name), str):
                names.append(message[name])
        del names[1:-20]

    async def requests(self, count: int) -> None:
        """Send HTTP requests; each must be answered or closed."""
        for first in range(0, count, CONNECTIONS):
            await asyncio.gather(*(self._request() for _ in range(min(CONNECTIONS, count - first))))

    async def _request(self) -> None:
        answer = await self._exchange(self.inputs.request())
        self.answers[f"HTTP {answer[9:12].decode(errors='replace')}" if answer else "HTTP closed"] += 1

    async def socket_bytes(self, count: int) -> None:
        """Send bytes that are nearly frames after a handshake; the connection must end."""
        for first in range(0, count, CONNECTIONS):
            some = [self.inputs.socket_bytes() for _ in range(min(CONNECTIONS, count - first))]
            await asyncio.gather(*(self._exchange(data, HANDSHAKE) for data in some))
            self.answers["ended"] += len(some)

    async def _exchange(self, data: bytes, handshake: bytes = b"") -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._server.port)
        try:
            async with asyncio.timeout(PATIENCE):
                if handshake:
                    writer.write(handshake)
                    assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
                writer.write(data)
                if not handshake:
                    with contextlib.suppress(TimeoutError):
                        return await asyncio.wait_for(reader.read(), ENOUGH)
                # What is no whole request would be waited for.
                writer.write_eof()
                return await reader.read()
        except ConnectionError:
            return b""
        finally:
            writer.transport.abort()

    async def still_well(self) -> None:
        """The server lives, answers, and has logged no mistake."""
        answer = await self._exchange(b"GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n")
        assert b" 200 " in answer, answer
        log = self._server.log
        assert "Traceback" not in log, log[log.index("Traceback") - 500 :][:3000]
        assert self.answers["internal"] == 0, self.answers


def _frame(message: Map, text: bool) -> str | bytes:
    return json.dumps(message) if text else bytes(msgpack.packb(message))


ANSWERS = frozenset(
    "welcome pong ok race race.missed moved races queued player daily leaderboard replay".split()  # noqa: SIM905 - one line.
)


def _shares(count: int) -> dict[str, int]:
    """How many inputs of a kind go to the server; the others go to the codecs alone."""
    return {"frames": count * 20 // 100, "requests": count * 4 // 100, "socket_bytes": count * 2 // 100}


async def run(server: Server, count: int, seed: int, tell: Callable[[str], None] = lambda line: None) -> str:
    """So many inputs in all, most of them to the codecs alone; tells of each round, and what came of them all."""
    fuzz = Fuzz(server, seed)
    # First until it has all that it needs: what is cached at first use, and what waits for the collector's next round.
    for _ in range(WARM_UP):
        known = fuzz.memory
        for name, share in _shares(count).items():
            await getattr(fuzz, name)(min(share, 500))
        if fuzz.memory - known < 2**20:
            break
    before, began = fuzz.memory, time.monotonic()
    for done in range(0, count, ROUND):
        part = min(ROUND, count - done)
        read_frames(fuzz.inputs, part - sum(_shares(part).values()))
        for name, share in _shares(part).items():
            await getattr(fuzz, name)(share)
        await fuzz.still_well()
        growth = (fuzz.memory - before) / 2**20
        assert growth <= GROWTH, f"the server has grown by {growth:.1f} MB"
        tell(f"{done + part:,} of {count:,} in {time.monotonic() - began:.0f} s, memory {growth:+.1f} MB")
    told = ", ".join(f"{name} {number:,}" for name, number in fuzz.answers.most_common())
    return f"{count:,} inputs in {time.monotonic() - began:.0f} s, memory {growth:+.1f} MB: {told}"
