"""Verifying: every honest replay holds, every change is found, and the check that finds it says so."""

from __future__ import annotations

import json
import random
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from cellrace.autoplay import Autoplay
from cellrace.errors import InvalidText
from cellrace.messages import EntrantStatus, Placement, Replay
from cellrace.replay import key_id, sign_replay, to_base64
from cellrace.variants import VARIANTS
from cellrace.verifying import Check, read_keys, verify

from .golden_cases import GOLDEN
from .replays import KEYS, PUBLIC, lost_replay, random_moves, signed, unsigned, winning_moves, won_replay, written

CHANGES = 1_000


def failed(text: bytes | Replay, keys: dict[str, bytes] | None = None) -> dict[str, str]:
    """The checks that fail, with their sentences."""
    checks = verify(text if isinstance(text, bytes) else written(text), KEYS if keys is None else keys)
    return {check.name: check.sentence for check in checks if not check.holds}


def forged(replay: Replay, **fields: Any) -> Replay:
    """A replay with other fields, signed by the server all the same: only the other checks can find it."""
    return signed(replace(replay, **fields))


def forged_result(replay: Replay, **fields: Any) -> Replay:
    return forged(replay, result=replace(replay.result, **fields))


HONEST = [
    won_replay(),
    won_replay("two-suit", 3, "Rök ♜"),
    won_replay("six-by-six", 1),
    won_replay("marseille", 1),
    won_replay("eight-off", 1),
    lost_replay(),
    lost_replay("seahaven", 12, 80, seed=3),
    lost_replay(count=0),
    signed(unsigned("marseille", 9, (), placement=Placement.FIXED, autoplay=Autoplay.SAFE)),
]


@pytest.mark.parametrize("replay", HONEST, ids=lambda replay: f"{replay.variant}-{len(replay.moves)}")
def test_every_check_of_an_honest_replay_holds(replay: Replay) -> None:
    checks = verify(written(replay), KEYS)
    assert [check for check in checks if not check.holds] == []
    names = ["form", "commitment", "deal", "moves", "stamps", "result", "key", "signature"]
    assert [check.name for check in checks] == names
    assert all(check.sentence.endswith(".") for check in checks)


@given(st.sampled_from(list(VARIANTS)), st.integers(1, 2**33 - 1), st.integers(0, 60), st.integers(0, 2**32))
def test_any_legal_log_of_any_deal_verifies(variant: str, number: int, count: int, seed: int) -> None:
    moves = random_moves(variant, number, count, seed)
    assert failed(signed(unsigned(variant, number, moves, autoplay=Autoplay.SAFE, seed=seed))) == {}


def test_the_golden_replay_verifies_with_the_golden_key() -> None:
    keys = read_keys((GOLDEN / "replay.key").read_bytes())
    assert all(check.holds for check in verify((GOLDEN / "replay.json").read_bytes(), keys))


def test_each_of_many_replays_with_one_byte_changed_does_not_verify() -> None:
    """Whatever byte it is, also in the last character of the signature, and whatever it becomes."""
    chance = random.Random(7)
    texts = [written(replay) for replay in HONEST]
    texts += [b'{"type":"replay","replay":' + text + b"}" for text in texts[:3]]
    for number in range(CHANGES):
        text = texts[number % len(texts)]
        place = chance.randrange(len(text))
        byte = chance.choice([b for b in range(256) if b != text[place]])
        changed = text[:place] + bytes((byte,)) + text[place + 1 :]
        assert failed(changed), f"byte {place} of {text!r} became {byte}"


def test_every_other_last_character_of_the_signature_is_a_change() -> None:
    text = written(won_replay())
    place = text.index(b'=="') - 1
    for letter in b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=":
        if letter != text[place]:
            assert "signature" in failed(text[:place] + bytes((letter,)) + text[place + 1 :])


@pytest.mark.parametrize("field", ["race", "player", "name", "bot", "start_at", "kind", "undo"])
def test_a_changed_word_about_the_game_breaks_the_signature_alone(field: str) -> None:
    fields = json.loads(written(won_replay()))
    was = fields[field]
    fields[field] = {str: "daily", bool: not was, int: 5}[type(was)]
    assert list(failed(json.dumps(fields).encode())) == ["signature"]


def test_a_field_that_nobody_knows_is_covered_by_the_signature() -> None:
    fields = json.loads(written(won_replay())) | {"weather": "fine"}
    assert list(failed(json.dumps(fields).encode())) == ["signature"]


def test_whitespace_and_the_order_of_fields_are_no_change() -> None:
    fields = json.loads(written(won_replay()))
    assert failed(json.dumps(dict(reversed(fields.items())), indent=2).encode()) == {}


WON = won_replay()
LOST = lost_replay()
STAMPS = WON.moves


@pytest.mark.parametrize(
    ("replay", "checks"),
    [
        (forged(WON, salt="0" * 32), {"commitment"}),
        (forged(WON, salt=WON.salt[:-1]), {"commitment"}),
        (forged(WON, commitment=WON.commitment.upper()), {"commitment"}),
        (forged(WON, layout=WON.layout[::-1]), {"deal"}),
        (forged(WON, cells=(None, None)), {"deal"}),
        (forged(WON, reserve=("AS",)), {"deal"}),
        (forged(WON, variant="chess"), {"commitment", "deal", "moves", "result"}),
        (forged(WON, moves=((0, "h1"), *WON.moves)), {"moves", "result"}),
        (forged(WON, moves=(*WON.moves, (WON.ended, "1a"))), {"moves", "result"}),
        (forged(WON, moves=(*WON.moves, (WON.ended, "u"))), {"moves", "result"}),
        (forged(lost_replay(count=1), undo=False, moves=((0, "u"),)), {"moves", "result"}),
        (forged(WON, moves=WON.moves[:-1]), {"result"}),
        (forged(LOST, moves=((LOST.ended, LOST.moves[0][1]), *LOST.moves[1:])), {"stamps"}),
        (forged(LOST, ended=LOST.moves[-1][0] - 1), {"stamps"}),
        (forged(WON, ended=WON.ended + 1), {"result"}),
        (forged_result(WON, home=12), {"result"}),
        (forged_result(WON, status=EntrantStatus.CONCEDED), {"result"}),
        (forged_result(WON, raw=None), {"result"}),
        (forged_result(WON, raw=WON.ended - 1), {"result"}),
        (forged_result(WON, latency=251, time=WON.ended - 251), {"result"}),
        (forged_result(WON, time=WON.ended + 1), {"result"}),
        (forged_result(LOST, status=EntrantStatus.WON, time=1, raw=1, latency=0), {"result"}),
        (forged_result(LOST, status=EntrantStatus.PLAYING), {"result"}),
        (forged_result(LOST, time=5), {"result"}),
        (replace(WON, key="0" * 16), {"key", "signature"}),
        (replace(WON, signature=""), {"signature"}),
        (replace(WON, signature=to_base64(bytes(64))), {"signature"}),
    ],
)
def test_what_is_wrong_is_found_by_the_check_that_is_about_it(replay: Replay, checks: set[str]) -> None:
    assert set(failed(replay)) == checks


def test_moves_are_played_from_the_number_of_the_deal_and_not_from_the_layout_told() -> None:
    other = unsigned("one-suit", 95, ())
    assert set(failed(forged(WON, layout=other.layout))) == {"deal"}


def test_a_stranger_s_key_is_no_proof() -> None:
    stranger = Ed25519PrivateKey.generate()
    public = stranger.public_key().public_bytes_raw()
    replay = sign_replay(WON, public, stranger.sign)
    assert set(failed(replay)) == {"key", "signature"}
    assert failed(replay, {key_id(public): public}) == {}
    assert set(failed(replace(replay, key=key_id(PUBLIC)))) == {"signature"}


def test_without_a_key_not_all_holds() -> None:
    told = failed(WON, {})
    assert set(told) == {"key", "signature"}
    assert WON.key in told["key"]


@pytest.mark.parametrize("latency", [0, 250])
def test_a_time_never_falls_below_nothing(latency: int) -> None:
    moves = winning_moves("one-suit", 94)
    quick = replace(
        unsigned("one-suit", 94, moves),
        moves=tuple((100, move) for move in moves),
        ended=100,
    )
    result = replace(quick.result, raw=100, latency=latency, time=max(0, 100 - latency))
    assert failed(forged(quick, result=result)) == {}


def test_of_what_is_no_replay_only_the_form_is_told() -> None:
    for text in (b"", b"{", b"\xff", b'{"type":"pong","now":5}', b"[" * 50_000):
        assert [(check.name, check.holds) for check in verify(text, KEYS)] == [("form", False)]


@given(st.binary(max_size=200))
def test_no_bytes_make_it_fail_in_any_other_way(text: bytes) -> None:
    assert all(isinstance(check, Check) for check in verify(text, KEYS))


def test_keys_are_read_as_the_server_gives_them() -> None:
    text = to_base64(PUBLIC)
    other = to_base64(bytes(32))
    published = msgspec.json.encode({"keys": [{"key": key_id(PUBLIC), "public": text}]})
    assert read_keys(text.encode()) == KEYS
    assert read_keys(f"  {text}\n".encode()) == KEYS
    assert read_keys(published) == KEYS
    assert set(read_keys(f"{text}\n{other}\n".encode())) == {key_id(PUBLIC), key_id(bytes(32))}


@pytest.mark.parametrize(
    "text", [b"", b"\xff", b"abc", b"{}", b'{"keys":[]}', b"{" * 9_000, to_base64(bytes(31)).encode(), b"AAAA " * 9]
)
def test_what_is_no_key_is_refused_with_a_sentence(text: bytes) -> None:
    with pytest.raises(InvalidText):
        read_keys(text)
