"""Players, leaderboards and days over HTTP: what a stranger may see, in the maps of the protocol."""

from __future__ import annotations

import pytest

from cellrace_server.app import Node
from tests.server.net.fetching import Fetched, fetch
from tests.story.players import Player, Table, start_race

GAME = "one-suit"
pytestmark = pytest.mark.usefixtures("noon")


async def get(node: Node, path: str) -> Fetched:
    return await fetch(node.port, f"/api/v1/{path}")


async def raced(node: Node, *players: Player, **settings: object) -> str:
    """A race that all have conceded, with all that follows."""
    race = await start_race(*players, variant=GAME, **settings)
    for player in players:
        await player.ask("race.concede", race=race)
    await settled(node, players[0], race)
    return race


async def settled(node: Node, player: Player, race: str) -> None:
    """Wait until a race is over and all that follows from that is done."""
    await player.push("race.over", race=race)
    while (await node.services.store.races.head(race)).packed is False:  # type: ignore[union-attr]  # it is there
        await player.settle()


async def test_a_player_is_shown_as_on_the_wire_to_somebody_else(node: Node, seats: Table) -> None:
    ann, ben, eve = [await seats.player(name) for name in ("Ann", "Ben", "Eve")]
    race = await raced(node, ann, ben)
    hidden = (await ann.ask("daily.start", variant=GAME))["race"]
    await ann.ask("race.forfeit", race=hidden)
    await settled(node, ann, hidden)
    shown = (await get(node, f"players/{ann.id}")).json
    asked = await eve.ask("player.get", player=ann.id)
    assert {name: value for name, value in asked.items() if name != "re"} == shown
    assert [summary["race"] for summary in shown["recent"]] == [race]
    assert shown["games"][GAME]["played"] == 2
    assert [summary["race"] for summary in (await ann.ask("player.get"))["recent"]] == [hidden, race]


@pytest.mark.parametrize("player", ["nobody", "", "a" * 200, "%7Bx%7D", "race:%7Br%7D"])
async def test_who_is_nobody_is_not_found(node: Node, player: str) -> None:
    fetched = await get(node, f"players/{player}")
    assert fetched.status in (400, 404)
    assert fetched.code in ("not_found", "bad_message")


async def test_a_board_is_shown_as_on_the_wire(node: Node, seats: Table) -> None:
    ann, ben = await seats.player("Ann"), await seats.player("Ben", bot=True)
    await raced(node, ann, ben)
    for query, fields in (("", {}), ("&bots=false", {"bots": False}), ("&limit=1&offset=1", {"limit": 1, "offset": 1})):
        shown = (await get(node, f"leaderboards/rating?variant={GAME}{query}")).json
        asked = await (await seats.player()).ask("leaderboard", board="rating", variant=GAME, **fields)
        assert {name: value for name, value in asked.items() if name != "re"} == shown
        assert len(shown["rows"]) == (2 if not query else 1)
    assert (await get(node, "leaderboards/best")).json["variant"] == "freecell"
    assert (await get(node, f"leaderboards/deal?variant={GAME}&deal=617&unknown=1")).json["total"] == 0


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("leaderboards/fame", 404),
        ("leaderboards/best?variant=whist", 404),
        ("leaderboards/daily?date=1999-01-01", 404),
        ("leaderboards/daily?date=yesterday", 400),
        ("leaderboards/deal", 400),
        ("leaderboards/deal?deal=0", 400),
        ("leaderboards/best?limit=101", 400),
        ("leaderboards/best?limit=-1", 400),
        ("leaderboards/best?limit=1.5", 400),
        ("leaderboards/best?offset=x", 400),
        ("leaderboards/best?bots=perhaps", 400),
        ("leaderboards/best?limit=1&limit=2", 400),
        ("leaderboards/", 404),
        ("leaderboards", 404),
        ("daily/whist", 404),
        ("daily/relaxed", 404),
        ("daily/", 404),
        ("daily/freecell?date=1999-01-01", 404),
        ("daily/freecell?date=99", 400),
    ],
)
async def test_what_cannot_be_shown_is_refused_with_a_sentence(node: Node, path: str, status: int) -> None:
    fetched = await get(node, path)
    assert (fetched.status, fetched.code) == (status, {400: "bad_message", 404: "not_found"}[status])


async def test_a_day_is_shown_without_its_secret_and_without_anybodys_attempt(node: Node, ann: Player) -> None:
    await ann.ask("daily.start", variant=GAME)
    shown = (await get(node, f"daily/{GAME}")).json
    own = await ann.ask("daily.get", variant=GAME)
    assert {name: own[name] for name in shown if name != "now"} == {n: v for n, v in shown.items() if n != "now"}
    assert shown["entries"] == 1
    assert not {"deal", "salt", "you"} & shown.keys()
    assert (await get(node, f"daily/{GAME}?date={shown['date']}")).json["commitment"] == shown["commitment"]
