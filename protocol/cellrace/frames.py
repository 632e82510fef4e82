"""Frames read with care: each into a plain tree, and the first thing in it that the protocol does not accept.

The codec's typed decoders are fast, but skip what they do not know and keep the last of doubled keys; what they
do not take as it stands is read here instead.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import NoReturn

from cellrace.errors import BadMessage
from cellrace.messages.base import LAST_INTEGER, MAX_DEPTH


class Unwanted:
    """Stands in a tree for a value that the protocol does not accept."""

    def __init__(self, what: str) -> None:
        self.what = what


class FlawedMap(dict[str, object]):
    """A map with a key that is doubled, or no string."""

    def __init__(self, entries: dict[str, object], what: str, key: str | None) -> None:
        super().__init__(entries)
        self.what = what
        self.key = key


_TOO_DEEP = Unwanted(f"more than {MAX_DEPTH} levels of nesting")


def find_flaw(value: object, depth: int = 1, *, numbers: bool = True, deepest: int = MAX_DEPTH) -> str | None:
    """What in a tree the protocol does not accept; without `numbers`, floats and integers out of range pass.

    `depth` is that of the value itself, `deepest` that of the deepest map or list.
    """
    match value:
        case bool() | None:
            return None
        case str():
            return None if is_text(value) else "a lone surrogate"
        case int():
            return "an integer out of range" if numbers and not 0 <= value <= LAST_INTEGER else None
        case float():
            return "a number that is no integer" if numbers or value - value != 0 else None
        case Unwanted():
            return value.what
        case list():
            inside: list[object] = value
        case dict():
            if isinstance(value, FlawedMap):
                return value.what
            if not all(map(is_text, value)):
                return "a lone surrogate"
            inside = list(value.values())
        case _:
            return "a value of an unknown kind"
    if depth > deepest:
        return f"more than {deepest} levels of nesting"
    for item in inside:
        if flaw := find_flaw(item, depth + 1, numbers=numbers, deepest=deepest):
            return flaw
    return None


def is_text(text: str) -> bool:
    """Whether a string can be written as UTF-8."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# --- JSON


def read_json(frame: str) -> object:
    """The tree of a JSON text. Raises BadMessage when it is none."""
    try:
        return json.loads(
            frame,
            object_pairs_hook=_map_of_pairs,
            parse_int=_read_integer,
            parse_constant=_refuse_constant,
        )
    except RecursionError:
        raise BadMessage(f"The frame has {_TOO_DEEP.what}.") from None
    except ValueError as wrong:
        raise BadMessage(f"The frame is no JSON: {wrong}.") from None


def _map_of_pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    entries: dict[str, object] = {}
    doubled: list[str] = []
    for key, value in pairs:
        if key in entries:
            doubled.append(key)
        entries[key] = value
    return FlawedMap(entries, "a key that is there twice", doubled[0]) if doubled else entries


def _read_integer(digits: str) -> int:
    # Longer ones are out of range anyway, and Python would refuse to read thousands of digits.
    return int(digits) if len(digits) < 20 else LAST_INTEGER + 1


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


# --- MessagePack

_FIXED: dict[int, tuple[int, Callable[[bytes], tuple[object, ...]]]] = {
    0xCA: (4, struct.Struct(">f").unpack),
    0xCB: (8, struct.Struct(">d").unpack),
    0xCC: (1, struct.Struct(">B").unpack),
    0xCD: (2, struct.Struct(">H").unpack),
    0xCE: (4, struct.Struct(">I").unpack),
    0xCF: (8, struct.Struct(">Q").unpack),
    0xD0: (1, struct.Struct(">b").unpack),
    0xD1: (2, struct.Struct(">h").unpack),
    0xD2: (4, struct.Struct(">i").unpack),
    0xD3: (8, struct.Struct(">q").unpack),
}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
_BIN = {0xC4: 1, 0xC5: 2, 0xC6: 4}
_EXT = {0xC7: 1, 0xC8: 2, 0xC9: 4}
_FIXEXT = {0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16}
_STR = {0xD9: 1, 0xDA: 2, 0xDB: 4}
_ARRAY = {0xDC: 2, 0xDD: 4}
_MAP = {0xDE: 2, 0xDF: 4}
_NESTING = frozenset((*range(0x80, 0xA0), *_ARRAY, *_MAP))
_TRUNCATED = "The frame is no MessagePack: it ends too early."


def read_msgpack(frame: bytes) -> object:
    """The tree of one MessagePack value. Raises BadMessage when it is none."""
    reader = _MsgpackReader(frame)
    value = reader.read(1)
    if reader.at != len(frame):
        raise BadMessage("The frame is no MessagePack: something follows the map.")
    return value


class _MsgpackReader:
    """Reads a value at a time; believes no length that the frame is too short for."""

    def __init__(self, frame: bytes) -> None:
        self.frame = frame
        self.at = 0

    def read(self, depth: int) -> object:
        """The value that stands here, itself at a depth."""
        head = self._take(1)[0]
        if head not in _NESTING:
            return self._leaf(head)
        is_map, size = self._nesting(head)
        return self._map(size, depth) if is_map else self._list(size, depth)

    def _nesting(self, head: int) -> tuple[bool, int]:
        """Whether this byte begins a map, else a list, and how many entries it has."""
        if head < 0xA0:
            return head < 0x90, head & 0x0F
        return head in _MAP, self._length(_MAP[head] if head in _MAP else _ARRAY[head])

    def _leaf(self, head: int) -> object:
        """The value, with nothing nested in it, that begins with this byte."""
        if head < 0x80:
            return head
        if head >= 0xE0:
            return head - 0x100
        if 0xA0 <= head < 0xC0:
            return self._text(head & 0x1F)
        if head in _CONSTANTS:
            return _CONSTANTS[head]
        if head in _FIXED:
            size, unpack = _FIXED[head]
            return unpack(self._take(size))[0]
        if head in _STR:
            return self._text(self._length(_STR[head]))
        if head in _BIN:
            self._take(self._length(_BIN[head]))
            return Unwanted("MessagePack bin")
        if head in _EXT or head in _FIXEXT:
            size = self._length(_EXT[head]) if head in _EXT else _FIXEXT[head]
            self._take(1 + size)
            return Unwanted("a MessagePack extension")
        raise BadMessage("The frame is no MessagePack: it has the byte C1.")

    def _take(self, size: int) -> bytes:
        start, self.at = self.at, self.at + size
        if self.at > len(self.frame):
            raise BadMessage(_TRUNCATED)
        return self.frame[start : self.at]

    def _length(self, size: int) -> int:
        return int.from_bytes(self._take(size), "big")

    def _text(self, size: int) -> str | Unwanted:
        try:
            return str(self._take(size), "utf-8")
        except UnicodeDecodeError:
            return Unwanted("invalid UTF-8")

    def _list(self, size: int, depth: int) -> object:
        if depth > MAX_DEPTH:
            return self._skip(size)
        return [self.read(depth + 1) for _ in range(size)]

    def _map(self, size: int, depth: int) -> object:
        if depth > MAX_DEPTH:
            return self._skip(2 * size)
        entries: dict[str, object] = {}
        flaw: tuple[str, str | None] | None = None
        for _ in range(size):
            key = self.read(depth + 1)
            value = self.read(depth + 1)
            if not isinstance(key, str):
                flaw = flaw or ("a key that is no string", None)
                continue
            if key in entries:
                flaw = flaw or ("a key that is there twice", key)
            entries[key] = value
        return FlawedMap(entries, *flaw) if flaw else entries

    def _skip(self, values: int) -> Unwanted:
        """Pass over the values of what is nested too deep, however deep, without a call for each level."""
        while values:
            values -= 1
            head = self._take(1)[0]
            if head in _NESTING:
                is_map, size = self._nesting(head)
                values += 2 * size if is_map else size
            else:
                self._leaf(head)
        return _TOO_DEEP
