"""Messages: frozen values that say on the wire what the protocol says, and settings that leave nothing open."""

from __future__ import annotations

import json
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellrace.board import dealt_board
from cellrace.codec import JSON
from cellrace.deals import LAST_DEAL, deal
from cellrace.errors import (
    ERROR_SENTENCES,
    BadMessage,
    ErrorCode,
    IllegalMove,
    InvalidText,
    Reason,
    Refused,
    UnknownVariant,
)
from cellrace.messages import (
    ANY_REQUEST,
    CLOSE_SENTENCES,
    EXCHANGES,
    BoardMap,
    ClientMessage,
    CloseCode,
    FactPush,
    Ghost,
    Homes,
    Move,
    NewsPush,
    Ok,
    OnlinePush,
    RaceAnswer,
    RaceJoin,
    RaceKind,
    RaceState,
    ServerMessage,
    Settings,
    SettingsRequest,
    UnreadableSettings,
    board_map,
    dealt_cards,
    error_answer,
    read_board,
    settle,
)
from cellrace.messages.answers import ServerAnswer
from cellrace.variants import VARIANTS, find_variant

from .examples.values import Example
from .frame_examples import GOLDEN, SENT_BY_SERVER

NAMES_IN_THE_CONTRACT = {
    ClientMessage: "hello ping race.create race.join race.leave race.ready race.start race.kick race.concede "
    "race.forfeit race.sync race.watch race.unwatch race.rematch race.list queue.join queue.leave player.get move "
    "daily.get daily.start daily.practice leaderboard replay.get",
    ServerAnswer: "error welcome pong ok race race.missed races queued player moved daily leaderboard replay",
    FactPush: "race.joined race.left race.ready race.countdown race.done race.over race.cancelled race.rematch",
    NewsPush: "race.started race.progress race.online race.moved race.delayed queue.matched",
}


def _wire(message: object) -> dict[str, object]:
    tree: dict[str, object] = json.loads(msgspec.json.encode(message))
    return tree


@pytest.mark.parametrize(("union", "names"), NAMES_IN_THE_CONTRACT.items())
def test_every_message_of_the_contract_has_a_type_and_no_other(union: object, names: str) -> None:
    assert [message.__struct_config__.tag for message in get_args(union)] == names.split()


@pytest.mark.parametrize("message", [*get_args(ClientMessage), *get_args(ServerMessage)])
def test_messages_are_frozen_and_told_in_one_sentence(message: type[msgspec.Struct]) -> None:
    assert message.__struct_config__.frozen
    assert message.__doc__
    assert message.__doc__.strip().endswith(".")


def test_every_type_of_message_has_an_example() -> None:
    shown = {type(example.message) for examples in GOLDEN.values() for example in examples}
    assert shown == {*get_args(ClientMessage), *get_args(ServerMessage)}


def test_a_message_compares_and_hashes_by_value() -> None:
    assert Move(race="r", seq=0, moves=("26",)) == Move(race="r", seq=0, moves=("26",))
    assert len({Ok(re=1), Ok(re=1), Ok(re=2)}) == 2


@pytest.mark.parametrize("example", SENT_BY_SERVER, ids=lambda example: type(example.message).__name__)
def test_the_server_leaves_absent_fields_out_and_null_only_into_boards(example: Example) -> None:
    def nulls(tree: object, path: str) -> list[str]:
        if isinstance(tree, dict):
            return [found for key, value in tree.items() for found in nulls(value, f"{path}.{key}")]
        if isinstance(tree, list):
            return [found for value in tree for found in nulls(value, path)]
        return [path] if tree is None else []

    assert all(".cells" in path or ".homes" in path for path in nulls(_wire(example.message), ""))


def test_required_fields_are_written_whatever_their_value() -> None:
    assert _wire(OnlinePush(race="", player="", online=False)) == {
        "type": "race.online",
        "race": "",
        "player": "",
        "online": False,
    }


def test_a_race_tells_its_settings_whole_though_they_are_the_defaults() -> None:
    race = RaceAnswer(
        race="r",
        version=1,
        state=RaceState.OPEN,
        kind=RaceKind.RACE,
        settings=Settings(),
        host="p",
        created_at=0,
        now=0,
        entrants=(),
    )
    assert _wire(race)["settings"] == {
        "variant": "freecell",
        "seats": 2,
        "private": False,
        "time_limit": 1800,
        "countdown": 5,
        "grace": 120,
        "undo": True,
        "autoplay": "safe",
        "placement": "player",
        "ends": "all",
        "ranked": True,
        "spectate": "delayed",
        "bots": True,
        "ghosts": [],
    }


def test_a_race_is_named_by_id_or_code_and_not_by_both() -> None:
    with pytest.raises(ValueError, match="Missing field `race` or `code`"):
        RaceJoin()
    with pytest.raises(ValueError, match="`code` too many"):
        RaceJoin(race="r", code="c")


# --- settings


def test_settings_that_say_nothing_are_the_defaults() -> None:
    assert settle(None) == settle(SettingsRequest()) == Settings()


def test_settings_keep_what_is_asked() -> None:
    settled = settle(SettingsRequest(variant="marseille", seats=250, undo=False, countdown=0, ranked=False))
    assert settled == Settings(variant="marseille", seats=250, undo=False, countdown=0, ranked=False)


@pytest.mark.parametrize("ranked", [None, False])
def test_a_known_deal_is_never_ranked(ranked: bool | None) -> None:
    settled = settle(SettingsRequest(deal=617, ranked=ranked))
    assert (settled.deal, settled.ranked) == (617, False)


def test_ghosts_fix_the_deal_and_are_never_ranked() -> None:
    ghosts = (Ghost(race="r", player="p"),)
    settled = settle(SettingsRequest(ghosts=ghosts), ghost_deal=11)
    assert (settled.ghosts, settled.deal, settled.ranked) == (ghosts, 11, False)


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        (SettingsRequest(deal=617, ranked=True), "ranked"),
        (SettingsRequest(ghosts=(Ghost(race="r", player="p"),), ranked=True), "ranked"),
        (SettingsRequest(ghosts=(Ghost(race="r", player="p"),), deal=12), "deal"),
        (UnreadableSettings(wrong="seats", sentence="seats: no."), "seats"),
    ],
)
def test_settings_that_contradict_themselves_are_refused_with_the_field(asked: SettingsRequest, field: str) -> None:
    with pytest.raises(Refused) as refused:
        settle(asked, ghost_deal=11)
    assert (refused.value.code, refused.value.field) == ("bad_settings", field)


def test_settings_of_an_unknown_game_are_not_found() -> None:
    with pytest.raises(Refused) as refused:
        settle(SettingsRequest(variant="spider"))
    assert refused.value.code == "not_found"
    assert "freecell" in str(refused.value)


# --- errors and close codes


def test_every_code_has_one_sentence_for_people() -> None:
    assert set(ERROR_SENTENCES) == set(ErrorCode)
    assert set(CLOSE_SENTENCES) == set(CloseCode)
    assert all(text[0].isupper() and text.endswith(".") for text in ERROR_SENTENCES.values())


def test_codes_that_say_come_back_begin_with_40_or_are_the_restart() -> None:
    inviting = {code for code in CloseCode if "come back" in CLOSE_SENTENCES[code]}
    assert inviting == {1001, 4000, 4001}
    assert all(4100 <= code < 4200 for code in set(CloseCode) - inviting - {1009})


def test_every_request_is_in_the_table_of_answers_and_every_code_refuses_something() -> None:
    assert set(EXCHANGES) == set(get_args(ClientMessage))
    refusing = {code for exchange in EXCHANGES.values() for code in exchange.refusals} | set(ANY_REQUEST)
    assert refusing == set(ErrorCode)


def test_a_refusal_becomes_an_error_with_its_fields_and_no_others() -> None:
    refused = Refused(ErrorCode.STALE, seq=0)
    assert _wire(error_answer(refused, re=0)) == {
        "type": "error",
        "re": 0,
        "code": "stale",
        "message": ERROR_SENTENCES[ErrorCode.STALE],
        "seq": 0,
    }


def test_an_illegal_move_becomes_an_error_with_index_move_reason_and_seq() -> None:
    answer = error_answer(IllegalMove(Reason.CELL_FULL, "3a", 2), "x", seq=40)
    assert _wire(answer) == {
        "type": "error",
        "re": "x",
        "code": "illegal_move",
        "message": "That cell already holds a card.",
        "index": 2,
        "move": "3a",
        "reason": "cell_full",
        "seq": 40,
    }


def test_a_bad_message_answers_to_the_id_that_could_be_read() -> None:
    answer = error_answer(BadMessage("seq: no.", "seq", 7))
    assert _wire(answer) == {"type": "error", "re": 7, "code": "bad_message", "message": "seq: no.", "field": "seq"}


@pytest.mark.parametrize(
    ("error", "code"), [(UnknownVariant("x", ("y",)), "not_found"), (InvalidText("no card."), "bad_message")]
)
def test_every_other_error_has_its_code(error: UnknownVariant | InvalidText, code: str) -> None:
    assert error_answer(error).code == code


# --- boards


@given(st.sampled_from(sorted(VARIANTS)), st.integers(1, LAST_DEAL))
def test_a_board_on_the_wire_reads_back_as_the_board(name: str, number: int) -> None:
    variant = find_variant(name)
    board = dealt_board(variant, deal(variant, number))
    sent = msgspec.json.decode(msgspec.json.encode(board_map(board)), type=BoardMap)
    assert read_board(variant, sent) == board


def test_homes_name_the_suits_of_the_pack_and_no_others() -> None:
    variant = find_variant("two-suit")
    board = board_map(dealt_board(variant, deal(variant, 1)))
    assert _wire(board)["homes"] == {"H": None, "S": None}
    assert board.homes == Homes(hearts=None, spades=None)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_layout_tells_cells_and_reserve_where_the_game_deals_them(name: str) -> None:
    variant = find_variant(name)
    told = dealt_cards(variant, deal(variant, 1))
    assert (told.cells is not None) == (name in ("eight-off", "seahaven", "forecell"))
    assert (told.reserve is not None) == (name == "marseille")
    if told.cells is not None:
        assert len(told.cells) == variant.cells


def test_the_dealt_cells_of_seahaven_are_two_cards_and_two_nulls() -> None:
    variant = find_variant("seahaven")
    cells = dealt_cards(variant, deal(variant, 1)).cells
    assert cells is not None
    assert [cell is None for cell in cells] == [False, False, True, True]


def test_the_first_field_of_every_frame_is_its_type() -> None:
    for examples in GOLDEN.values():
        for example in examples:
            assert JSON.encode(example.message).startswith(b'{"type":"')  # type: ignore[arg-type]  # Both directions are written alike.
