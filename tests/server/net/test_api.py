"""Races over HTTP: what a spectator may see, nothing more, and at a price that the node can bear (protocol, 7)."""

from __future__ import annotations

import asyncio
import hashlib
from urllib.parse import quote

import pytest

from cellrace import messages
from cellrace.messages import RaceKind, RaceList, RaceState, settle
from cellrace_server.app import Node
from cellrace_server.config import Bounds
from cellrace_server.core.facts import CountdownBegan, Joined
from cellrace_server.core.race import Race
from cellrace_server.listing import Listing
from cellrace_server.net import api
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.races import Head, RaceStore, Secret
from tests.server.net.fetching import fetch
from tests.story.passing_time import PassingTime
from tests.story.players import SECRETS, Player, Table, open_race, play, start_race


async def test_public_races_are_listed_and_private_ones_are_not(node: Node, seats: Table, ann: Player) -> None:
    race = await open_race(ann, seats=3)
    await open_race(ann, private=True)
    fetched = await fetch(node.port, "/api/v1/races")
    assert fetched.status == 200
    (row,) = fetched.json["races"]
    assert row == (await ann.ask("race.list"))["races"][0]
    assert (row["race"], row["state"], row["seats"], row["host"]) == (race, "open", 3, ann.id)


async def test_a_list_is_narrowed_by_variant_state_and_limit(node: Node, ann: Player) -> None:
    oldest = await open_race(ann)
    relaxed = await open_race(ann, variant="relaxed")
    running = await start_race(ann)

    async def listed(query: str) -> list[str]:
        return [row["race"] for row in (await fetch(node.port, f"/api/v1/races?{query}")).json["races"]]

    assert set(await listed("")) == {oldest, relaxed, running}
    assert await listed("variant=relaxed") == [relaxed]
    assert await listed("state=running") == [running]
    assert await listed("state=over") == []
    assert set(await listed("state=open&variant=freecell&unknown=1")) == {oldest}
    assert len(await listed("limit=2")) == 2
    assert await listed("limit=0") == []


@pytest.mark.parametrize(
    "query",
    [
        "limit=101",
        "limit=-1",
        "limit=",
        "limit=x",
        "limit=1e1",
        "limit=%D9%A3",
        "state=",
        "state=done",
        "limit=1&limit=2",
    ],
)
async def test_a_query_that_cannot_be_read_is_refused(node: Node, query: str) -> None:
    fetched = await fetch(node.port, f"/api/v1/races?{query}")
    assert (fetched.status, fetched.code) == (400, "bad_message")


async def test_a_query_of_many_parameters_is_refused(node: Node) -> None:
    fetched = await fetch(node.port, "/api/v1/races?" + "&".join(f"p{n}=" for n in range(21)))
    assert (fetched.status, fetched.code) == (400, "bad_message")


async def test_an_unknown_game_is_not_found(node: Node) -> None:
    fetched = await fetch(node.port, "/api/v1/races?variant=whist")
    assert (fetched.status, fetched.code) == (404, "not_found")


async def test_a_race_is_shown_as_to_a_spectator(node: Node, seats: Table) -> None:
    """The same map as on the wire, and what only entrants may know left out."""
    ann, bob, eve = await seats.player("Ann"), await seats.player("Bob"), await seats.player("Eve")
    race = await start_race(ann, bob, deal=617, spectate="live")
    await play(ann, race, ["3a"])
    watched = await eve.ask("race.watch", race=race)
    shown = (await fetch(node.port, f"/api/v1/races/{race}")).json
    assert abs(shown.pop("now") - watched.pop("now")) < 60_000
    assert shown["logs"][0] == {"player": ann.id, "seq": 1, "moves": ["3a"]}
    del watched["re"]
    assert shown == watched
    assert not {"code", "you"} & shown.keys()


async def test_moves_are_held_back_as_from_spectators(node: Node, ann: Player) -> None:
    after = await start_race(ann, spectate="after")
    delayed = await start_race(ann, spectate="delayed")
    for race in (after, delayed):
        await play(ann, race, ["3a"])
    assert "logs" not in (await fetch(node.port, f"/api/v1/races/{after}")).json
    shown = (await fetch(node.port, f"/api/v1/races/{delayed}")).json
    assert [log["moves"] for log in shown["logs"]] == [[]]
    assert shown["entrants"][0]["seq"] == 1
    await ann.ask("race.concede", race=after)
    await ann.push("race.over", race=after)
    shown = (await fetch(node.port, f"/api/v1/races/{after}")).json
    assert [log["moves"] for log in shown["logs"]] == [["3a"]]
    assert shown["standings"][0]["player"]["id"] == ann.id


async def test_logs_that_are_too_long_are_left_out(node: Node, ann: Player, monkeypatch: pytest.MonkeyPatch) -> None:
    race = await start_race(ann, spectate="live")
    await play(ann, race, ["3a", "4b", "5c"])
    monkeypatch.setattr(api, "MOST_ENTRIES", 3)
    assert [log["seq"] for log in (await fetch(node.port, f"/api/v1/races/{race}")).json["logs"]] == [3]
    monkeypatch.setattr(api, "MOST_ENTRIES", 2)
    shown = (await fetch(node.port, f"/api/v1/races/{race}")).json
    assert "logs" not in shown
    assert shown["layout"]


async def test_nothing_of_the_deal_is_shown_before_the_start(node: Node, ann: Player, bob: Player) -> None:
    """Asked again and again across the start: either it counts down and tells no secret, or it runs and tells all."""
    race = await open_race(ann, bob, countdown=3)
    assert not SECRETS & (await fetch(node.port, f"/api/v1/races/{race}")).json.keys()
    await ann.ask("race.ready", race=race)
    await bob.ask("race.ready", race=race)
    begun = await ann.push("race.countdown")
    looks = 0
    while True:
        shown = (await fetch(node.port, f"/api/v1/races/{race}")).json
        assert shown["commitment"] == begun["commitment"]
        if shown["state"] != "countdown":
            break
        assert not SECRETS & shown.keys()
        looks += 1
        await asyncio.sleep(0.15)  # Within the quota of an address.
    assert looks
    assert shown["now"] >= shown["start_at"] == begun["start_at"]
    told = await ann.push("race.started")
    assert {key: shown[key] for key in ("deal", "salt", "layout")} == {
        key: told[key] for key in ("deal", "salt", "layout")
    }
    text = f"cellrace:freecell:{shown['deal']}:{shown['salt']}"
    assert hashlib.sha256(text.encode()).hexdigest() == begun["commitment"]


async def test_a_race_cancelled_in_its_countdown_keeps_its_deal(
    node: Node, ann: Player, bob: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    race = await open_race(ann, bob, countdown=60)
    for player in (ann, bob):
        await player.ask("race.ready", race=race)
    begun = await ann.push("race.countdown")
    for player in (ann, bob):
        await player.ask("race.leave", race=race)
    await PassingTime(monkeypatch).pass_by(62, node)
    assert node.services.store.clock.now() > begun["start_at"] + 1000
    shown = (await fetch(node.port, f"/api/v1/races/{race}")).json
    assert shown["state"] == "cancelled"
    assert not SECRETS & shown.keys()


@pytest.mark.parametrize("race_id", ["nothere", "", "a/b", quote("../x", safe=""), "x" * 65, "%00"])
async def test_a_race_that_is_not_there_is_not_found(node: Node, race_id: str) -> None:
    fetched = await fetch(node.port, f"/api/v1/races/{race_id}")
    assert (fetched.status, fetched.code) == (404, "no_such_race")


async def test_a_private_race_is_not_found(node: Node, seats: Table) -> None:
    race = await open_race(await seats.player("Ann"), private=True)
    fetched = await fetch(node.port, f"/api/v1/races/{race}")
    assert (fetched.status, fetched.code) == (404, "no_such_race")


async def a_daily(node: Node, start_at: int) -> str:
    """An attempt at a daily challenge that began at an instant; its id."""
    store = node.services.store
    daily = Race(id=f"day{start_at}", kind=RaceKind.DAILY, settings=settle(None), created_at=1, created_by="p1")
    await store.races.create(daily)
    secret = Secret(617, "5a" * 16)
    begun = (
        Joined(messages.Player(id="p1", name="Ann", bot=False)),
        CountdownBegan(start_at, secret.commitment("freecell")),
    )
    await store.races.append(daily, "c1", begun, store.clock.now(), secret=secret)
    return daily.id


async def test_a_daily_is_shown_when_nobody_can_play_its_deal_any_more(node: Node) -> None:
    now = node.services.store.clock.now()
    fetched = await fetch(node.port, f"/api/v1/races/{await a_daily(node, now - 1000)}")
    assert (fetched.status, fetched.code) == (403, "not_allowed")
    two_days = 2 * 24 * 3_600_000
    shown = (await fetch(node.port, f"/api/v1/races/{await a_daily(node, now - two_days)}")).json
    assert (shown["kind"], shown["deal"]) == ("daily", 617)


async def test_ghosts_are_shown_as_to_a_spectator(node: Node, seats: Table) -> None:
    ann, bob, eve = await seats.player("Ann"), await seats.player("Bob"), await seats.player("Eve")
    first = await start_race(ann, deal=617)
    await play(ann, first, ["3a", "4b"])
    await ann.ask("race.concede", race=first)
    await ann.push("race.over", race=first)
    race = await start_race(bob, ghosts=[{"race": first, "player": ann.id}], spectate="live")
    ghost = f"{ann.id}@{first}"
    await bob.push("race.progress", race=race, player=ghost, seq=2)
    await bob.push("race.done", race=race, player=ghost)
    watched = await eve.ask("race.watch", race=race)
    shown = (await fetch(node.port, f"/api/v1/races/{race}")).json
    assert shown["entrants"] == watched["entrants"]
    assert (shown["entrants"][1]["ghost"], shown["entrants"][1]["status"]) == (True, "conceded")
    assert shown["logs"] == watched["logs"]
    assert [log["moves"] for log in shown["logs"]] == [[], ["3a", "4b"]]


@pytest.mark.parametrize("path", ["/api", "/api/v1", "/api/v1/", "/api/v2/races", "/api/v1/racesx", "/", "/ws/x"])
async def test_what_is_not_there_is_not_found(node: Node, path: str) -> None:
    fetched = await fetch(node.port, path)
    assert (fetched.status, fetched.code) == (404, "not_found")


async def test_head_is_get_without_the_body(node: Node) -> None:
    got = await fetch(node.port, "/api/v1/races")
    head = await fetch(node.port, "/api/v1/races", "HEAD")
    assert head.body == b""
    assert (head.status, head.headers) == (got.status, got.headers)
    assert (await fetch(node.port, "/api/v1/races/nothere", "HEAD")).status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
async def test_nothing_is_changed_over_http(node: Node, method: str) -> None:
    fetched = await fetch(node.port, "/api/v1/races", method)
    assert (fetched.status, fetched.code) == (405, "method_not_allowed")
    assert fetched.headers["allow"] == "GET, HEAD"


async def test_a_list_is_read_once_for_however_many_ask(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[RaceState | None] = []

    async def races(self: Listing, player: str, request: RaceList) -> list[Head]:
        looks.append(request.state)
        return []

    monkeypatch.setattr(Listing, "races", races)
    monkeypatch.setattr(api, "FRESH", 60.0)
    await asyncio.gather(*(fetch(node.port, f"/api/v1/races?limit={n}") for n in range(10)))
    await asyncio.gather(*(fetch(node.port, "/api/v1/races?state=over") for _ in range(10)))
    assert looks == [None, RaceState.OVER]
    monkeypatch.setattr(api, "FRESH", 0.0)
    await fetch(node.port, "/api/v1/races")
    assert looks == [None, RaceState.OVER, None]


@pytest.mark.parametrize("bounds", [Bounds(http_burst=3, http_per_second=0.1)])
@pytest.mark.parametrize("path", ["/api/v1/races", "/api/v1/races/nothere", "/metrics", "/asyncapi.json", "/nothere"])
async def test_an_address_that_asks_too_often_is_told_to_wait(node: Node, path: str) -> None:
    for _ in range(3):
        assert (await fetch(node.port, path)).status in (200, 404)
    refused = await fetch(node.port, path)
    assert (refused.status, refused.code) == (429, "rate_limited")
    assert 1 <= int(refused.headers["retry-after"]) <= 10
    assert (await fetch(node.port, "/healthz")).status == 200
    assert (await fetch(node.port, "/readyz")).status in (200, 503)


async def test_trouble_with_the_store_is_said(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    async def head(self: RaceStore, race_id: str) -> None:
        raise StoreUnavailable("away")

    monkeypatch.setattr(RaceStore, "head", head)
    fetched = await fetch(node.port, "/api/v1/races/nothere")
    assert (fetched.status, fetched.code) == (503, "retry_later")
    assert fetched.headers["retry-after"] == "1"


async def test_a_mistake_of_ours_costs_one_response(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    async def head(self: RaceStore, race_id: str) -> None:
        raise RuntimeError("a mistake")

    monkeypatch.setattr(RaceStore, "head", head)
    fetched = await fetch(node.port, "/api/v1/races/nothere")
    assert (fetched.status, fetched.code) == (500, "internal")
    assert (await fetch(node.port, "/api/v1/races")).status == 200
