"""One node, put together and taken apart: what it needs, what it says, and that it leaves nothing behind."""

from __future__ import annotations

import asyncio
import gc
import shutil
import socket
import ssl
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from redis.asyncio import Redis

from cellrace_server.app import running, spare_collections
from cellrace_server.config import Config
from cellrace_server.store import connect, keys
from cellrace_server.store.errors import StoreUnavailable
from tests.server.net.certificates import self_signed
from tests.server.net.fetching import fetch
from tests.server.store.processes import store_pid
from tests.story.players import JSON, Player, play, start_race, table
from tests.waiting import eventually


async def test_without_a_store_named_it_keeps_one_and_ends_it(tmp_path: Path) -> None:
    async with running(Config(port=0, data_dir=tmp_path / "data")) as node:
        assert str(tmp_path / "data") in node.kept_by
        assert store_pid(tmp_path / "data") is not None
        await eventually(lambda: node.readiness() is None)
        async with table(f"ws://127.0.0.1:{node.port}/ws") as seats:
            await play(ann := await seats.player("Ann"), await start_race(ann, deal=617), ["1a"])
    await eventually(lambda: store_pid(tmp_path / "data") is None)


async def test_a_data_directory_that_is_deleted_under_it_makes_it_unready(tmp_path: Path) -> None:
    """Its store answers as before, from files that are nowhere any more."""
    async with running(Config(port=0, data_dir=tmp_path / "data")) as node:
        await eventually(lambda: node.readiness() is None)
        shutil.rmtree(tmp_path / "data")
        reason = await eventually(node.readiness)
        assert reason.startswith(f"The data directory {tmp_path / 'data'} was deleted")
        answer = await fetch(node.port, "/readyz")
        assert (answer.status, answer.json["message"]) == (503, reason)


async def test_a_port_that_is_taken_leaves_nothing_behind(store_url: str, tmp_path: Path) -> None:
    async with running(Config(port=0, redis=store_url)) as node:
        with pytest.raises(OSError, match="address already in use"):
            async with running(Config(port=node.port, data_dir=tmp_path / "data")):
                pass
        assert (await fetch(node.port, "/healthz")).status == 200
    await eventually(lambda: store_pid(tmp_path / "data") is None)


def has_ipv6() -> bool:
    """Whether this machine can be found by IPv6, and listen for both at once."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return socket.has_dualstack_ipv6()


@pytest.mark.skipif(not has_ipv6(), reason="there is no IPv6 here")
async def test_all_addresses_of_ipv6_are_those_of_ipv4_too(store_url: str) -> None:
    """On one port, and whoever comes by IPv4 has an address of IPv4."""
    async with running(Config(host="::", port=0, redis=store_url)) as node, AsyncExitStack() as stack:
        for host in ("127.0.0.1", "[::1]"):
            await (await stack.enter_async_context(table(f"ws://{host}:{node.port}/ws"))).player()
        assert {session.address for session in node.sessions} == {"127.0.0.1", "::1"}
        with pytest.raises(OSError, match="already in use"):
            async with running(Config(host="::", port=node.port, redis=store_url)):
                pass


async def test_a_store_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "FIRST_ANSWER", 0.3)
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        async with running(Config(port=0, redis="redis://127.0.0.1:1/")):
            pass


async def test_where_it_listens_and_what_keeps_its_data_has_no_password(store_url: str) -> None:
    async with running(Config(port=0, redis=store_url)) as node:
        assert node.port > 0
        assert node.kept_by.startswith("the store at unix://")


async def test_it_takes_leave_of_the_other_nodes(store_url: str, redis_client: Redis) -> None:
    async with running(Config(port=0, redis=store_url)) as node:
        await eventually(lambda: node.services.store.nodes.nodes.beats)
        assert len(await redis_client.hgetall(keys.NODES)) == 1  # type: ignore[misc]  # redis-py types both of its clients as one
    beats = await redis_client.hgetall(keys.NODES)  # type: ignore[misc]  # as above
    assert [int(beat) < 0 for beat in beats.values()] == [True], "the last beat is left behind, marked as the last"


async def test_clients_are_told_and_it_ends_at_once(store_url: str) -> None:
    loop = asyncio.get_running_loop()
    async with AsyncExitStack() as stack:
        node = await stack.enter_async_context(running(Config(port=0, redis=store_url)))
        async with table(f"ws://127.0.0.1:{node.port}/ws") as seats:
            players = [await seats.player(subprotocol=JSON) for _ in range(20)] + [await seats.stranger()]
            codes = asyncio.gather(*(player.closed() for player in players))
            began = loop.time()
            await stack.aclose()
            assert loop.time() - began < 10
            assert await codes == [1001] * 21


async def test_two_nodes_on_a_store_hold_one_race(store_url: str) -> None:
    config = Config(port=0, redis=store_url)
    async with running(config) as here, running(config) as there:
        urls = [f"ws://127.0.0.1:{node.port}/ws" for node in (here, there)]
        async with table(urls[0]) as near, table(urls[1]) as far:
            ann, bob = await near.player("Ann"), await far.player("Bob")
            race = await start_race(ann, bob, variant="one-suit", deal=94)
            await play(ann, race, ["2a", "2b", "31v2"], at_once=1)
            await bob.push("race.progress", race=race, player=ann.id, seq=1)
            await bob.push("race.done", race=race, player=ann.id)
            await bob.ask("race.concede", race=race)
            over: list[Player] = [ann, bob]
            standings = [(await player.push("race.over", race=race))["standings"] for player in over]
            assert standings[0] == standings[1]


async def test_a_player_who_comes_back_at_another_node_takes_over(store_url: str) -> None:
    config = Config(port=0, redis=store_url)
    async with running(config) as here, running(config) as there:
        urls = [f"ws://127.0.0.1:{node.port}/ws" for node in (here, there)]
        async with table(urls[0]) as near, table(urls[1]) as far:
            ann = await near.player("Ann")
            race = await start_race(ann, deal=617)
            await play(ann, race, ["1a"])
            again = await far.player(token=ann.token)
            assert await ann.closed() == 4100
            assert (await again.ask("race.sync", race=race))["you"]["moves"] == ["1a"]
            await play(again, race, ["1b"], seq=1)


async def test_with_a_certificate_it_serves_wss(store_url: str, tmp_path: Path) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    self_signed(certificate, key)
    trust = ssl.create_default_context(cafile=str(certificate))
    async with AsyncExitStack() as stack:
        config = Config(port=0, redis=store_url, certificate=certificate, key=key)
        node = await stack.enter_async_context(running(config))
        seats = await stack.enter_async_context(table(f"wss://localhost:{node.port}/ws"))
        ann = await seats.stranger(ssl=trust, host="127.0.0.1")
        await ann.hello(name="Ann")
        await play(ann, await start_race(ann, deal=617), ["1a"])


def test_collections_pass_over_what_stays() -> None:
    """A full collection over all modules would stop the node for as long as a start may be apart."""
    before = gc.get_threshold()
    try:
        spare_collections()
        assert gc.get_freeze_count() > 10_000
        assert gc.get_threshold()[0] > before[0]
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
