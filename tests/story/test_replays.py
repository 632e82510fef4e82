"""A race on a real server, its replays fetched by both players both ways and verified by a stranger, offline."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import random
import subprocess
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tests.server.net.fetching import fetch
from tests.story.players import JSON, Map, Player, play, start_race, table
from tests.story.servers import COMMAND, Servers
from tests.story.solved_games import golden_game


def check_by_hand(replay: Map, keys: dict[str, bytes]) -> None:
    """What anybody can check with the page alone; raises InvalidSignature."""
    fields = dict(replay)
    signature = base64.b64decode(fields.pop("signature"))
    # Sorted keys and no spaces: for strings without control characters and whole numbers this is RFC 8785.
    canonical = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    Ed25519PublicKey.from_public_bytes(keys[replay["key"]]).verify(signature, canonical)
    committed = f"cellrace:{replay['variant']}:{replay['deal']}:{replay['salt']}"
    assert hashlib.sha256(committed.encode()).hexdigest() == replay["commitment"]


async def replay_of(asker: Player, race: str, player: str) -> Map:
    """A replay over the socket."""
    replay: Map = (await asker.ask("replay.get", race=race, player=player))["replay"]
    return replay


async def run(*arguments: str, text: bytes = b"") -> tuple[int, str]:
    """The exit status of `cellrace …` and what it prints."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND, *arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    out, _ = await process.communicate(text)
    assert process.returncode is not None
    return process.returncode, out.decode()


async def test_a_race_is_replayed_and_verified_by_anybody(house: Servers, tmp_path: Path) -> None:
    server = await house.start()
    moves = golden_game("freecell", 617, "safe")
    async with table(server.url) as seats:
        ann, ben = await seats.player("Ann ♜"), await seats.player("Ben", JSON)
        race = await start_race(ann, ben, deal=617)
        await play(ben, race, [*moves[:12], "u"])
        await play(ann, race, moves)
        await ben.ask("race.concede", race=race)
        over = await ann.push("race.over", race=race)
        answers = [await replay_of(asker, race, of.id) for asker in (ann, ben) for of in (ann, ben)]
    assert answers[:2] == answers[2:], "both players get the same"
    published = (await fetch(server.port, "/api/v1/keys")).json["keys"]
    keys = {key["key"]: base64.b64decode(key["public"]) for key in published}
    key_file = tmp_path / "key"
    key_file.write_text(published[0]["public"] + "\n")

    for player, replay, standing in zip((ann, ben), answers, over["standings"], strict=False):
        assert replay["player"] == standing["player"]["id"] == player.id
        assert replay["result"] == {
            name: standing[name] for name in ("status", "home", "time", "raw", "latency") if name in standing
        }
        check_by_hand(replay, keys)
        fetched = await fetch(server.port, f"/api/v1/replays/{race}/{player.id}")
        assert fetched.json["replay"] == replay
        for text in (fetched.body, json.dumps(replay, indent=1).encode()):
            status, told = await run("verify", "-", "--key", str(key_file), text=text)
            assert (status, told.count("FAILED")) == (0, 0), told
        status, told = await run("verify", "-", text=fetched.body)
        assert (status, told.count("FAILED")) == (1, 2), "without the key not all is checked"
        status, told = await run("verify", "-", "--server", server.url, text=fetched.body)
        assert (status, told.count("FAILED")) == (0, 0), told
        changed = bytearray(fetched.body)
        changed[random.Random(player.id).randrange(len(changed))] ^= 1
        status, told = await run("verify", "-", "--key", str(key_file), text=bytes(changed))
        assert (status, "FAILED" in told, "Traceback" in told) == (1, True, False)
        forged = {**replay, "name": "Somebody else"}
        with pytest.raises(InvalidSignature):
            check_by_hand(forged, keys)

    assert [move for _, move in answers[0]["moves"]] == moves
    assert [move for _, move in answers[1]["moves"]] == [*moves[:12], "u"]
    await check_command_line(server.url, race, ann.id, moves)


async def check_command_line(url: str, race: str, player: str, moves: list[str]) -> None:
    """`cellrace replay`: by id and by name, its exports, and its plain lines."""
    status, exported = await run("replay", race, "ann ♜", "--server", url, "--export", "json")
    assert status == 0, exported
    assert json.loads(exported)["player"] == player
    status, notation = await run("replay", race, player, "--server", url, "--export", "notation")
    assert (status, notation.partition("#")[0].split()) == (0, moves)
    status, told = await run("check", "--deal", "617", "--autoplay", "safe", "--moves", "-", text=notation.encode())
    assert (status, "The game is won." in told) == (0, True)
    status, told = await run("replay", race, player, "--server", url)
    assert status == 0
    assert "Ann ♜ has won in" in told.splitlines()[-1]
    assert len([line for line in told.splitlines() if line[:4].strip().isdigit()]) == len(moves)
    status, told = await run("replay", race, "nobody", "--server", url)
    assert (status, told) == (1, "Error: That player is no entrant of this race.\n")
    status, told = await run("replay", "nowhere", player, "--server", url)
    assert (status, told) == (1, "Error: There is no such race.\n")


async def test_replays_outlive_every_server_and_a_rotation_of_the_key(house: Servers) -> None:
    first = await house.start()
    async with table(first.url) as seats:
        ann = await seats.player("Ann")
        race = await start_race(ann, deal=617)
        moved = await play(ann, race, golden_game("freecell", 617, "safe")[:5], at_once=5)
        await ann.ask("race.concede", race=race)
        await ann.push("race.over", race=race)
        before = await replay_of(ann, race, ann.id)
        player, token = ann.id, ann.token
    await first.kill()
    second = await house.start()
    async with table(second.url) as seats:
        ann = await seats.player(token=token)
        again = await play(ann, race, golden_game("freecell", 617, "safe")[:5], at_once=5)
        assert {**again, "re": 0} == {**moved, "re": 0}, "a repeat is answered from what is packed"
    path = f"/api/v1/replays/{race}/{player}"
    assert (await fetch(second.port, path)).json["replay"] == before
    made = await run("replay", race, player, "--server", second.url, "--export", "json")
    assert made[0] == 0
    await asyncio.to_thread(rotate, house.data_dir)
    after = (await fetch(second.port, path)).json["replay"]
    assert after["key"] != before["key"]
    published = (await fetch(second.port, "/api/v1/keys")).json["keys"]
    assert [key["key"] for key in published] == [after["key"], before["key"]]
    keys = {key["key"]: base64.b64decode(key["public"]) for key in published}
    check_by_hand(before, keys)
    check_by_hand(after, keys)


def rotate(data_dir: Path) -> None:
    """Put a new key in the place of the old one, as an operator does."""
    from cellrace_server.signing import KEY_FILE, make_key

    make_key(data_dir / "new.key")
    (data_dir / "new.key").replace(data_dir / KEY_FILE)
