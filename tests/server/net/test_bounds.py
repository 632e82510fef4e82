"""Bounds that an operator may draw closer than the protocol does: nesting and names (protocol, sections 1 and 2)."""

from __future__ import annotations

import pytest

from cellrace_server.config import Bounds
from tests.story.players import JSON, MSGPACK, Table


@pytest.fixture
def bounds() -> Bounds:
    """Little depth and short names."""
    return Bounds(depth=5, name_length=6)


@pytest.mark.parametrize("subprotocol", [JSON, MSGPACK])
async def test_a_frame_may_be_as_deep_as_the_bound_and_no_deeper(seats: Table, subprotocol: str) -> None:
    ann = await seats.player("Ann", subprotocol=subprotocol)
    assert ann.welcome["limits"]["depth"] == 5
    assert (await ann.ask("ping", extra=[[[[]]]]))["type"] == "pong"
    refused = await ann.answer(await ann.send("ping", extra=[[[[[]]]]]))
    assert (refused["code"], refused["field"]) == ("bad_message", "extra")
    assert "5 levels" in refused["message"]
    assert (await ann.ask("ping"))["type"] == "pong"


async def test_a_name_may_be_as_long_as_the_bound_and_no_longer(seats: Table) -> None:
    assert (await seats.player("Sixsix")).welcome["player"]["name"] == "Sixsix"
    stranger = await seats.stranger()
    refused = await stranger.answer(await stranger.send("hello", name="Sevenly"))
    assert refused["code"] == "bad_name"
    assert "6 characters" in refused["message"]
