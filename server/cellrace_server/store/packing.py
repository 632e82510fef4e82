"""Races that have ended, packed: they are kept for weeks and read seldom, so space counts and not speed.

A race becomes one blob of all that was on record when it ended, and one of all its logs: in these, the moves of all
games stand together, and apart from them the ms between the stamps, for like with like packs best.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

_LEVEL = 9
"""The best that zlib can do."""
_RAW = -15
"""Deflate without a head and a sum, which would be a tenth of so little."""
_MOVE = re.compile("u|[^u].(?:v.)?")

# What nearly every race is made of, as it stands in records. It is part of the form: changed, nothing that was packed
# with it can be read any more. The likeliest stands last.
_COMMON = (
    b"\xa8bakers-game\xa9eight-off\xa9marseille\xaasix-by-six\xa8seahaven\xa7relaxed\xa8two-suit\xa8one-suit\xa5daily"
    b"\xa4type\xa4left\xa6player\xa6reason\xa6kicked\xa4type\xa9cancelled\xa4type\xa7rematch\xa9successor"
    b"\xa9timed_out\xa9forfeited\xa9abandoned\xa5ready\xc2\xa4none\xa5fixed\xa9first_win\xa4live\xa5after\xa7private\xc3"
    b"\xde\x00\x12\xa2id\xac\xa4kind\xa4race\xa8settings\x8e\xa7variant\xa8freecell\xa5seats\x02\xa7private\xc2"
    b"\xaatime_limit\xcd\x07\x08\xa9countdown\x05\xa5gracex\xa4undo\xc3\xa8autoplay\xa4safe\xa9placement\xa6player"
    b"\xa4ends\xa3all\xa6ranked\xc3\xa8spectate\xa7delayed\xa4bots\xc3\xa6ghosts\x90\xaacreated_at\xcf\x00\x00\x01\xa1"
    b"\xaacreated_by\xac\xa4code\xa8\xa7version\x00\xa7last_id\xa0\xaachanged_at\xcf\x00\x00\x01\xa1\xa8entrants\x90"
    b"\xa7leavers\x90\xa8start_at\xc0\xaacommitment\xc0\xa9standings\xc0\xa9cancelled\xc0\xa9successor\xc0\xa6parent\xc0"
    b"\xa6ghosts\x90:\x82\xa4type\xa6joined\xa6player\x83\xa2id\xac\xa4name\xa5Guest \xa3bot\xc3"
    b":\x83\xa4type\xa5ready\xa6player\xac\xa5ready\xc3"
    b":\x83\xa4type\xa9countdown\xa8start_at\xcf\x00\x00\x01\xa1\xaacommitment\xd9@"
    b":\x82\xa4type\xa4over\xa9standings\x92\x8a\xa6player\x83\xa2id\xac\xa4name\xa7\xa3bot\xc2\xa5place\x01\xa6status"
    b"\xa3won\xa4home4\xa5moves\xa5undos\x00\xa4time\xce\x00\xa3raw\xce\x00\xa7latency\xa6rating\x82\xa6before\xcd\x03\xe8"
    b"\xa5after\xcd\x04\x8a\xa6player\x83\xa2id\xac\xa4name\xa7\xa3bot\xc2\xa5place\x02\xa6status\xa8conceded"
    b"\xa4home\xa5moves\xa5undos\x00\xa4time\xc0\xa3raw\xc0\xa7latency\x00"
    b":\x85\xa4type\xa4done\xa6player\xac\xa6status\xa8conceded\xa5tally\x84\xa3seq\xa4home\xa5moves\xa5undos\x00"
    b"\xa7latency\x00:\x85\xa4type\xa4done\xa6player\xac\xa6status\xa3won\xa5tally\x84\xa3seqd\xa4home4\xa5movesd"
    b"\xa5undos\x00\xa7latency\x1f"
)


class PackedRace(Struct, frozen=True, array_like=True):
    """What is on record of a race that has ended, but for the logs; `deal` and `salt` only of one that was run."""

    creation: bytes
    records: tuple[bytes, ...]
    deal: int | None = None
    salt: str | None = None


class _PackedLogs(Struct, frozen=True, array_like=True):
    """How many entries each player's log has; the moves of all of them, and the ms between the stamps."""

    lengths: dict[str, int]
    moves: bytes
    waits: bytes


StampedMove = tuple[int, str]
"""An entry of a log: a stamp that never falls, and a move."""

_ENCODER = msgspec.msgpack.Encoder()
_RACES = msgspec.msgpack.Decoder(PackedRace)
_LOGS = msgspec.msgpack.Decoder(_PackedLogs)


def pack_race(race: PackedRace) -> bytes:
    """The blob of a race."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW, zdict=_COMMON)
    return packer.compress(_ENCODER.encode(race)) + packer.flush()


def unpack_race(blob: bytes) -> PackedRace:
    """The race of its blob."""
    unpacker = zlib.decompressobj(_RAW, zdict=_COMMON)
    return _RACES.decode(unpacker.decompress(blob) + unpacker.flush())


class LogPacker:
    """Packs the logs of one race, one after the other, so that others get their turn between long ones."""

    def __init__(self, start_at: int) -> None:
        self._start_at = start_at
        self._lengths: dict[str, int] = {}
        self._moves = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW)
        self._waits = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW)
        self._packed_moves: list[bytes] = []
        self._packed_waits: list[bytes] = []

    def add(self, player: str, entries: Iterable[StampedMove]) -> None:
        """Take in a player's log."""
        moves: list[str] = []
        waits = bytearray()
        before = self._start_at
        for at, move in entries:
            moves.append(move)
            _append_number(waits, at - before)
            before = at
        self._lengths[player] = len(moves)
        self._packed_moves.append(self._moves.compress("".join(moves).encode()))
        self._packed_waits.append(self._waits.compress(waits))

    def blob(self) -> bytes:
        """The blob of all of them; nothing is added after it."""
        moves = b"".join((*self._packed_moves, self._moves.flush()))
        waits = b"".join((*self._packed_waits, self._waits.flush()))
        return _ENCODER.encode(_PackedLogs(self._lengths, moves, waits))


def unpack_logs(start_at: int, blob: bytes) -> Mapping[str, Sequence[StampedMove]]:
    """The logs of their blob, by player."""
    packed = _LOGS.decode(blob)
    moves = iter(_MOVE.findall(zlib.decompress(packed.moves, _RAW).decode()))
    waits = _numbers(zlib.decompress(packed.waits, _RAW))
    logs: dict[str, list[StampedMove]] = {}
    for player, length in packed.lengths.items():
        at, log = start_at, logs.setdefault(player, [])
        for _ in range(length):
            at += next(waits)
            log.append((at, next(moves)))
    return logs


def rename_logs(blob: bytes, names: Mapping[str, str]) -> bytes:
    """The same logs, under other names for some of the players."""
    packed = _LOGS.decode(blob)
    lengths = {names.get(player, player): length for player, length in packed.lengths.items()}
    return _ENCODER.encode(_PackedLogs(lengths, packed.moves, packed.waits))


def _append_number(numbers: bytearray, number: int) -> None:
    while number > 127:
        numbers.append(number & 127 | 128)
        number >>= 7
    numbers.append(number)


def _numbers(data: bytes) -> Iterator[int]:
    number = shift = 0
    for byte in data:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield number
            number = shift = 0
