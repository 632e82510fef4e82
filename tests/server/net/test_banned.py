"""A banned player's connection ends with 4104, at whichever node it is, also when nobody could tell the node."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from cellrace_server.administration import Administration
from cellrace_server.app import Node
from cellrace_server.store import open_store
from cellrace_server.store.connect import client_for
from tests.story.players import Player, Table, start_race


@pytest_asyncio.fixture
async def office(store_url: str) -> AsyncIterator[Administration]:
    """The desk of an operator, who is no node."""
    client = client_for(store_url)
    store = await open_store(client, "admin:1")
    yield Administration(store, "olga")
    await store.clock.close()
    await client.aclose()


async def test_a_connected_player_is_sent_away_and_not_let_in_again(
    seats: Table, ann: Player, ben: Player, office: Administration
) -> None:
    race = await start_race(ann, ben)
    await office.ban("Ann")
    assert await ann.closed() == 4104
    assert (await ben.push("race.online", race=race, player=ann.id))["online"] is False
    again = await seats.stranger()
    assert (await again.refused("hello", token=ann.token))["code"] == "banned"
    assert await again.closed() == 4104
    await office.unban(ann.id)
    back = await seats.back(ann)
    assert [known["race"] for known in back.welcome["races"]] == [race]


async def test_a_node_that_was_not_told_finds_out(node: Node, ann: Player) -> None:
    store = node.services.store
    await store.link.command("HSET", f"player:{{{ann.id}}}", "banned", 1)
    await node.sessions.compare(store.players)
    assert await ann.closed() == 4104


@pytest.mark.parametrize("step", ["take_over", "races"])
async def test_who_is_on_the_way_in_is_sent_away_as_well(
    node: Node, seats: Table, ann: Player, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """The node is told when it does not know yet whose hello it carries out, or not yet that it plays."""
    await ann.close()
    players, sessions = node.services.store.players, node.sessions
    go_on = getattr(players, step)

    async def just_then(player: str, *arguments: object) -> object:
        done = await go_on(player, *arguments)
        monkeypatch.setattr(players, step, go_on)  # Once.
        sessions.ban(player)
        return done

    monkeypatch.setattr(players, step, just_then)
    again = await seats.stranger()
    await again.send("hello", token=ann.token)
    assert await again.closed() == 4104


async def test_a_connection_that_gets_another_sid_meanwhile_is_not_taken_for_an_old_one(
    node: Node, ann: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record was read before; told late, it says nothing of the connection as it is by now."""
    players = node.services.store.players
    (session,) = node.sessions
    holders, compare = players.holders, node.sessions.compare

    async def no_comparison(_: object) -> None:
        """The node's own, every ten seconds: it would ask `late` too, and one sid is renewed but once."""

    async def late(player_ids: list[str]) -> object:
        told = await holders(player_ids)
        session.sid = await players.renew(session.player.id, session.sid, 0) or ""
        return told

    monkeypatch.setattr(node.sessions, "compare", no_comparison)
    monkeypatch.setattr(players, "holders", late)
    await compare(players)
    assert session.closing is None
    await ann.settle()


async def test_who_is_deleted_while_coming_in_is_unknown(
    node: Node, seats: Table, ann: Player, office: Administration, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ann.close()
    players = node.services.store.players
    recognise = players.recognise

    async def just_then(token: str) -> object:
        known = await recognise(token)
        await office.delete("Ann")
        return known

    monkeypatch.setattr(players, "recognise", just_then)
    again = await seats.stranger()
    assert (await again.refused("hello", token=ann.token))["code"] == "bad_token"
    assert await again.closed() == 4101


async def test_the_others_stay(node: Node, ann: Player, ben: Player, office: Administration) -> None:
    await office.ban("Ann")
    assert await ann.closed() == 4104
    await node.sessions.compare(node.services.store.players)
    assert (await ben.ask("ping"))["type"] == "pong"


async def test_a_race_that_is_voided_is_cancelled_for_those_who_play_it(
    ann: Player, ben: Player, office: Administration
) -> None:
    race = await start_race(ann, ben)
    await office.void(race)
    for player in (ann, ben):
        assert (await player.push("race.cancelled", race=race))["reason"] == "void"
    refused = await ann.refused("move", race=race, seq=0, moves=["3a"])
    assert refused["code"] == "not_running"
