"""Inputs by a grammar, and inputs that were good once: frames of both subprotocols, WebSocket bytes, HTTP."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import msgpack

from cellrace.codec import JSON, MSGPACK
from tests.protocol.frame_examples import GOLDEN, GoldenFrame, read_golden

TYPES = (
    *("hello", "ping", "move", "race.create", "race.join", "race.leave", "race.ready", "race.start", "race.kick"),
    *("race.concede", "race.forfeit", "race.sync", "race.watch", "race.unwatch", "race.rematch", "race.list"),
    *("queue.join", "queue.leave", "player.get", "daily.get", "daily.start", "daily.practice", "leaderboard"),
    *("replay.get", "welcome", "moved", "error", "", "Move", "race.", "__class__"),
)
FIELDS = (
    *(
        "id",
        "race",
        "code",
        "seq",
        "moves",
        "settings",
        "ready",
        "player",
        "since",
        "variant",
        "state",
        "mine",
        "limit",
    ),
    *("name", "token", "bot", "client", "board", "date", "deal", "bots", "offset", "around", "type", "re", "\x00", "é"),
)
SETTINGS = (
    *("variant", "deal", "seats", "private", "time_limit", "countdown", "grace", "undo", "autoplay", "placement"),
    *("ends", "ranked", "spectate", "bots", "ghosts", "colour"),
)
WORDS = (
    *("", "a", "freecell", "one-suit", "marseille", "26", "26v3", "u", "r1", "3a", "hh", "0" * 64, "x" * 65, "9" * 400),
    *("open", "running", "safe", "none", "live", "2026-01-01", "2026-13-40", "0000-00-00", "rating", "daily", "deal"),
    *(
        "\ud800",
        "\x00",
        "\x1b[2J",
        "\u202e",
        "İ",
        "ß",
        "%00",
        "../..",
        "{}",
        "race:{x}",
        "\r\nHost: x",
        "１２",
        "A" * 20,
    ),
)
NUMBERS = (0, 1, -1, 2, 64, 65, 250, 251, 2**31, 2**32, 2**33, 2**53 - 1, 2**53, 2**63, 2**64 - 1, -(2**63), 86401)
FLOATS = (0.0, -0.0, 1.5, 1e308, float("inf"), float("nan"), 1e-320)


class Inputs:
    """Draws inputs; `names` are races, players and tokens that there are, so that some get far."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self.names: list[str] = ["nothing"]
        self._good: list[GoldenFrame] = read_golden("requests")
        self._all: list[GoldenFrame] = [frame for name in GOLDEN for frame in read_golden(name)]

    def frame(self, *, text: bool) -> bytes | str:
        """One frame, of the kind that a codec reads more often than not."""
        chance = self._chance
        if chance.random() < 0.01:
            text = not text
        if chance.random() < 0.45:
            golden = chance.choice(self._good if chance.random() < 0.8 else self._all)
            good = golden.json.encode() if text else golden.msgpack
            return self._as_frame(self.mutated(good) if chance.random() < 0.9 else good, text)
        tree = self.tree()
        if text:
            return json.dumps(tree, ensure_ascii=chance.random() < 0.5).encode(errors="replace").decode()
        return self._packed(tree)

    @staticmethod
    def _as_frame(data: bytes, text: bool) -> bytes | str:
        # What is no UTF-8 goes out over a socket of its own: a client's library refuses to send it.
        return data.decode(errors="replace") if text else data

    def _packed(self, tree: Any) -> bytes:
        chance = self._chance
        try:
            packed = bytes(msgpack.packb(tree, unicode_errors="surrogatepass", use_single_float=chance.random() < 0.1))
        except (OverflowError, ValueError):
            packed = b"\xc1"
        return self.mutated(packed) if chance.random() < 0.2 else packed

    def tree(self) -> Any:
        """What a frame may tell: mostly a map with a type."""
        chance = self._chance
        if chance.random() < 0.05:
            return self.value(0)
        tree: dict[Any, Any] = {"type": chance.choice(TYPES) if chance.random() < 0.95 else self.value(2)}
        for _ in range(chance.choice([0, 1, 2, 2, 3, 4, 6])):
            tree[chance.choice(FIELDS)] = self._likely()
        if chance.random() < 0.3:
            tree["settings"] = {chance.choice(SETTINGS): self._likely() for _ in range(chance.randrange(5))}
        if chance.random() < 0.3:
            tree |= {"race": chance.choice(self.names), "seq": chance.randrange(4), "moves": self._moves()}
        if chance.random() < 0.5:
            tree["id"] = chance.choice([1, "x", 0])
        return tree

    def _moves(self) -> list[str]:
        return [
            self._chance.choice(["26", "1a", "u", "3h", "ab", "12v2", "r1"])
            for _ in range(self._chance.choice([1, 1, 3, 64, 65]))
        ]

    def _likely(self) -> Any:
        chance = self._chance
        if chance.random() < 0.4:
            return chance.choice(self.names)
        return self.value(0)

    def value(self, depth: int) -> Any:
        """Any value."""
        chance = self._chance
        match chance.randrange(9 if depth < 9 else 6):
            case 0:
                return chance.choice(WORDS)
            case 1:
                return chance.choice(NUMBERS)
            case 2:
                return chance.choice((None, True, False))
            case 3:
                return chance.choice(FLOATS)
            case 4:
                return chance.choice(self.names)
            case 5:
                return "".join(
                    map(chr, (chance.choice((chance.randrange(128), chance.randrange(0xD7FF))) for _ in range(5)))
                )
            case 6:
                return [self.value(depth + 1) for _ in range(chance.randrange(4))]
            case 7:
                return {chance.choice(WORDS): self.value(depth + 1) for _ in range(chance.randrange(4))}
            case _:
                nested: Any = 1
                for _ in range(chance.choice([7, 8, 9, 50])):
                    nested = [nested] if chance.random() < 0.5 else {"a": nested}
                return nested

    def mutated(self, data: bytes) -> bytes:
        """The same with a few changes."""
        chance = self._chance
        changed = bytearray(data)
        for _ in range(chance.choice([1, 1, 1, 2, 3, 8])):
            place = chance.randrange(len(changed) + 1)
            match chance.randrange(5):
                case 0:
                    changed[place:place] = chance.randbytes(chance.randrange(1, 4))
                case 1:
                    del changed[place : place + chance.randrange(1, 5)]
                case 2:
                    changed[place : place + 1] = chance.randbytes(1)
                case 3:
                    changed += changed[place : place + chance.randrange(1, 40)]
                case _:
                    if place < len(changed):
                        changed[place] ^= 1 << chance.randrange(8)
        return bytes(changed)

    # --- below the frames

    def socket_bytes(self) -> bytes:
        """What comes after a handshake, by somebody who knows how frames are built, and builds others."""
        chance = self._chance
        data = b""
        for _ in range(chance.randrange(1, 5)):
            payload = chance.choice((b"", b"{}", b"\xff\xfe", b'{"type":"ping"}', chance.randbytes(126)))
            first = chance.choice((0x81, 0x82, 0x01, 0x02, 0x80, 0x00, 0x88, 0x89, 0x8A, 0x83, 0xC1, 0xF1, 0x09))
            mask = 0x80 if chance.random() < 0.9 else 0
            match chance.randrange(8):
                case 0:
                    size = bytes((mask | 127,)) + chance.choice(
                        (b"\xff" * 8, b"\0" * 7 + b"\x05", b"\x7f" + b"\xff" * 7)
                    )
                case 1:
                    size = bytes((mask | 126,)) + chance.choice((b"\0\x05", b"\x40\x01", b"\xff\xff"))
                case _:
                    size = bytes((mask | min(len(payload), 125),))
            data += bytes((first,)) + size + (b"\0\0\0\0" if mask else b"") + payload
        return self.mutated(data) if chance.random() < 0.3 else data

    def request(self) -> bytes:
        """An HTTP request, or what was one."""
        chance = self._chance
        path = chance.choice(
            (
                *(
                    "/healthz",
                    "/readyz",
                    "/metrics",
                    "/ws",
                    "/",
                    "//[",
                    "*",
                    "http://[::1",
                    "/asyncapi.json",
                    "/api/v1/",
                ),
                *("/api/v1/races", "/api/v1/races/", "/api/v1/keys", "/api/v1/daily/", "/api/v1/leaderboards/"),
                *("/api/v1/players/", "/api/v1/replays/"),
            )
        )
        if path.endswith("/"):
            path += "/".join(self._path_word() for _ in range(chance.randrange(4)))
        if chance.random() < 0.4:
            names = ("variant", "state", "limit", "offset", "date", "deal", "bots", "around", "%", "")
            path += "?" + "&".join(f"{chance.choice(names)}={self._path_word()}" for _ in range(chance.randrange(4)))
        method = chance.choices(("GET", "HEAD", "POST", "OPTIONS", "get", "", "PUT"), (20, 4, 2, 1, 1, 1, 1))[0]
        lines = [f"{method} {path} HTTP/1.1", "Host: here"]
        if chance.random() < 0.3:
            lines += ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"]
            lines += [f"Sec-WebSocket-Key: {chance.choice(('dGhlIHNhbXBsZSBub25jZQ==', 'x', ''))}"]
            lines += [f"Sec-WebSocket-Protocol: {chance.choice((JSON.subprotocol, MSGPACK.subprotocol, 'x', ',,'))}"]
        while chance.random() < 0.3:
            name = chance.choice(("Accept", "X-Forwarded-For", "Origin", "Content-Length", "Cookie", "Range", "\x00"))
            lines.append(f"{name}: {chance.choice((self._path_word(), '1, 2', '999999', 'a' * 9000))}")
        whole = "\r\n".join((*lines, "", "")).encode(errors="replace")
        return self.mutated(whole) if chance.random() < 0.3 else whole

    def _path_word(self) -> str:
        chance = self._chance
        word = str(
            chance.choice((*self.names[-3:], chance.choice(WORDS), chance.choice(NUMBERS), "rating", "freecell"))
        )
        if chance.random() < 0.7:
            return "".join(letter if letter.isalnum() and letter.isascii() else "%2e" for letter in word)
        return word.replace(" ", "").replace("\r\n", "%0d%0a")
