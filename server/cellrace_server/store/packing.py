"""Races that have ended, packed: they are kept for weeks and read seldom, so space counts and not speed.

A race becomes one blob of all that was on record when it ended, and one blob of each log. A log is text before it is
compressed: for each entry the ms since the one before (the first since the start), in base 32 with the digits `@` to
`_`, then the move, in which none of these characters appears.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct

_LEVEL = 9
_FIRST_DIGIT = ord("@")
_ENTRY = re.compile("([@-_]+)([^@-_]+)")


class PackedRace(Struct, frozen=True, array_like=True):
    """What is on record of a race that has ended, but for the logs; `deal` and `salt` only of one that was run."""

    creation: bytes
    records: tuple[bytes, ...]
    deal: int | None = None
    salt: str | None = None


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(PackedRace)


def pack_race(race: PackedRace) -> bytes:
    """The blob of a race."""
    return zlib.compress(_ENCODER.encode(race), _LEVEL)


def unpack_race(blob: bytes) -> PackedRace:
    """The race of its blob."""
    return _DECODER.decode(zlib.decompress(blob))


def pack_log(start_at: int, entries: Iterable[tuple[int, str]]) -> bytes:
    """The blob of a log: each entry a stamp that never falls, and a move."""
    parts: list[str] = []
    before = start_at
    for at, move in entries:
        parts += (_digits(at - before), move)
        before = at
    return zlib.compress("".join(parts).encode(), _LEVEL)


def unpack_log(start_at: int, blob: bytes) -> Sequence[tuple[int, str]]:
    """The log of its blob."""
    entries: list[tuple[int, str]] = []
    at = start_at
    for digits, move in _ENTRY.findall(zlib.decompress(blob).decode()):
        at += _number(digits)
        entries.append((at, move))
    return entries


def _digits(number: int) -> str:
    digits = ""
    while True:
        number, digit = divmod(number, 32)
        digits = chr(_FIRST_DIGIT + digit) + digits
        if not number:
            return digits


def _number(digits: str) -> int:
    number = 0
    for digit in digits:
        number = number * 32 + ord(digit) - _FIRST_DIGIT
    return number
