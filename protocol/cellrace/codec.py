"""Frames to messages and back, for both subprotocols, as strict as the protocol's section 1."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Literal, TypeVar, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from cellrace.errors import BadMessage
from cellrace.frames import FlawedMap, find_flaw, is_text, read_json, read_msgpack
from cellrace.messages import (
    LAST_INTEGER,
    MAX_DEPTH,
    MAX_ID_LENGTH,
    ClientMessage,
    Move,
    RaceCreate,
    RequestId,
    ServerMessage,
    SettingsRequest,
    UnreadableSettings,
)
from cellrace.messages.base import Count, RaceId, wire_name
from cellrace.messages.requests import Moves

MSGPACK_SUBPROTOCOL = "cellrace.v1.msgpack"
JSON_SUBPROTOCOL = "cellrace.v1.json"

REQUESTS: dict[str, type[ClientMessage]] = {wire_name(request): request for request in get_args(ClientMessage)}
"""Every request by its name on the wire."""

# Where msgspec's sentences name the value, and the field, that they are about.
_PATH = re.compile(r" - at `\$\.?([A-Za-z_]*)[^`]*`$")
_FIELD = re.compile(r"[Ff]ield `([^`]*)`")

R = TypeVar("R", bound=ClientMessage)


class _PlainMove(Struct, forbid_unknown_fields=True, gc=False):
    """A `move` without anything else in it, as nearly every one is."""

    type: Literal["move"]
    race: RaceId
    seq: Count
    moves: Moves
    id: RequestId | None = None


class Codec(ABC):
    """One subprotocol: which name it has, whether its frames are text, and how messages are written and read."""

    subprotocol: str
    text: bool

    @abstractmethod
    def encode(self, message: ServerMessage) -> bytes:
        """The frame of a message of the server; for a text frame, its UTF-8."""

    @abstractmethod
    def encode_request(self, request: ClientMessage) -> bytes:
        """The frame of a request; for a text frame, its UTF-8."""

    @abstractmethod
    def decode_request(self, frame: bytes | str, deepest: int = MAX_DEPTH) -> ClientMessage:
        """The request in a frame, bytes for a binary and str for a text frame. Raises BadMessage and nothing else.

        A server may allow fewer levels of nesting than the protocol does, by `deepest`.
        """

    @abstractmethod
    def decode_server(self, frame: bytes | str) -> ServerMessage:
        """The message of a server in a frame; fields that it does not know are ignored. Raises BadMessage."""

    def decode_payload(self, payload: bytes, text: bool, deepest: int = MAX_DEPTH) -> ClientMessage:
        """The request in a frame as it came from the socket, its text not yet decoded. Raises BadMessage."""
        if not text:
            return self.decode_request(payload, deepest)
        try:
            return self.decode_request(str(payload, "utf-8"), deepest)
        except UnicodeDecodeError:
            raise BadMessage("The text frame has invalid UTF-8.") from None


class _MsgpackCodec(Codec):
    subprotocol = MSGPACK_SUBPROTOCOL
    text = False

    def __init__(self) -> None:
        self._encoder = msgspec.msgpack.Encoder(order="deterministic")
        self._move_decoder = msgspec.msgpack.Decoder(_PlainMove)
        self._server_decoder: msgspec.msgpack.Decoder[ServerMessage] = msgspec.msgpack.Decoder(ServerMessage)

    def encode(self, message: ServerMessage) -> bytes:
        return self._encoder.encode(message)

    def encode_request(self, request: ClientMessage) -> bytes:
        return self._encoder.encode(request)

    def decode_request(self, frame: bytes | str, deepest: int = MAX_DEPTH) -> ClientMessage:
        if isinstance(frame, str):
            raise BadMessage("This connection speaks MessagePack: send binary frames.")
        return self._read_plain_move(frame) or _read_request(read_msgpack(frame), deepest)

    def _read_plain_move(self, frame: bytes) -> Move | None:
        try:
            plain = self._move_decoder.decode(frame)
        except msgspec.DecodeError:
            return None
        # As many entries as fields: none of them is there twice.
        if frame[0] != (0x84 if plain.id is None else 0x85):
            return None
        return Move(id=plain.id, race=plain.race, seq=plain.seq, moves=plain.moves)

    def decode_server(self, frame: bytes | str) -> ServerMessage:
        if isinstance(frame, str):
            raise BadMessage("A text frame on a connection that speaks MessagePack.")
        try:
            return self._server_decoder.decode(frame)
        except (msgspec.DecodeError, RecursionError, UnicodeError) as wrong:
            raise _blame(wrong) from None


class _JsonCodec(Codec):
    subprotocol = JSON_SUBPROTOCOL
    text = True

    def __init__(self) -> None:
        self._encoder = msgspec.json.Encoder(order="deterministic")
        self._move_decoder = msgspec.json.Decoder(_PlainMove)
        self._server_decoder: msgspec.json.Decoder[ServerMessage] = msgspec.json.Decoder(ServerMessage)

    def encode(self, message: ServerMessage) -> bytes:
        return self._encoder.encode(message)

    def encode_request(self, request: ClientMessage) -> bytes:
        return self._encoder.encode(request)

    def decode_request(self, frame: bytes | str, deepest: int = MAX_DEPTH) -> ClientMessage:
        if isinstance(frame, bytes):
            raise BadMessage("This connection speaks JSON: send text frames.")
        return self._read_plain_move(frame) or _read_request(read_json(frame), deepest)

    def _read_plain_move(self, frame: str) -> Move | None:
        try:
            plain = self._move_decoder.decode(frame)
        except (msgspec.DecodeError, UnicodeEncodeError):
            return None
        # Without escapes the quotes tell the number of strings: four keys, `move`, the race and the moves, and what
        # an id adds. No more of them: no key is there twice.
        strings = 6 + len(plain.moves)
        if plain.id is not None:
            strings += 1 if isinstance(plain.id, int) else 2
        if frame.count('"') != 2 * strings or "\\" in frame:
            return None
        return Move(id=plain.id, race=plain.race, seq=plain.seq, moves=plain.moves)

    def decode_server(self, frame: bytes | str) -> ServerMessage:
        if isinstance(frame, bytes):
            raise BadMessage("A binary frame on a connection that speaks JSON.")
        try:
            return self._server_decoder.decode(frame)
        except (msgspec.DecodeError, RecursionError, UnicodeError) as wrong:
            raise _blame(wrong) from None


MSGPACK: Codec = _MsgpackCodec()
JSON: Codec = _JsonCodec()
CODECS: dict[str, Codec] = {codec.subprotocol: codec for codec in (MSGPACK, JSON)}


def choose_codec(offered: Iterable[str]) -> Codec | None:
    """The codec of the first subprotocol offered that is known; None when none is."""
    return next((CODECS[name] for name in offered if name in CODECS), None)


def _read_request(tree: object, deepest: int) -> ClientMessage:
    """The request that a frame's tree tells."""
    if not isinstance(tree, dict):
        raise BadMessage("A message is a map.")
    request_id = _readable_id(tree.get("id"))
    try:
        return _read_fields(tree, deepest)
    except BadMessage as bad:
        bad.re = request_id
        raise


def _readable_id(value: object) -> RequestId | None:
    match value:
        case bool():
            return None
        case str() if len(value) <= MAX_ID_LENGTH and is_text(value):
            return value
        case int() if 0 <= value <= LAST_INTEGER:
            return value
        case _:
            return None


def _read_fields(tree: dict[str, object], deepest: int) -> ClientMessage:
    if isinstance(tree, FlawedMap):
        raise BadMessage(f"The message has {tree.what}.", tree.key)
    if not all(map(is_text, tree)):
        raise BadMessage("The message has a lone surrogate in a key.")
    creates = tree.get("type") == "race.create"
    for name, value in tree.items():
        # In settings a wrong number is a wrong setting, and refused as such.
        if flaw := find_flaw(value, 2, numbers=not (creates and name == "settings"), deepest=deepest):
            raise BadMessage(f"{name}: the message has {flaw}.", name)
    given = {name: value for name, value in tree.items() if value is not None}
    kind = given.get("type")
    if kind is None:
        raise BadMessage("The message has no type.", "type")
    request_type = REQUESTS.get(kind) if isinstance(kind, str) else None
    if request_type is None:
        raise BadMessage("There is no request of this type.", "type")
    settings = given.get("settings")
    if request_type is RaceCreate and isinstance(settings, dict):
        del given["settings"]
        return replace(_convert(given, RaceCreate), settings=_read_settings(settings))
    return _convert(given, request_type)


def _convert(given: dict[str, object], request_type: type[R]) -> R:
    try:
        return msgspec.convert(given, request_type)
    except msgspec.ValidationError as wrong:
        raise _blame(wrong) from None


def _read_settings(tree: dict[str, object]) -> SettingsRequest:
    given = {name: value for name, value in tree.items() if value is not None}
    ghosts = given.get("ghosts")
    if isinstance(ghosts, list):
        given["ghosts"] = [
            {name: value for name, value in ghost.items() if value is not None} if isinstance(ghost, dict) else ghost
            for ghost in ghosts
        ]
    try:
        return msgspec.convert(given, SettingsRequest)
    except msgspec.ValidationError as wrong:
        blamed = _blame(wrong)
        return UnreadableSettings(wrong=blamed.field or "settings", sentence=str(blamed))


def _blame(wrong: Exception) -> BadMessage:
    """What msgspec found wrong, as a sentence and the top-level field to blame."""
    text = str(wrong)
    path = _PATH.search(text)
    if path and path[1]:
        return BadMessage(f"{path[1]}: {text[: path.start()]}.", path[1])
    named = _FIELD.search(text)
    return BadMessage(f"{text[: path.start()] if path else text}.", named[1] if named else None)
