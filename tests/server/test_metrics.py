"""What a node tells Prometheus: read with Prometheus's own parser, after things have happened that it must show."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio
from prometheus_client import REGISTRY
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_text

from cellrace.errors import ErrorCode
from cellrace.variants import VARIANTS
from cellrace_server.app import Node, running
from cellrace_server.config import Bounds, Config
from tests.server.net.fetching import fetch
from tests.story.players import JSON, Table, open_race, play, start_race, table
from tests.waiting import eventually

Samples = dict[str, float]


async def scrape(node: Node) -> Samples:
    """Each sample of a node by its name and labels, but for the node's name."""
    fetched = await fetch(node.port, "/metrics")
    assert fetched.status == 200
    assert fetched.headers["content-type"].startswith("text/plain; version=0.0.4")
    samples: Samples = {}
    for family in read_text(fetched.body.decode()):
        assert family.documentation
        for sample in family.samples:
            assert sample.labels.pop("node").startswith("here:")
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            key = f"{sample.name}{{{labels}}}" if labels else sample.name
            assert key not in samples
            samples[key] = sample.value
    return samples


@pytest_asyncio.fixture
async def nodes(store_url: str) -> AsyncIterator[list[Node]]:
    """Two nodes of one store."""
    config = Config(port=0, redis=store_url, node="here", bounds=Bounds(http_burst=1000, ping_seconds=60.0))
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(running(config)) for _ in range(2)]


@pytest.fixture
def node(nodes: list[Node]) -> Node:
    """One of them."""
    return nodes[0]


@pytest_asyncio.fixture
async def seats(node: Node) -> AsyncIterator[Table]:
    """Opens connections to it."""
    async with table(f"ws://127.0.0.1:{node.port}/ws") as opened:
        yield opened


async def test_a_race_shows_in_the_metrics_from_its_opening_to_its_end(node: Node, seats: Table) -> None:
    ann, bob, eve = await seats.player("Ann"), await seats.player("Bob", JSON, bot=True), await seats.player("Eve")
    await seats.stranger()
    opened = await open_race(ann)
    race = await start_race(ann, bob)
    await eve.ask("race.watch", race=race)
    await play(ann, race, ["3a", "4b"], at_once=2)
    shown = await scrape(node)
    assert shown["cellrace_races{state=open}"] == 1
    assert shown["cellrace_races{state=running}"] == 1
    assert shown["cellrace_races{state=over}"] == 0
    assert shown["cellrace_entrants"] == 3, "Ann sits in two"
    assert shown["cellrace_spectators"] == 1
    assert shown["cellrace_connections{subprotocol=cellrace.v1.msgpack,who=person}"] == 2
    assert shown["cellrace_connections{subprotocol=cellrace.v1.json,who=bot}"] == 1
    assert shown["cellrace_connections{subprotocol=cellrace.v1.msgpack,who=unknown}"] == 1
    assert shown["cellrace_connections_opened_total{subprotocol=cellrace.v1.msgpack}"] == 3
    assert shown["cellrace_requests_total{type=move}"] == 1
    assert shown["cellrace_moves_total"] == 2
    assert shown["cellrace_races_begun_total{variant=freecell}"] == 1
    assert shown["cellrace_deals_drawn_total{variant=freecell}"] == 1
    assert shown["cellrace_races_ended_total{variant=freecell}"] == 0
    for player in (ann, bob):
        await player.ask("race.concede", race=race)
    await ann.push("race.over", race=race)
    await ann.ask("race.leave", race=opened)
    shown = await scrape(node)
    assert shown["cellrace_races_ended_total{variant=freecell}"] == 1


async def test_each_stage_of_a_move_has_its_histogram(node: Node, seats: Table) -> None:
    ann = await seats.player("Ann")
    race = await start_race(ann)
    for seq, move in enumerate(["3a", "4b", "5c"]):
        await ann.ask("move", race=race, seq=seq, moves=[move])
    await ann.ask("move", race=race, seq=2, moves=["5c"])  # A repeat: answered, and not counted again.
    shown = await scrape(node)
    for stage in ("judge", "commit", "answer"):
        assert shown[f"cellrace_move_stage_seconds_count{{stage={stage}}}"] == 3
        assert shown[f"cellrace_move_stage_seconds_bucket{{le=+Inf,stage={stage}}}"] == 3
        assert 0 < shown[f"cellrace_move_stage_seconds_sum{{stage={stage}}}"] < 180
    assert shown["cellrace_moves_total"] == 3
    assert shown["cellrace_batch_size_count"] == 3
    assert shown["cellrace_batch_size_bucket{le=1}"] == 3
    assert shown["cellrace_batch_seconds_count"] == 3
    assert shown["cellrace_commits_waiting"] == 0


async def test_refusals_and_closes_are_counted_by_code(node: Node, seats: Table) -> None:
    ann, bob = await seats.player("Ann"), await seats.player("Bob")
    before = await scrape(node)
    assert {f"cellrace_refusals_total{{code={code}}}" for code in ErrorCode} <= before.keys()
    await ann.refused("race.sync", race="nothere")
    await ann.answer(await ann.send("nonsense"))
    again = await seats.back(ann)
    await bob.socket.send(b"x" * 20_000)
    assert (await ann.closed(), await bob.closed()) == (4100, 1009)
    await again.close()
    await eventually(lambda: not len(node.sessions))
    shown = await scrape(node)
    grown = {name: shown[name] - before.get(name, 0) for name in shown if shown[name] > before.get(name, 0)}
    refusals = {name: count for name, count in grown.items() if name.startswith("cellrace_refusals")}
    closes = {name: count for name, count in grown.items() if name.startswith("cellrace_closes")}
    assert refusals == {
        "cellrace_refusals_total{code=no_such_race}": 1,
        "cellrace_refusals_total{code=bad_message}": 1,
    }
    assert closes == {"cellrace_closes_total{code=4100}": 1, "cellrace_closes_total{code=1009}": 1}
    assert grown["cellrace_takeovers_total"] == 1
    assert "cellrace_evictions_total" not in grown


async def test_the_node_tells_of_its_clock_its_sweeps_and_its_readiness(node: Node) -> None:
    await eventually(lambda: node.readiness() is None and node.services.store.counts.sweeps)
    shown = await scrape(node)
    assert shown["cellrace_ready"] == 1
    assert 0 < shown["cellrace_clock_error_bound_seconds"] < 0.025
    assert shown["cellrace_clock_disagreement_seconds"] < 0.25
    assert shown["cellrace_sweeps_total"] >= 1
    assert shown["cellrace_store_errors_total"] == 0
    assert shown[f"cellrace_node{{version={node.services.version}}}"] == 1
    assert shown["process_resident_memory_bytes"] > 1_000_000


async def test_a_record_read_anew_is_a_resync(node: Node, seats: Table) -> None:
    ann = await seats.player("Ann")
    await eventually(lambda: node.readiness() is None)  # What is read when the subscription is confirmed has been.
    race = await open_race(ann)
    before = (await scrape(node))["cellrace_resyncs_total"]
    for referee in node.services.rooms:
        referee.room.doubt()
    await ann.ask("race.sync", race=race)
    assert (await scrape(node))["cellrace_resyncs_total"] == before + 1


async def test_a_scrape_counts_itself_afterwards(node: Node) -> None:
    assert "cellrace_http_responses_total{status=200}" not in await scrape(node)
    assert (await scrape(node))["cellrace_http_responses_total{status=200}"] == 1


async def test_a_handshake_that_is_refused_counts_as_a_response(node: Node) -> None:
    await fetch(node.port, "/ws")
    assert (await scrape(node))["cellrace_http_responses_total{status=426}"] == 1


async def test_each_node_tells_its_own_and_nothing_is_global(nodes: list[Node], seats: Table) -> None:
    await start_race(await seats.player("Ann"))
    first, second = [await scrape(node) for node in nodes]
    assert first["cellrace_races_begun_total{variant=freecell}"] == 1
    assert second["cellrace_races_begun_total{variant=freecell}"] == 0
    assert not [family.name for family in REGISTRY.collect() if family.name.startswith("cellrace")]
    names = {(await fetch(node.port, "/metrics")).body.split(b'node="')[1].split(b'"')[0] for node in nodes}
    assert len(names) == 2


async def test_every_game_is_there_before_its_first_race(node: Node) -> None:
    shown = await scrape(node)
    for name in ("races_begun", "races_ended", "races_cancelled", "deals_drawn", "no_deal"):
        assert {f"cellrace_{name}_total{{variant={variant}}}" for variant in VARIANTS} <= shown.keys()


async def test_the_operations_page_names_each_metric_and_no_other(node: Node) -> None:
    page = (Path(__file__).parents[2] / "docs" / "operations.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`cellrace_.*?) \|(.*?)\|", page, re.MULTILINE)
    told = {
        name: frozenset(re.findall("`(.*?)`", labels)) for row, labels in rows for name in re.findall("`(.*?)`", row)
    }
    shown: dict[str, frozenset[str]] = {}
    for family in read_text((await fetch(node.port, "/metrics")).body.decode()):
        if family.name.startswith("cellrace_"):
            name = family.name + ("_total" if family.type == "counter" else "")
            # A counter of what has not happened yet has no samples where its labels are not known beforehand.
            shown[name] = frozenset(label for sample in family.samples for label in sample.labels) - {"node", "le"}
    assert told.keys() == shown.keys()
    assert {name: labels for name, labels in shown.items() if labels} == {n: told[n] for n in shown if shown[n]}
    assert {name for name, labels in told.items() if labels and not shown[name]} <= {"cellrace_http_responses_total"}


async def test_the_openmetrics_format_is_spoken_when_it_is_asked_for(node: Node) -> None:
    accept = "Accept: application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"
    fetched = await fetch(node.port, "/metrics", headers=(accept,))
    assert fetched.headers["content-type"].startswith("application/openmetrics-text")
    assert "cellrace_moves" in {family.name for family in read_openmetrics(fetched.body.decode())}
