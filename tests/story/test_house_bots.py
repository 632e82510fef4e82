"""`cellrace serve --bots N`: who waits is offered a bot of the house, which plays over the wire like anybody."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tests.server.net.certificates import self_signed
from tests.server.store.processes import is_alive, parent_of
from tests.story.players import Map, Player, Table, table
from tests.story.servers import COMMAND, Server, Servers, end_process, processes_of
from tests.waiting import eventually

GAME = "one-suit"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")


def bots_of(server: Server, house: Servers) -> list[int]:
    """The processes of the house's bots."""
    return [
        pid
        for pid in processes_of(house.data_dir)
        if parent_of(pid) == server.process.pid
        and is_alive(pid)
        and b"house_bot" in text_of(Path(f"/proc/{pid}/cmdline"))
    ]


def text_of(path: Path) -> bytes:
    """What a file holds; nothing, where it has just gone."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


async def matched(person: Player, **asked: object) -> Map:
    """The race that the queue finds for a person."""
    await person.ask("queue.join", variant=GAME, **asked)
    race = (await person.push("queue.matched"))["race"]
    return await person.ask("race.sync", race=race)


def rival(race: Map, person: Player) -> Map:
    (other,) = [entrant["player"] for entrant in race["entrants"] if entrant["player"]["id"] != person.id]
    return dict(other)


async def people_queue(seats: Table) -> list[Player]:
    return [await seats.player(name) for name in ("Ann", "Ben")]


@pytest.mark.timeout(400)
async def test_who_accepts_bots_races_one_and_it_plays_to_the_end(house: Servers) -> None:
    server = await house.start("--bots", "2")
    async with table(server.url) as seats:
        ann = await seats.player("Ann")
        began = asyncio.get_running_loop().time()
        race = await matched(ann, bots=True)
        # By the race clock, which may go faster by 5 ms a second while it is corrected.
        assert asyncio.get_running_loop().time() - began >= 9.9, "people first"
        bot = rival(race, ann)
        assert bot["bot"]
        await ann.push("race.started", race=race["race"])
        await ann.ask("race.concede", race=race["race"])
        over = await ann.push("race.over", race=race["race"], patience=200)
        assert over["standings"][0]["player"] == bot
        assert {"before", "after"} == over["standings"][0]["rating"].keys()
    assert await server.terminate() == 0
    await eventually(lambda: not processes_of(house.data_dir))


async def test_people_who_want_none_get_each_other(house: Servers) -> None:
    server = await house.start("--bots", "2")
    async with table(server.url) as seats:
        ann, ben = await people_queue(seats)
        await ann.ask("queue.join", variant=GAME, bots=True)
        race = await matched(ben)
        assert rival(race, ben)["id"] == ann.id


async def test_a_bot_that_dies_comes_back_as_the_same_player(house: Servers) -> None:
    server = await house.start("--bots", "1")
    token_file = house.data_dir / "bots" / "001.token"
    await eventually(lambda: token_file.exists())
    token = token_file.read_text()
    assert token_file.stat().st_mode & 0o777 == 0o600
    (first,) = bots_of(server, house)
    end_process(first)
    await eventually(lambda: bots_of(server, house) not in ([], [first]))
    async with table(server.url) as seats:
        ann = await seats.player("Ann")
        await eventually(lambda: _is_back(ann, token.partition(".")[0]))
    assert token_file.read_text() == token


async def _is_back(person: Player, bot: str) -> bool:
    """Whether a bot waits for somebody: the queue has one more than the person who looks."""
    assert (await person.ask("player.get", player=bot))["bot"]
    waiting = (await person.ask("queue.join", variant=GAME))["waiting"]
    await person.ask("queue.leave")
    await asyncio.sleep(0.2)  # Looked at again and again, more often would be too often for a player.
    return bool(waiting == 2)


async def test_bots_end_with_a_server_that_is_killed(house: Servers) -> None:
    server = await house.start("--bots", "3")
    await eventually(lambda: len(bots_of(server, house)) == 3)
    await server.kill()
    await eventually(lambda: not processes_of(house.data_dir))


async def test_one_whose_token_is_not_known_any_more_comes_as_somebody_new(house: Servers) -> None:
    place = house.data_dir / "bots"
    place.mkdir(parents=True)
    (place / "001.token").write_text("nobody.nothing\n")
    server = await house.start("--bots", "1")
    await eventually(lambda: text_of(place / "001.token").strip() not in (b"", b"nobody.nothing"))
    assert (await server.terminate()) == 0


async def test_several_workers_have_their_bots_once(house: Servers) -> None:
    server = await house.start("--bots", "2", "--workers", "2")
    await eventually(lambda: len(list((house.data_dir / "bots").glob("*.token"))) == 2)
    assert len(bots_of(server, house)) == 2
    assert await server.terminate() == 0


async def test_with_a_certificate_they_come_over_tls(house: Servers, tmp_path: Path) -> None:
    """The certificate is made out to a name that does not lead here, as that of a server behind a name is."""
    certificate, key = tmp_path / "server.pem", tmp_path / "server.key"
    self_signed(certificate, key, host="races.example")
    server = await house.start("--bots", "1", "--certificate", str(certificate), "--key", str(key))
    assert server.url.startswith("wss://")
    await eventually(lambda: (house.data_dir / "bots" / "001.token").exists())


async def test_two_bots_of_strangers_race_each_other_from_the_queue(house: Servers) -> None:
    server = await house.start()
    bots = [
        await asyncio.create_subprocess_exec(
            *(*COMMAND, "bot", "--server", server.url, "--queue", GAME, "--strength", "5", "--name", name),
            stdout=asyncio.subprocess.PIPE,
        )
        for name in ("Bix", "Ada")
    ]
    for bot in bots:
        said, _ = await asyncio.wait_for(bot.communicate(), 60)
        assert bot.returncode == 0, said.decode()
