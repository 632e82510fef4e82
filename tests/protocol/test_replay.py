"""Replays: written, signed and read in one way, and played again to the same end."""

from __future__ import annotations

import json
import string
from hashlib import sha256

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from msgspec.structs import replace

from cellrace.autoplay import Autoplay
from cellrace.board import dealt_board
from cellrace.codec import JSON, MSGPACK
from cellrace.deals import deal
from cellrace.errors import IllegalMove, InvalidText, UnknownVariant
from cellrace.messages import Placement, ReplayAnswer
from cellrace.notation import parse_moves
from cellrace.replay import (
    KEY_BYTES,
    from_base64,
    key_id,
    notation_of,
    play_again,
    read_replay,
    signed_bytes,
    start_of,
    to_base64,
)
from cellrace.variants import VARIANTS, find_variant

from .golden_cases import GOLDEN
from .replays import PUBLIC, lost_replay, random_moves, signed, unsigned, won_replay, written


def test_the_key_is_named_by_the_hash_of_its_raw_bytes() -> None:
    assert key_id(PUBLIC) == sha256(PUBLIC).hexdigest()[:16]
    assert won_replay().key == key_id(PUBLIC)


def test_the_signature_is_over_the_sorted_compact_json_without_itself() -> None:
    """Checked with the standard library's JSON alone: for these fields it writes what RFC 8785 asks for."""
    replay = won_replay(name='Rök ♜ \\ " é')
    fields = json.loads(written(replay))
    signature = from_base64(fields.pop("signature"), 64)
    assert signature is not None
    canonical = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    Ed25519PublicKey.from_public_bytes(PUBLIC).verify(signature, canonical)
    assert signed_bytes(json.loads(written(replay))) == canonical


def test_a_game_signed_twice_is_the_same_replay() -> None:
    assert signed(won_replay()) == won_replay()


def test_a_replay_reads_as_it_was_written() -> None:
    replay = lost_replay()
    assert read_replay(written(replay)).replay == replay


def test_a_replay_reads_the_same_bare_and_as_the_answer_and_over_both_subprotocols() -> None:
    replay = won_replay("eight-off", 1)
    answer = ReplayAnswer(re=7, replay=replay)
    assert read_replay(JSON.encode(answer)).replay == replay
    assert read_replay(JSON.encode(ReplayAnswer(replay=replay))).fields == read_replay(written(replay)).fields
    back = MSGPACK.decode_server(MSGPACK.encode(answer))
    assert isinstance(back, ReplayAnswer)
    assert read_replay(written(back.replay)).fields == read_replay(written(replay)).fields


def test_fields_that_are_not_known_are_kept_for_the_signature() -> None:
    fields = json.loads(written(won_replay())) | {"weather": "fine"}
    read = read_replay(json.dumps(fields).encode())
    assert read.fields["weather"] == "fine"
    assert read.replay == won_replay()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff\xfe",
        b"null",
        b"[]",
        b"{}",
        b'{"replay": 1}',
        b'{"type": "replay", "replay": {}}',
        b"[" * 100_000,
        b'{"format": "cellrace-replay/2"}',
        b'{"deal": ' + b"9" * 5_000 + b"}",
        b'{"type": "replay", "replay": null, "type": "replay"}',
        written(won_replay()).replace(b'"deal":94', b'"deal":94.0'),
        written(won_replay()).replace(b'"deal":94', b'"deal":"94"'),
        written(won_replay()).replace(b'"deal":94', b'"deal":-94'),
        written(won_replay()).replace(b'"deal":94', b'"deal":94,"deal":94'),
        written(won_replay()).replace(b"cellrace-replay/1", b"cellrace-replay/2"),
        written(won_replay()).replace(b'"Ann"', b'"\\ud800"'),
        written(won_replay()) + b"{}",
        b'{"type":"moved","replay":' + written(won_replay()) + b"}",
        b'{"type":"replay","reply":1,"replay":' + written(won_replay()) + b"}",
    ],
)
def test_what_is_no_replay_is_refused_with_a_sentence(text: bytes) -> None:
    with pytest.raises(InvalidText) as refused:
        read_replay(text)
    assert str(refused.value).endswith(".")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("raw", [bytes(32), bytes(range(32)), b"\xff" * 32])
def test_base64_is_read_only_as_it_is_written(raw: bytes) -> None:
    """Of the last character before the padding some bits mean nothing; a text that differs there is another text."""
    text = to_base64(raw)
    assert from_base64(text, KEY_BYTES) == raw
    assert from_base64(text + "\n", KEY_BYTES) is None
    assert from_base64(text[:-1], KEY_BYTES) is None
    assert from_base64(to_base64(raw[:-1]), KEY_BYTES) is None
    same_bytes = [text[:-2] + letter + "=" for letter in string.ascii_letters + string.digits + "+/"]
    assert [from_base64(other, KEY_BYTES) for other in same_bytes].count(raw) == 1
    assert from_base64("♜" * 44, KEY_BYTES) is None


@pytest.mark.parametrize("variant", VARIANTS)
def test_playing_again_leads_through_each_entry_to_the_result(variant: str) -> None:
    moves = random_moves(variant, 5, 60, seed=2)
    replay = signed(unsigned(variant, 5, moves, autoplay=Autoplay.SAFE))
    if variant != "marseille":
        assert start_of(replay).board == dealt_board(find_variant(variant), deal(find_variant(variant), 5))
    played = list(play_again(replay))
    assert [(entry.at, entry.step[0]) for entry in played] == list(replay.moves)
    assert played[-1].game.board.cards_home == replay.result.home
    assert played[-1].game.seq == len(moves)


def test_a_fixed_reserve_is_laid_out_before_the_first_entry() -> None:
    replay = unsigned("marseille", 7, (), placement=Placement.FIXED)
    assert start_of(replay).board.reserve == b""
    assert start_of(replace(replay, placement=Placement.PLAYER)).board.reserve != b""


def test_an_illegal_entry_is_named_by_its_place() -> None:
    replay = lost_replay()
    bad = replace(replay, moves=(*replay.moves[:3], (replay.moves[3][0], "zz"), *replay.moves[4:]))
    with pytest.raises(IllegalMove) as illegal:
        list(play_again(bad))
    assert (illegal.value.index, illegal.value.move) == (3, "zz")


def test_a_game_that_is_not_known_cannot_be_played_again() -> None:
    with pytest.raises(UnknownVariant):
        start_of(replace(won_replay(), variant="chess"))


def test_the_notation_has_ten_entries_to_a_line_and_reads_back() -> None:
    replay = lost_replay(count=37)
    lines = notation_of(replay).splitlines()
    assert [len(line.split()) for line in lines] == [10, 10, 10, 7]
    assert parse_moves("\n".join(lines)) == [move for _, move in replay.moves]


def test_the_golden_replay_is_written_byte_for_byte() -> None:
    """The form is on disk for others to check: what changes it breaks every replay that was ever saved."""
    assert written(won_replay(name="Rök ♜")) == (GOLDEN / "replay.json").read_bytes().rstrip(b"\n")
    assert to_base64(PUBLIC) == (GOLDEN / "replay.key").read_text("ascii").strip()
    assert msgspec.json.decode((GOLDEN / "replay.json").read_bytes())["format"] == "cellrace-replay/1"
