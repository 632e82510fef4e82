"""docker-compose.yml, service by service: each command with its environment, as a process here."""

from __future__ import annotations

import asyncio
import re
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml
from redis.asyncio import Redis
from redis.exceptions import RedisError

from cellrace_server.store.binary import find_binary
from tests.ports import free_port
from tests.server.net.fetching import fetch
from tests.story.players import JSON, play, start_race, table
from tests.story.servers import COMMAND, Server, start
from tests.story.solved_games import golden_game
from tests.waiting import eventually

ROOT = Path(__file__).parent.parent.parent
Service = dict[str, Any]


@pytest.fixture(scope="module")
def services() -> dict[str, Service]:
    """The services of the compose file."""
    whole: dict[str, dict[str, Service]] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return whole["services"]


class Composition:
    """The services as processes: names become this machine, ports become free ones, volumes folders of the test."""

    def __init__(self, services: dict[str, Service], folder: Path) -> None:
        self.services = services
        self.folder = folder
        self.store_port = free_port()
        self.store: asyncio.subprocess.Process | None = None

    def here(self, word: str) -> str:
        """A word of a command or an environment as it is on this machine."""
        word = re.sub(r"redis://store:6379\b", f"redis://127.0.0.1:{self.store_port}", word)
        return {"0.0.0.0": "127.0.0.1"}.get(word, word)  # noqa: S104 - the address to replace

    async def start_store(self) -> Redis:
        """Start the store, and wait until its health check would pass."""
        service = self.services["store"]
        program, *words = service["command"]
        assert program in ("valkey-server", "redis-server")
        folder = self.folder / "store"
        folder.mkdir(exist_ok=True)
        command = [str(self.store_port) if word == "6379" else word for word in words]
        command = [str(folder) if word == "/data" else word for word in command]
        self.store = await asyncio.create_subprocess_exec(
            str(find_binary()), *command, "--bind", "127.0.0.1", stdout=subprocess.DEVNULL
        )
        client = Redis(port=self.store_port)

        async def healthy() -> bool:
            try:
                return bool(await client.ping())
            except (RedisError, OSError):
                return False

        await eventually(healthy)
        return client

    async def start_node(self, name: str) -> Server:
        """Start a service that runs `cellrace serve`."""
        service = self.services[name]
        assert service["command"][:2] == ["cellrace", "serve"]
        words = [self.here(word) for word in service["command"][1:]]
        environment = {key: self.here(value) for key, value in service["environment"].items()}
        environment |= {"CELLRACE_PORT": "0", "CELLRACE_POOL": "0"}
        return await start(self.folder / name, command=(*COMMAND, *words), env=environment)


@pytest_asyncio.fixture
async def composition(services: dict[str, Service], tmp_path: Path) -> AsyncIterator[Composition]:
    """Nothing started yet; the store ends with the test."""
    made = Composition(services, tmp_path)
    yield made
    if made.store is not None:
        made.store.terminate()
        await made.store.wait()


def nodes_of(services: dict[str, Service]) -> list[str]:
    return [name for name, service in services.items() if "serve" in service.get("command", ())]


async def test_the_store_keeps_every_answered_write(composition: Composition) -> None:
    client = await composition.start_store()
    config = await client.config_get("append*", "save", "maxmemory-policy")
    await client.aclose()
    assert (config["appendonly"], config["appendfsync"]) == ("yes", "always")
    assert (config["save"], config["maxmemory-policy"]) == ("", "noeviction")


async def test_each_node_serves_a_race_on_the_store(composition: Composition, services: dict[str, Service]) -> None:
    client = await composition.start_store()
    names = nodes_of(services)
    assert names
    for name in names:
        node = await composition.start_node(name)
        try:
            async with table(node.url) as seats:
                ann, bob = await seats.player(), await seats.player(subprotocol=JSON)
                if "CELLRACE_NODE" in services[name]["environment"]:
                    assert ann.welcome["node"] == services[name]["environment"]["CELLRACE_NODE"]
                race = await start_race(ann, bob, deal=617)
                assert (await play(ann, race, golden_game("freecell", 617, "safe"), at_once=20))["won"]
                await bob.push("race.done", race=race, player=ann.id)

                async def ready(port: int = node.port) -> bool:
                    return (await fetch(port, "/readyz")).status == 200

                await eventually(ready)
            assert "warning" not in node.log
            assert await node.terminate() == 0
        finally:
            if node.process.returncode is None:
                await node.kill()
    await client.aclose()


def test_each_service_waits_for_what_it_needs_and_says_how_it_is(services: dict[str, Service]) -> None:
    for name in nodes_of(services):
        service = services[name]
        for needed, how in service["depends_on"].items():
            assert needed in services
            assert how["condition"] == "service_healthy"
            assert "healthcheck" in services[needed]
        assert "readyz" in " ".join(service["healthcheck"]["test"])


def test_the_image_is_built_from_what_is_there(services: dict[str, Service]) -> None:
    for name in nodes_of(services):
        build = services[name]["build"]
        dockerfile = ROOT / build["context"] / build["dockerfile"]
        copied = re.findall(r"^COPY (?!--from)(?:--\S+ )*(.+) \S+$", dockerfile.read_text(), re.MULTILINE)
        assert copied
        for source in " ".join(copied).split():
            assert (ROOT / build["context"] / source).exists(), source


def test_one_address_leads_to_both_nodes(services: dict[str, Service]) -> None:
    """By the file that test_balancer runs; nobody has to know where a node is."""
    names = nodes_of(services)
    assert len(names) == 2
    assert [name for name, service in services.items() if "ports" in service] == ["balancer"]
    balancer = services["balancer"]
    source, target, _ = balancer["volumes"][0].split(":")
    assert target == "/usr/local/etc/haproxy/haproxy.cfg"
    wanted = set(re.findall(r"\$\{(\w+)\}", (ROOT / source).read_text()))
    assert wanted == balancer["environment"].keys()
    behind = {balancer["environment"][name] for name in wanted if "NODE" in name}
    assert behind == {f"{name}:{services[name]['environment']['CELLRACE_PORT']}" for name in names}
    published, listening = balancer["ports"][0].split(":")
    assert published == "8765"
    assert balancer["environment"]["CELLRACE_BALANCER"].endswith(f":{listening}")
    assert balancer["depends_on"].keys() == set(names)


def test_both_nodes_sign_with_one_key(services: dict[str, Service]) -> None:
    """Else each would publish its own."""
    volumes = [services[name]["volumes"] for name in nodes_of(services)]
    assert volumes[0] == volumes[1]
