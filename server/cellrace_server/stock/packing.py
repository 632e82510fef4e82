"""How a stock lies in its file; integers are little-endian.

    4 bytes            `CRS1`
    u32                how many deals
    u64 each           their numbers, in ascending order
    u32 each, and one  the place of each deal's first move among all moves, and the end
    u16 each           the moves of all deals: source · 800 + target · 40 + cards

Piles are numbered as in `cellrace.notation`, `cards` is 0 where the move does not say. Moves are those that a player
sends in a game with autoplay `safe`: half as many, and the board tells the others again.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cellrace.notation import move_text, parse_move

_MAGIC = b"CRS1"
_HEAD = struct.Struct("<4sI")
_CARDS = 40
_TARGETS = 20
"""More than a move can carry, and as many as there are piles."""


@dataclass(frozen=True, slots=True)
class PackedStock:
    """A stock's numbers, and the moves as they lie in the file, unpacked only when asked for."""

    numbers: tuple[int, ...]
    places: tuple[int, ...]
    codes: bytes

    def moves(self, index: int) -> list[str]:
        """The moves of the deal at an index of `numbers`."""
        begin, end = self.places[index : index + 2]
        return unpack_moves(self.codes[begin * 2 : end * 2])


def pack_moves(moves: Iterable[str]) -> bytes:
    """Moves as they lie in the file, without the file around them."""
    codes = [_code(move) for move in moves]
    return struct.pack(f"<{len(codes)}H", *codes)


def unpack_moves(packed: bytes) -> list[str]:
    """The moves that were packed."""
    return [_move(code) for (code,) in struct.iter_unpack("<H", packed)]


def read_stock(data: bytes) -> PackedStock:
    """The stock of a file. Raises ValueError when it is none."""
    if len(data) < _HEAD.size or data[:4] != _MAGIC:
        raise ValueError("This is no stock of deals.")
    _, count = _HEAD.unpack_from(data)
    begin = _HEAD.size
    numbers = struct.unpack_from(f"<{count}Q", data, begin)
    begin += count * 8
    places = struct.unpack_from(f"<{count + 1}I", data, begin)
    begin += (count + 1) * 4
    if len(data) != begin + places[-1] * 2:
        raise ValueError("This stock of deals is cut off or too long.")
    return PackedStock(numbers, places, data[begin:])


def write_stock(proofs: Mapping[int, Sequence[str]]) -> bytes:
    """The file of deals, each with the moves that a player sends."""
    numbers = sorted(proofs)
    places = [0]
    codes = bytearray()
    for number in numbers:
        codes += pack_moves(proofs[number])
        places.append(len(codes) // 2)
    count = len(numbers)
    return b"".join(
        (
            _HEAD.pack(_MAGIC, count),
            struct.pack(f"<{count}Q", *numbers),
            struct.pack(f"<{count + 1}I", *places),
            codes,
        )
    )


def _code(text: str) -> int:
    source, target, cards = parse_move(text)
    return (source * _TARGETS + target) * _CARDS + cards


def _move(code: int) -> str:
    piles, cards = divmod(code, _CARDS)
    return move_text(*divmod(piles, _TARGETS), cards)
