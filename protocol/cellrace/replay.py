"""Replays: one finished game each, complete in itself, signed by its server (protocol, section 6)."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple, cast

import msgspec
import rfc8785
from msgspec.structs import replace

from cellrace.board import dealt_board
from cellrace.deals import deal
from cellrace.errors import BadMessage, InvalidText
from cellrace.frames import find_flaw, read_json
from cellrace.game import Game
from cellrace.messages import Placement, Replay
from cellrace.notation import moves_text
from cellrace.variants import find_variant

# As long as those of Ed25519 are.
KEY_BYTES = 32
SIGNATURE_BYTES = 64

_ANSWER_FIELDS = {"type", "re", "replay"}


class Written(NamedTuple):
    """A replay as it was read, and the very map: a signature covers also the fields that are not known here."""

    replay: Replay
    fields: Mapping[str, object]


class Played(NamedTuple):
    """One entry of a replay played again: its stamp, its step (the move, then what went home), the game after it."""

    at: int
    step: list[str]
    game: Game


def key_id(public: bytes) -> str:
    """The name of a public key of 32 raw bytes."""
    return sha256(public).hexdigest()[:16]


def to_base64(raw: bytes) -> str:
    """Raw bytes of a key or a signature in base64."""
    return base64.b64encode(raw).decode()


def from_base64(text: str, size: int) -> bytes | None:
    """So many raw bytes from base64; None unless it is exactly as `to_base64` writes it."""
    try:
        raw = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    # The last character before the padding has bits that mean nothing: any other writing is a change too.
    return raw if len(raw) == size and to_base64(raw) == text else None


def signed_bytes(fields: Mapping[str, object]) -> bytes:
    """What the signature of a replay is over: its canonical JSON (RFC 8785) without `signature`."""
    signed = {name: value for name, value in fields.items() if name != "signature"}
    return rfc8785.dumps(cast(Any, signed))  # Of what JSON and MessagePack hold, rfc8785 writes everything.


def sign_replay(replay: Replay, public: bytes, sign: Callable[[bytes], bytes]) -> Replay:
    """The replay with the name of a key, and that key's signature, whatever it had before."""
    named = replace(replay, key=key_id(public), signature="")
    fields: dict[str, object] = msgspec.to_builtins(named)
    return replace(named, signature=to_base64(sign(signed_bytes(fields))))


def read_replay(text: bytes) -> Written:
    """The replay of its JSON, bare or as the answer `replay`. Raises InvalidText."""
    try:
        tree = read_json(text.decode())
    except UnicodeDecodeError as wrong:
        raise InvalidText(f"This is not UTF-8 text: {wrong}.") from None
    except BadMessage as wrong:
        raise InvalidText(f"This cannot be read: {wrong}") from None
    if flaw := find_flaw(tree):
        raise InvalidText(f"This has {flaw}.")
    if not isinstance(tree, dict):
        raise InvalidText("This is no replay: it is no map.")
    if "replay" in tree:
        strangers = sorted(tree.keys() - _ANSWER_FIELDS)
        if strangers or tree.get("type") != "replay":
            what = f"it has the field {strangers[0]!r}" if strangers else "its type is not 'replay'"
            raise InvalidText(f"This holds a replay, but is no answer `replay`: {what}.")
        tree = tree["replay"]
    try:
        return Written(msgspec.convert(tree, Replay), tree)
    except msgspec.ValidationError as wrong:
        raise InvalidText(f"This is no replay: {wrong}.") from None


def start_of(replay: Replay) -> Game:
    """The game before its first entry, from the number of the deal. Raises UnknownVariant, UnknownDeal."""
    variant = find_variant(replay.variant)
    board = dealt_board(variant, deal(variant, replay.deal), laid=replay.placement is Placement.FIXED)
    return Game(board, replay.autoplay, replay.undo)


def play_again(replay: Replay) -> Iterator[Played]:
    """Each entry in its turn. Raises IllegalMove, with its index, at the first that is illegal, and as `start_of`."""
    game = start_of(replay)
    for index, (at, move) in enumerate(replay.moves):
        game, step = game.play(move, index)
        yield Played(at, step, game)


def notation_of(replay: Replay) -> str:
    """The log in the field's standard notation, ten entries to a line."""
    return moves_text([move for _, move in replay.moves])
