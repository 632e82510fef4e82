"""What the codec refuses: frames that are no messages, with the field to blame, and settings that cannot be read."""

from __future__ import annotations

import pytest

from cellrace.codec import JSON, MSGPACK, Codec
from cellrace.errors import BadMessage
from cellrace.messages import (
    Ghost,
    Ping,
    RaceCreate,
    SettingsRequest,
    UnreadableSettings,
)

from .codec_frames import MOVE, Tree, both, refusal, stranger_frame

# --- what is not

WRONG_EVERYWHERE: list[tuple[str, object]] = [
    ("float", 1.5),
    ("whole float", 1.0),
    ("negative", -1),
    ("too large", 2**53),
    ("lone surrogate", "\ud800"),
    ("lone surrogate in a key", {"\udfff": 1}),
    ("deep inside", [{"a": [1.0]}]),
]


@both
@pytest.mark.parametrize(("what", "value"), WRONG_EVERYWHERE)
@pytest.mark.parametrize("field", ["seq", "future"])
def test_what_is_no_value_of_the_protocol_is_refused_in_known_and_unknown_fields(
    codec: Codec, what: str, value: object, field: str
) -> None:
    frame = stranger_frame(codec, MOVE | {field: value})
    bad = refusal(codec, frame)
    assert (bad.field, bad.re) == (field, 1)


@both
@pytest.mark.parametrize(
    ("tree", "field"),
    [
        ({"id": 1}, "type"),
        ({"type": None}, "type"),
        ({"type": 5}, "type"),
        ({"type": ["ping"]}, "type"),
        ({"type": "Ping"}, "type"),
        ({"type": "moved"}, "type"),
        ({"type": "move", "race": "r", "moves": ["26"]}, "seq"),
        (MOVE | {"seq": "0"}, "seq"),
        (MOVE | {"seq": True}, "seq"),
        (MOVE | {"moves": []}, "moves"),
        (MOVE | {"moves": ["26"] * 65}, "moves"),
        (MOVE | {"moves": ["26", 26]}, "moves"),
        (MOVE | {"moves": ["26", None]}, "moves"),
        (MOVE | {"moves": "26"}, "moves"),
        (MOVE | {"race": 5}, "race"),
        (MOVE | {"id": True}, "id"),
        (MOVE | {"id": [1]}, "id"),
        (MOVE | {"id": "x" * 65}, "id"),
        ({"type": "race.ready", "race": "r", "ready": 1}, "ready"),
        ({"type": "race.join"}, "race"),
        ({"type": "race.join", "race": "r", "code": "c"}, "code"),
        ({"type": "race.list", "limit": 101}, "limit"),
        ({"type": "race.list", "state": "shut"}, "state"),
        ({"type": "race.create", "settings": []}, "settings"),
        ({"type": "daily.get", "date": "13.10.2026"}, "date"),
        ({"type": "leaderboard", "board": "deal", "deal": 0}, "deal"),
        ({"type": "leaderboard", "board": "deal", "deal": 2**33}, "deal"),
        ({"type": "hello", "client": "x" * 201}, "client"),
    ],
)
def test_a_missing_mistyped_or_out_of_range_field_is_blamed(codec: Codec, tree: Tree, field: str) -> None:
    assert refusal(codec, stranger_frame(codec, tree)).field == field


@both
@pytest.mark.parametrize("tree", [[], [MOVE], "move", 5, None, True])
def test_a_frame_that_is_no_map_is_refused(codec: Codec, tree: object) -> None:
    assert refusal(codec, stranger_frame(codec, tree)).field is None


@both
@pytest.mark.parametrize("request_id", [1.0, -1, 2**53, True, None, ["x"], "x" * 65])
def test_a_bad_id_is_not_echoed(codec: Codec, request_id: object) -> None:
    assert refusal(codec, stranger_frame(codec, {"type": "move", "id": request_id})).re is None


def test_a_frame_of_the_other_kind_is_refused() -> None:
    assert "binary" in str(refusal(MSGPACK, '{"type":"ping"}'))
    assert "text" in str(refusal(JSON, b'{"type":"ping"}'))


def test_raw_payloads_are_read_by_their_kind() -> None:
    assert JSON.decode_payload(b'{"type":"ping"}', text=True) == Ping()
    assert MSGPACK.decode_payload(b"\x81\xa4type\xa4ping", text=False) == Ping()
    for codec, payload, text in (
        (JSON, b"\x81\xa4type\xa4ping", False),
        (MSGPACK, b'{"type":"ping"}', True),
        (JSON, b'{"type":"ping","x":"\xff"}', True),
    ):
        with pytest.raises(BadMessage):
            codec.decode_payload(payload, text)


@pytest.mark.parametrize(
    ("frame", "field", "request_id"),
    [
        ("", None, None),
        ("{", None, None),
        ('{"type":"ping"} {}', None, None),
        ('{"type":"ping","x":NaN}', None, None),
        ('{"type":"ping","x":-Infinity}', None, None),
        ("{'type':'ping'}", None, None),
        ('{"type":"ping",}', None, None),
        ('{"type":"ping","x":"\n"}', None, None),
        ('\ufeff{"type":"ping"}', None, None),
        ('{"type":"ping","id":5,"x":1e400}', "x", 5),
        ('{"type":"ping","id":5,"x":1e0}', "x", 5),
        ('{"type":"ping","id":5,"x":' + "9" * 9000 + "}", "x", 5),
        ('{"id":5,"type":"ping","type":"ping"}', "type", 5),
        ('{"type":"ping","id":5,"x":{"a":1,"a":1}}', "x", 5),
        ('{"type":"move","id":5,"race":"r","race":"r","seq":0,"moves":["26"]}', "race", 5),
        ('{"type":"move","race":"type","race":"r","seq":0,"seq":0,"moves":["26"]}', "race", None),
        ('{"type":"ping","x":"\\ud800"}', "x", None),
        ('{"type":"ping","x":"\ud800"}', "x", None),
        ("[" * 16_000, None, None),
        ('{"type":"ping","x":' + "[" * 100 + "]" * 100 + ',"id":5}', "x", 5),
    ],
)
def test_json_that_is_not_accepted(frame: str, field: str | None, request_id: int | None) -> None:
    bad = refusal(JSON, frame)
    assert (bad.field, bad.re) == (field, request_id)


PING = b"\xa4type\xa4ping"


@pytest.mark.parametrize(
    ("frame", "field", "request_id"),
    [
        (b"", None, None),
        (b"\x81\xa4type", None, None),
        (b"\x81" + PING + b"\xc0", None, None),
        (b"\xc1", None, None),
        (b"\x82" + PING + b"\xa1x\xc1", None, None),
        (b"\x83" + PING + b"\xa1x\xc4\x01a\xa2id\x05", "x", 5),
        (b"\x83" + PING + b"\xa1x\xc5\x00\x01a\xa2id\x05", "x", 5),
        (b"\x83" + PING + b"\xa1x\xd6\xff\x00\x00\x00\x00\xa2id\x05", "x", 5),
        (b"\x83" + PING + b"\xa1x\xc7\x01\x05a\xa2id\x05", "x", 5),
        (b"\x83" + PING + b"\xa1x\xca\x3f\x80\x00\x00\xa2id\x05", "x", 5),
        (b"\x83" + PING + b"\xa1x\xa2\xc3\x28\xa2id\x05", "x", 5),
        (b"\x83" + PING + b"\xa1x\xff\xa2id\x05", "x", 5),
        (b"\x83" + PING + b"\xa1x\xe0\xa2id\x05", "x", 5),
        (b"\x83" + PING + b"\x01\x02\xa2id\x05", None, 5),
        (b"\x83" + PING + b"\x91\x01\x02\xa2id\x05", None, 5),
        (b"\x83" + PING + b"\xc4\x01x\x02\xa2id\x05", None, 5),
        (b"\x83" + PING + b"\xa1x\x81\x01\x02\xa2id\x05", "x", 5),
        (b"\x83" + PING + PING + b"\xa2id\x05", "type", 5),
        (b"\x83" + PING + b"\xa1x\x82\xa1a\x01\xa1a\x01\xa2id\x05", "x", 5),
        (b"\x85\xa4type\xa4move\xa4race\xa1r\xa3seq\x00\xa3seq\x00\xa5moves\x91\xa226", "seq", None),
        (b"\x84\xa4race\xa1r\xa3seq\x00\xa3seq\x00\xa5moves\x91\xa4move", "seq", None),
        (b"\x83" + PING + b"\xa1x" + b"\x91" * 15_000 + b"\x01\xa2id\x05", "x", 5),
        (b"\x82" + PING + b"\xa1x" + b"\x91" * 15_000, None, None),
        (b"\xdf\xff\xff\xff\xff" + PING, None, None),
        (b"\x82" + PING + b"\xa1x\xdd\xff\xff\xff\xff\x01", None, None),
        (b"\x82" + PING + b"\xa1x\xdb\xff\xff\xff\xffa", None, None),
        (b"\x82" + PING + b"\xa1x" + b"\x91" * 9 + b"\xdd\xff\xff\xff\xff\x01", None, None),
        (b"\x84\xa4type\xa4move\xa4race\xa1r\xa3seq\x00\xa5moves\xdd\xff\xff\xff\xff\xa226", None, None),
    ],
)
def test_messagepack_that_is_not_accepted(frame: bytes, field: str | None, request_id: int | None) -> None:
    bad = refusal(MSGPACK, frame)
    assert (bad.field, bad.re) == (field, request_id)


# --- settings


@both
@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        ({"seats": 0}, "seats"),
        ({"seats": 251}, "seats"),
        ({"seats": -1}, "seats"),
        ({"seats": 2.0}, "seats"),
        ({"seats": 2**60}, "seats"),
        ({"seats": "2"}, "seats"),
        ({"seats": True}, "seats"),
        ({"time_limit": 9}, "time_limit"),
        ({"time_limit": 86401}, "time_limit"),
        ({"countdown": 61}, "countdown"),
        ({"grace": 14}, "grace"),
        ({"deal": 0}, "deal"),
        ({"deal": 2**33}, "deal"),
        ({"undo": "yes"}, "undo"),
        ({"autoplay": "all"}, "autoplay"),
        ({"ends": "last_win"}, "ends"),
        ({"variant": 5}, "variant"),
        ({"colour": "red"}, "colour"),
        ({"ghosts": [5]}, "ghosts"),
        ({"ghosts": [{"race": "r"}]}, "ghosts"),
        ({"ghosts": [{"race": "r", "player": "p", "pace": 2}]}, "ghosts"),
        ({"ghosts": [{"race": "r", "player": "p"}] * 9}, "ghosts"),
    ],
)
def test_settings_that_cannot_be_read_are_a_request_with_the_setting_to_blame(
    codec: Codec, settings: Tree, wrong: str
) -> None:
    request = codec.decode_request(stranger_frame(codec, {"type": "race.create", "id": 1, "settings": settings}))
    assert isinstance(request, RaceCreate)
    assert isinstance(request.settings, UnreadableSettings)
    assert (request.id, request.settings.wrong) == (1, wrong)
    assert wrong in request.settings.sentence


@both
def test_settings_take_null_for_absent(codec: Codec) -> None:
    settings = {"seats": None, "colour": None, "variant": "relaxed", "ghosts": None}
    request = codec.decode_request(stranger_frame(codec, {"type": "race.create", "settings": settings}))
    assert request == RaceCreate(settings=SettingsRequest(variant="relaxed"))
    settings = {"ghosts": [{"race": "r", "player": "p", "pace": None}]}
    request = codec.decode_request(stranger_frame(codec, {"type": "race.create", "settings": settings}))
    assert request == RaceCreate(settings=SettingsRequest(ghosts=(Ghost(race="r", player="p"),)))


@both
@pytest.mark.parametrize("tree", [{"type": "race.create", "x": 1.5}, {"type": "ping", "settings": 1.5}])
def test_only_the_settings_of_a_new_race_may_hold_wrong_numbers(codec: Codec, tree: Tree) -> None:
    assert refusal(codec, stranger_frame(codec, tree)).field in ("x", "settings")


@both
@pytest.mark.parametrize("settings", [{"name": "\ud800"}, {"a": [[[[[[[[1]]]]]]]]}])
def test_what_no_frame_may_hold_no_settings_may_hold(codec: Codec, settings: Tree) -> None:
    frame = stranger_frame(codec, {"type": "race.create", "settings": settings})
    assert refusal(codec, frame).field == "settings"
