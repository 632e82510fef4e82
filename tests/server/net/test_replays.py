"""Replays over the socket and over HTTP: to whom, when, in which form; and the keys (protocol, sections 6 and 7)."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path

import pytest

from cellrace.verifying import read_keys, verify
from cellrace_server.app import Node, running
from cellrace_server.config import Config
from cellrace_server.signing import KEY_FILE, KeyUnfit, make_key
from tests.server.net.fetching import fetch
from tests.story.players import JSON, Player, Table, open_race, play, start_race, table
from tests.waiting import eventually


async def finished(seats: Table, **settings: object) -> tuple[str, list[str]]:
    """A race of Ann and Ben that both have conceded; its id and theirs."""
    ann, ben = await seats.player("Ann"), await seats.player("Ben", JSON)
    race = await start_race(ann, ben, deal=1, autoplay="none", **settings)
    await play(ann, race, ["5a", "5b", "u"])
    for player in (ann, ben):
        await player.ask("race.concede", race=race)
    await ann.push("race.over", race=race)
    return race, [ann.id, ben.id]


async def holds(port: int, text: bytes) -> bool:
    """Whether a replay verifies with the keys that the node publishes."""
    keys = read_keys((await fetch(port, "/api/v1/keys")).body)
    return all(check.holds for check in verify(text, keys))


async def test_a_finished_game_is_given_to_anybody_and_verifies(node: Node, seats: Table) -> None:
    race, (ann, ben) = await finished(seats)
    stranger = await seats.player("Stranger")
    for player, moves in ((ann, ["5a", "5b", "u"]), (ben, [])):
        replay = (await stranger.ask("replay.get", race=race, player=player))["replay"]
        assert [move for _, move in replay["moves"]] == moves
        assert replay["result"] == {"status": "conceded", "home": 0}
        assert (replay["race"], replay["player"], replay["deal"], replay["kind"]) == (race, player, 1, "race")
        fetched = await fetch(node.port, f"/api/v1/replays/{race}/{player}")
        assert fetched.status == 200
        assert fetched.json == {"type": "replay", "replay": replay}, "over HTTP it is the answer without `re`"
        assert await holds(node.port, fetched.body)
        assert await holds(node.port, json.dumps(replay).encode())


async def test_it_is_the_same_before_and_after_the_race_is_packed(node: Node, seats: Table) -> None:
    race, (ann, _) = await finished(seats)
    store = node.services.store
    before = await fetch(node.port, f"/api/v1/replays/{race}/{ann}")
    await eventually(lambda: store.link.command("EXISTS", f"race:{{{race}}}:packed"))
    assert (await fetch(node.port, f"/api/v1/replays/{race}/{ann}")).body == before.body


async def test_until_the_race_is_over_it_is_too_early_over_both_ways(node: Node, ann: Player, ben: Player) -> None:
    race = await open_race(ann, ben)
    assert (await ann.refused("replay.get", race=race, player=ann.id))["code"] == "too_early"
    running = await start_race(ann, ben)
    await ann.ask("race.concede", race=running)
    assert (await ann.refused("replay.get", race=running, player=ann.id))["code"] == "too_early"
    fetched = await fetch(node.port, f"/api/v1/replays/{running}/{ann.id}")
    assert (fetched.status, fetched.code) == (403, "too_early")


async def test_who_was_not_in_the_race_has_no_replay(node: Node, seats: Table) -> None:
    race, _ = await finished(seats)
    stranger = await seats.player("Stranger")
    assert (await stranger.refused("replay.get", race=race, player=stranger.id))["code"] == "not_entrant"
    for player in (stranger.id, "", "..", "x" * 500, "%00"):
        fetched = await fetch(node.port, f"/api/v1/replays/{race}/{player}")
        assert (fetched.status, fetched.code) == (404, "not_entrant")


async def test_a_private_race_is_for_its_entrants(node: Node, seats: Table, ann: Player, ben: Player) -> None:
    whole = await ann.ask("race.create", settings={"private": True, "countdown": 0, "deal": 1})
    race = whole["race"]
    await ben.ask("race.join", code=whole["code"])
    for player in (ann, ben):
        await player.ask("race.ready", race=race)
    await ann.push("race.started", race=race)
    for player in (ann, ben):
        await player.ask("race.concede", race=race)
    await ann.push("race.over", race=race)
    assert (await ann.ask("replay.get", race=race, player=ben.id))["replay"]["player"] == ben.id
    stranger = await seats.player("Stranger")
    assert (await stranger.refused("replay.get", race=race, player=ben.id))["code"] == "not_allowed"
    fetched = await fetch(node.port, f"/api/v1/replays/{race}/{ben.id}")
    assert (fetched.status, fetched.code) == (403, "not_allowed")


@pytest.mark.parametrize("path", ["gone/gone", "gone", "", "/", "a b/c", "x" * 900 + "/y"])
async def test_a_race_that_is_not_there_is_404(node: Node, path: str) -> None:
    fetched = await fetch(node.port, f"/api/v1/replays/{path.replace(' ', '%20')}")
    assert (fetched.status, fetched.code) == (404, "no_such_race")


async def test_keys_are_named_by_their_hash(node: Node) -> None:
    fetched = await fetch(node.port, "/api/v1/keys")
    assert fetched.status == 200
    ((name, public),) = [(key["key"], base64.b64decode(key["public"])) for key in fetched.json["keys"]]
    assert len(public) == 32
    assert name == hashlib.sha256(public).hexdigest()[:16]
    assert fetched.json.keys() == {"keys"}


async def test_two_nodes_with_one_key_give_the_same_replay_and_those_with_two_publish_both(
    store_url: str, tmp_path: Path
) -> None:
    async def replay_of(port: int, race: str, player: str) -> bytes:
        return (await fetch(port, f"/api/v1/replays/{race}/{player}")).body

    shared = Config(port=0, redis=store_url, data_dir=tmp_path / "shared")
    other = Config(port=0, redis=store_url, data_dir=tmp_path / "other")
    async with running(shared) as one, running(shared) as two:
        async with table(f"ws://127.0.0.1:{one.port}/ws") as seats:
            race, (ann, _) = await finished(seats)
        text = await replay_of(one.port, race, ann)
        assert await replay_of(two.port, race, ann) == text
        async with running(other) as third:
            sets = [(await fetch(node.port, "/api/v1/keys")).body for node in (one, two, third)]
            assert sets[0] == sets[1] == sets[2]
            assert len(json.loads(sets[0])["keys"]) == 2
            assert await replay_of(third.port, race, ann) != text, "signed by another key"
            assert await holds(one.port, await replay_of(third.port, race, ann))
            assert await holds(third.port, text)


async def test_a_node_keeps_its_key_in_the_data_directory_or_takes_the_file_named(
    store_url: str, tmp_path: Path
) -> None:
    async with running(Config(port=0, redis=store_url, data_dir=tmp_path / "data")) as node:
        made = (await fetch(node.port, "/api/v1/keys")).json["keys"][0]
    assert (tmp_path / "data" / KEY_FILE).is_file()
    named = tmp_path / "named.key"
    make_key(named)
    async with running(Config(port=0, redis=store_url, data_dir=tmp_path / "data", signing_key=named)) as node:
        keys = (await fetch(node.port, "/api/v1/keys")).json["keys"]
    assert keys[0] != made
    assert keys[1] == made


async def test_a_node_does_not_start_with_a_key_that_others_can_read(store_url: str, tmp_path: Path) -> None:
    named = tmp_path / "named.key"
    make_key(named)
    named.chmod(0o644)
    with pytest.raises(KeyUnfit, match="chmod 600"):
        async with running(Config(port=0, redis=store_url, signing_key=named)):
            pass


async def test_ended_races_are_kept_for_as_long_as_is_said(store_url: str) -> None:
    async with (
        running(Config(port=0, redis=store_url, keep_days=0.5)) as node,
        table(f"ws://127.0.0.1:{node.port}/ws") as seats,
    ):
        race, _ = await finished(seats)
        link = node.services.store.link
        await eventually(lambda: link.command("EXISTS", f"race:{{{race}}}:packed"))
        ttl = await link.command("PTTL", f"race:{{{race}}}:packed")
        assert 11.9 * 3_600_000 < ttl <= 12 * 3_600_000
