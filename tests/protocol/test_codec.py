"""The codec: both subprotocols say the same, and take nothing that the protocol does not."""

from __future__ import annotations

import json
from collections.abc import Callable

import msgpack
import pytest

from cellrace.codec import CODECS, JSON, MSGPACK, REQUESTS, Codec, choose_codec
from cellrace.errors import BadMessage
from cellrace.messages import (
    ClientMessage,
    Move,
    Moved,
    Ok,
    Ping,
    RaceReady,
    ServerMessage,
)

from .codec_frames import MOVE, Tree, both, refusal, socket_frame, stranger_frame
from .examples.values import Example
from .frame_examples import GOLDEN, GOLDEN_FRAMES, SENT_BY_SERVER, frames, golden_text, read_golden
from .frame_examples import REQUESTS as REQUEST_EXAMPLES


def _read(codec: Codec, shown: Example, frame: bytes | str) -> ClientMessage | ServerMessage:
    """A frame, read by the side that gets it."""
    return codec.decode_server(frame) if shown in SENT_BY_SERVER else codec.decode_request(frame)


# --- anchored


def test_a_move_is_these_bytes() -> None:
    move = Move(id=7, race="r1", seq=300, moves=("26v3", "ah"))
    assert MSGPACK.encode_request(move) == (
        b"\x85\xa4type\xa4move\xa2id\x07\xa4race\xa2r1\xa3seq\xcd\x01\x2c\xa5moves\x92\xa426v3\xa2ah"
    )
    assert JSON.encode_request(move) == b'{"type":"move","id":7,"race":"r1","seq":300,"moves":["26v3","ah"]}'


def test_an_answer_to_a_move_is_these_bytes() -> None:
    moved = Moved(re=7, race="r1", seq=1, steps=(("7a",),), home=0, at=0, won=False)
    assert MSGPACK.encode(moved) == (
        b"\x88\xa4type\xa5moved\xa2re\x07\xa4race\xa2r1\xa3seq\x01\xa5steps\x91\x91\xa27a\xa4home\x00\xa2at\x00\xa3won\xc2"
    )


def test_the_bytes_of_a_stranger_are_a_move() -> None:
    assert MSGPACK.decode_request(b"\x84\xa3seq\x00\xa5moves\x91\xa226\xa4type\xa4move\xa4race\xa1r") == Move(
        race="r", seq=0, moves=("26",)
    )
    assert JSON.decode_request('{ "moves" : [ "26" ],\n "seq":0, "race":"\\u0072", "type":"move" }') == Move(
        race="r", seq=0, moves=("26",)
    )


@pytest.mark.parametrize("name", GOLDEN)
def test_every_message_is_written_as_it_always_was(name: str) -> None:
    assert (GOLDEN_FRAMES / f"{name}.txt").read_text("utf-8") == golden_text(GOLDEN[name])


@pytest.mark.parametrize("name", GOLDEN)
def test_other_libraries_read_and_write_the_same_frames(name: str) -> None:
    for frame, shown in zip(read_golden(name), GOLDEN[name], strict=True):
        tree = json.loads(frame.json)
        assert _read(MSGPACK, shown, msgpack.packb(tree)) == _read(JSON, shown, json.dumps(tree)) == shown.message
        assert msgpack.unpackb(frame.msgpack) == tree
        assert json.dumps(tree, separators=(",", ":"), ensure_ascii=False) == frame.json


@pytest.mark.parametrize("shown", REQUEST_EXAMPLES, ids=lambda shown: type(shown.message).__name__)
def test_requests_read_back_as_they_were(shown: Example) -> None:
    frame = frames(shown.message)
    assert JSON.decode_request(frame.json) == shown.message
    assert MSGPACK.decode_request(frame.msgpack) == shown.message


@pytest.mark.parametrize("shown", SENT_BY_SERVER, ids=lambda shown: type(shown.message).__name__)
def test_the_client_reads_what_the_server_wrote(shown: Example) -> None:
    frame = frames(shown.message)
    assert JSON.decode_server(frame.json) == shown.message
    assert MSGPACK.decode_server(frame.msgpack) == shown.message


# --- which codec


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (["cellrace.v1.json", "cellrace.v1.msgpack"], JSON),
        (["cellrace.v2", "cellrace.v1.msgpack", "cellrace.v1.json"], MSGPACK),
        (["cellrace.v2"], None),
        ([], None),
    ],
)
def test_the_first_subprotocol_offered_that_is_known_is_taken(offered: list[str], chosen: Codec | None) -> None:
    assert choose_codec(offered) is chosen


def test_each_codec_knows_its_name() -> None:
    assert {name: codec.text for name, codec in CODECS.items()} == {
        "cellrace.v1.msgpack": False,
        "cellrace.v1.json": True,
    }


# --- what is taken


@both
def test_null_equals_absent_in_every_field(codec: Codec) -> None:
    for name, request in REQUESTS.items():
        asked: Tree = {"type": name, "race": "r", "player": "p", "seq": 0, "moves": ["26"], "board": "daily"}
        asked |= {"variant": "freecell", "date": "2026-10-13"}
        nulls = {field: None for field in request.__struct_fields__ if field not in asked}
        with_nulls = codec.decode_request(stranger_frame(codec, asked | nulls))
        assert with_nulls == codec.decode_request(stranger_frame(codec, asked))


@both
def test_null_means_the_default_where_there_is_one(codec: Codec) -> None:
    assert codec.decode_request(stranger_frame(codec, {"type": "race.ready", "race": "r", "ready": None})) == RaceReady(
        race="r"
    )


@both
def test_a_null_where_a_field_is_required_is_a_missing_field(codec: Codec) -> None:
    assert refusal(codec, stranger_frame(codec, MOVE | {"seq": None})).field == "seq"


@both
def test_unknown_fields_are_ignored(codec: Codec) -> None:
    tree = MOVE | {"": "x", "future": {"deep": [True, None, "é", 2**53 - 1]}}
    assert codec.decode_request(stranger_frame(codec, tree)) == Move(id=1, race="r", seq=0, moves=("26",))


@both
@pytest.mark.parametrize("request_id", [0, 2**53 - 1, "", "x" * 64, "é" * 64])
def test_an_id_is_an_integer_or_a_string_of_64_characters(codec: Codec, request_id: int | str) -> None:
    assert codec.decode_request(stranger_frame(codec, {"type": "ping", "id": request_id})) == Ping(id=request_id)
    assert refusal(codec, stranger_frame(codec, {"type": "pang", "id": request_id})).re == request_id


@both
@pytest.mark.parametrize("request_id", [None, 0, 7, "seven"])
def test_a_plain_move_needs_no_careful_look(
    codec: Codec, request_id: int | str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearly every frame is one, and the careful way takes twenty times as long."""
    for careful in ("read_json", "read_msgpack"):
        monkeypatch.setattr(f"cellrace.codec.{careful}", _never)
    move = Move(id=request_id, race="r1", seq=3, moves=("26", "3a"))
    assert codec.decode_request(socket_frame(codec, codec.encode_request(move))) == move


def _never(frame: object) -> object:
    raise AssertionError(f"a careful look at {frame!r}")


@both
@pytest.mark.parametrize("around", [lambda inner: [inner], lambda inner: {"a": inner}], ids=["lists", "maps"])
def test_eight_levels_are_taken_and_nine_are_not(codec: Codec, around: Callable[[object], object]) -> None:
    def nested(levels: int) -> Tree:
        inner: object = 1
        for _ in range(levels - 1):
            inner = around(inner)
        return {"type": "ping", "id": 3, "x": inner}

    assert codec.decode_request(stranger_frame(codec, nested(8))) == Ping(id=3)
    bad = refusal(codec, stranger_frame(codec, nested(9)))
    assert (bad.field, bad.re) == ("x", 3)


# --- the client's side


@both
def test_a_client_ignores_fields_that_it_does_not_know(codec: Codec) -> None:
    assert codec.decode_server(stranger_frame(codec, {"type": "ok", "re": 1, "mood": {"good": 1.5}})) == Ok(re=1)


@both
@pytest.mark.parametrize("tree", [{"type": "okay"}, {"type": "pong"}, {"type": "pong", "now": "x"}, [], {}])
def test_a_client_refuses_what_is_no_message(codec: Codec, tree: object) -> None:
    with pytest.raises(BadMessage):
        codec.decode_server(stranger_frame(codec, tree))


@both
def test_a_client_survives_nesting_that_lies(codec: Codec) -> None:
    deep = '{"type":"ok","x":' + "[" * 50_000 if codec.text else b"\x82\xa4type\xa2ok\xa1x" + b"\x91" * 50_000
    with pytest.raises(BadMessage):
        codec.decode_server(deep)


@pytest.mark.parametrize("frame", [b"\x82\xa4type\xa5races\xa5races\xdd\xff\xff\xff\xff", "text"])
def test_a_client_believes_no_length_and_no_other_kind(frame: bytes | str) -> None:
    with pytest.raises(BadMessage):
        MSGPACK.decode_server(frame)
