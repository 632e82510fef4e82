"""Frames for tests of the codec, written by other libraries than the codec's own."""

from __future__ import annotations

import json
from typing import Any

import msgpack
import pytest

from cellrace.codec import JSON, MSGPACK, Codec
from cellrace.errors import BadMessage

Tree = dict[str, Any]

MOVE: Tree = {"type": "move", "id": 1, "race": "r", "seq": 0, "moves": ["26"]}
both = pytest.mark.parametrize("codec", [MSGPACK, JSON], ids=["msgpack", "json"])


def stranger_frame(codec: Codec, tree: object) -> bytes | str:
    """A frame as another library writes it; lone surrogates as they are."""
    return json.dumps(tree) if codec.text else bytes(msgpack.packb(tree, unicode_errors="surrogatepass"))


def socket_frame(codec: Codec, message: bytes) -> bytes | str:
    """An encoded message as it comes out of a socket."""
    return message.decode() if codec.text else message


def refusal(codec: Codec, frame: bytes | str) -> BadMessage:
    """What the codec says against a frame."""
    with pytest.raises(BadMessage) as refused:
        codec.decode_request(frame)
    return refused.value
