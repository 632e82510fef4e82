"""The protocol page and the AsyncAPI document: generated, complete, and true of the frames."""

from __future__ import annotations

import hashlib
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest

from cellrace.board import dealt_board
from cellrace.codec import JSON
from cellrace.deals import deal
from cellrace.errors import ErrorCode, IllegalMove, Reason
from cellrace.game import Game
from cellrace.messages import (
    ClientMessage,
    CloseCode,
    CountdownPush,
    DonePush,
    Error,
    Fact,
    Move,
    Moved,
    OverPush,
    ServerMessage,
    Settings,
    StartedPush,
    dealt_cards,
)
from cellrace.protocol_page import protocol_page, read_sections
from cellrace.schema import asyncapi, main
from cellrace.variants import VARIANTS, find_variant

from .frame_examples import GOLDEN, frames

PAGE = (Path(__file__).parent.parent.parent / "docs" / "protocol.md").read_text("utf-8")
API: dict[str, Any] = json.loads(asyncapi())
SCHEMAS: dict[str, Any] = API["components"]["schemas"]
EVERYTHING = (*get_args(ClientMessage), *get_args(ServerMessage))


# --- the page


def test_the_committed_page_is_the_generated_one() -> None:
    assert protocol_page(read_sections(PAGE)) == PAGE, "run: python -m cellrace.schema docs docs/protocol.md"


def test_the_page_has_a_table_of_every_message_with_all_its_fields() -> None:
    for message in EVERYTHING:
        heading = f"`{message.__struct_config__.tag}`\n\n{message.__doc__}\n"
        assert heading in PAGE
        told = PAGE.partition(heading)[2].partition("####")[0]
        for field in message.__struct_fields__:
            assert field in ("id", "re", "version", "now", "race") or f"| `{field}` |" in told


def test_every_field_on_the_page_has_a_meaning() -> None:
    rows = re.findall(r"^\| `\w+` \|.*\|.*\|.*\|(.*)\|$", PAGE, re.MULTILINE)
    assert len(rows) > 200
    assert all(row.strip() for row in rows)


@pytest.mark.parametrize("word", [*ErrorCode, *Reason, *(str(int(code)) for code in CloseCode), *VARIANTS])
def test_the_page_tells_every_code_reason_and_game(word: str) -> None:
    assert re.search(rf"^\| `?{word}`? \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize("setting", Settings.__struct_fields__)
def test_the_page_tells_every_setting_with_its_default(setting: str) -> None:
    default = json.dumps(value) if (value := getattr(Settings(), setting)) is not None else None
    row = re.search(rf"^\| `{setting}` \| .*$", PAGE.partition("### Settings")[2], re.MULTILINE)
    assert row
    assert (f"`{default}`" if default else "–") in row[0]


def test_links_on_the_page_lead_to_its_headings() -> None:
    headings = re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]*)\)", PAGE)) <= anchors


def test_extra_sections_go_into_their_slots_and_are_read_back() -> None:
    page = protocol_page({"commands-by-state": "| a | b |\n| --- | --- |"})
    assert "<!-- section commands-by-state -->\n| a | b |\n| --- | --- |\n<!-- end of section -->" in page
    assert read_sections(page) == {"commands-by-state": "| a | b |\n| --- | --- |"}
    assert read_sections(protocol_page({})) == {}


def test_the_command_prints_the_page_with_the_sections_it_has(
    capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    known = tmp_path / "page.md"
    known.write_text(protocol_page({"commands-by-state": "A table."}), "utf-8")
    main(["docs", str(known)])
    assert capfdbinary.readouterr().out == known.read_bytes()
    main(["asyncapi"])
    assert json.loads(capfdbinary.readouterr().out) == API


# --- the example on the page


def _exchange() -> list[tuple[str, ClientMessage | ServerMessage]]:
    lines = PAGE.partition("```text\n")[2].partition("```")[0].splitlines()
    return [(line[0], (JSON.decode_request if line[0] == "C" else JSON.decode_server)(line[2:])) for line in lines]


def test_the_example_holds_frames_as_they_are_written() -> None:
    lines = PAGE.partition("```text\n")[2].partition("```")[0].splitlines()
    assert [f"{side} {frames(message).json}" for side, message in _exchange()] == lines


def test_the_example_is_a_race_that_the_rules_allow() -> None:
    messages = [message for _, message in _exchange()]
    started = next(m for m in messages if isinstance(m, StartedPush))
    countdown = next(m for m in messages if isinstance(m, CountdownPush))
    text = f"cellrace:one-suit:{started.deal}:{started.salt}"
    assert hashlib.sha256(text.encode()).hexdigest() == countdown.commitment
    variant = find_variant("one-suit")
    layout = deal(variant, started.deal or 0)
    assert started.layout == dealt_cards(variant, layout).layout
    game = Game(dealt_board(variant, layout))
    for message, answer in pairwise(messages):
        if not isinstance(message, Move):
            continue
        assert message.seq == game.seq
        if isinstance(answer, Error):
            with pytest.raises(IllegalMove) as illegal:
                game.play_all(message.moves)
            assert (answer.index, answer.reason) == (illegal.value.index, illegal.value.reason)
            continue
        game, steps = game.play_all(message.moves)
        assert isinstance(answer, Moved)
        assert answer.steps == tuple(map(tuple, steps))
        assert (answer.seq, answer.home, answer.won) == (game.seq, game.board.cards_home, game.won)
    assert game.won


def test_the_versions_of_the_example_have_no_gap_and_its_standings_agree_with_its_facts() -> None:
    messages = [message for _, message in _exchange()]
    versions = [message.version for message in messages if isinstance(message, Fact)]
    assert versions == list(range(versions[0], versions[0] + len(versions)))
    done = [message for message in messages if isinstance(message, DonePush)]
    over = messages[-1]
    assert isinstance(over, OverPush)
    assert [(s.player.id, s.status, s.home, s.time, s.place) for s in over.standings] == [
        (d.player, d.status, d.home, d.time, d.place) for d in done
    ]


# --- the AsyncAPI document


def _faults(value: object, schema: dict[str, Any], path: str = "$") -> list[str]:
    """Where a value breaks its schema: an independent reader of the JSON Schema that the document uses."""
    if "$ref" in schema:
        return _faults(value, SCHEMAS[schema["$ref"].removeprefix("#/components/schemas/")], path)
    if "anyOf" in schema:
        told = [_faults(value, option, path) for option in schema["anyOf"]]
        return [] if not all(told) else [f"{path}: none of {len(told)} fits", *told[0]]
    if "enum" in schema:
        return [] if value in schema["enum"] else [f"{path}: {value!r} is not among {schema['enum']}"]
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int}
    if not isinstance(value, kinds[schema["type"]]) or (schema["type"] == "integer" and isinstance(value, bool)):
        return [f"{path}: {value!r} is no {schema['type']}"]
    match value:
        case bool():
            return []
        case int():
            return [] if schema["minimum"] <= value <= schema["maximum"] else [f"{path}: {value} is out of range"]
        case str():
            fits = len(value) <= schema.get("maxLength", len(value)) and re.search(schema.get("pattern", ""), value)
            return [] if fits else [f"{path}: {value!r} does not fit"]
        case list():
            fixed = schema.get("prefixItems", [])
            faults = [f for i, item in enumerate(value[: len(fixed)]) for f in _faults(item, fixed[i], f"{path}[{i}]")]
            if isinstance(schema.get("items"), dict):
                faults += [f for item in value[len(fixed) :] for f in _faults(item, schema["items"], f"{path}[]")]
            long = not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
            return [*faults, *([f"{path}: wrong length"] if long else [])]
        case dict():
            faults = [f"{path}: no {name}" for name in schema.get("required", []) if name not in value]
            properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
            for name, item in value.items():
                inner = properties.get(name, others)
                if inner is False:
                    faults.append(f"{path}: {name} is unknown")
                elif isinstance(inner, dict):
                    faults += _faults(item, inner, f"{path}.{name}")
            return faults
    return []


@pytest.mark.parametrize("name", GOLDEN)
def test_every_golden_frame_fits_its_schema(name: str) -> None:
    for example in GOLDEN[name]:
        tree = json.loads(frames(example.message).json)
        assert _faults(tree, SCHEMAS[type(example.message).__name__]) == []


@pytest.mark.parametrize(
    ("schema", "tree"),
    [
        ("Pong", {"type": "pong", "now": None}),
        ("Pong", {"type": "pong", "now": 1, "re": None}),
        ("Pong", {"type": "pong", "now": -1}),
        ("Pong", {"type": "ping", "now": 1}),
        ("Move", {"type": "move", "race": "r", "seq": 0, "moves": []}),
        ("Move", {"type": "move", "race": "r", "seq": 0}),
        ("RaceCreate", {"type": "race.create", "settings": {"seats": 0}}),
        ("RaceCreate", {"type": "race.create", "settings": {"colour": "red"}}),
        ("RaceList", {"type": "race.list", "limit": 101}),
    ],
)
def test_what_the_protocol_forbids_does_not_fit(schema: str, tree: dict[str, object]) -> None:
    assert _faults(tree, SCHEMAS[schema])


@pytest.mark.parametrize("request_type", get_args(ClientMessage))
def test_a_request_may_say_null_for_every_field_that_may_be_absent(request_type: type[ClientMessage]) -> None:
    schema = SCHEMAS[request_type.__name__]
    for name, shape in schema["properties"].items():
        assert (_faults(None, shape) == []) == (name not in schema["required"])


def test_every_reference_of_the_document_leads_somewhere() -> None:
    def references(tree: object) -> set[str]:
        if isinstance(tree, dict):
            own = {tree["$ref"]} if isinstance(tree.get("$ref"), str) else set()
            return own.union(*map(references, tree.values()))
        return set().union(*map(references, tree)) if isinstance(tree, list) else set()

    for reference in references(API):
        place: Any = API
        for step in reference.removeprefix("#/").split("/"):
            place = place[step]


def test_the_document_names_every_message_and_what_answers_each_request() -> None:
    assert API["asyncapi"] == "3.0.0"
    assert set(API["components"]["messages"]) == {message.__name__ for message in EVERYTHING}
    replies = API["operations"]["RaceSync"]["reply"]["messages"]
    assert [reply["$ref"].rpartition("/")[2] for reply in replies] == ["RaceAnswer", "RaceMissed", "Error"]
    received = [o for o in API["operations"].values() if o["action"] == "receive"]
    assert len(received) == len(get_args(ClientMessage))


def test_the_document_is_the_same_each_time() -> None:
    assert asyncapi() == asyncapi()
