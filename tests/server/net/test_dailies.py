"""The daily over the wire: played by its player alone, secret until it is published, and found again after a drop."""

from __future__ import annotations

import pytest

from cellrace_server.app import Node
from cellrace_server.challenges import Challenges
from cellrace_server.core.daily import day_of
from cellrace_server.store.errors import StoreUnavailable
from tests.server.net.fetching import fetch
from tests.story.players import JSON, Player, Table, play
from tests.story.solved_games import stocked_game

GAME = "one-suit"
pytestmark = pytest.mark.usefixtures("noon")


async def winning_moves(node: Node) -> list[str]:
    """The moves that win today's deal, as the stock has them."""
    store = node.services.store
    return stocked_game(GAME, (await store.daily.secret(day_of(store.clock.now()), GAME)).deal)


async def test_an_attempt_is_played_ranked_and_shown(node: Node, seats: Table) -> None:
    ann, ben = await seats.player("Ann"), await seats.player("Ben", JSON)
    race = await ann.ask("daily.start", variant=GAME)
    assert (race["kind"], race["state"], race["settings"]["time_limit"]) == ("daily", "running", 3600)
    assert {"layout", "commitment", "you"} <= race.keys()
    assert not {"deal", "salt", "code"} & race.keys()
    answer = await play(ann, race["race"], await winning_moves(node))
    assert answer["won"]
    over = await ann.push("race.over", race=race["race"])
    assert over["standings"][0]["status"] == "won"
    while not (told := await ann.ask("daily.get", variant=GAME))["you"].get("place"):
        pass
    assert told["commitment"] == race["commitment"]
    assert (told["you"]["status"], told["you"]["place"], told["entries"]) == ("won", 1, 1)
    board = await ben.ask("leaderboard", board="daily", variant=GAME)
    assert [(row["player"]["name"], row["time"]) for row in board["rows"]] == [("Ann", told["you"]["time"])]
    assert (await ben.ask("daily.get", variant=GAME)).keys().isdisjoint({"you", "deal", "salt"})


async def test_nobody_else_sees_an_attempt_and_its_player_does(node: Node, ann: Player, ben: Player) -> None:
    race = (await ann.ask("daily.start", variant=GAME))["race"]
    assert (await ben.refused("race.watch", race=race))["code"] == "not_allowed"
    assert (await ben.refused("race.sync", race=race))["code"] == "not_allowed"
    assert (await ben.refused("replay.get", race=race, player=ann.id))["code"] == "not_allowed"
    assert (await fetch(node.port, f"/api/v1/races/{race}")).status == 403
    assert race not in [summary["race"] for summary in (await ben.ask("race.list"))["races"]]
    await ann.ask("race.forfeit", race=race)
    await ann.push("race.over", race=race)
    assert (await ann.refused("replay.get", race=race, player=ann.id))["code"] == "too_early"
    assert not {"deal", "salt"} & (await ann.ask("race.sync", race=race)).keys()


async def test_after_a_drop_the_attempt_goes_on(seats: Table, ann: Player) -> None:
    race = (await ann.ask("daily.start", variant=GAME))["race"]
    await ann.drop()
    again = await seats.back(ann)
    assert again.welcome["races"] == [{"race": race, "state": "running"}]
    assert (await again.refused("daily.start", variant=GAME)) | {"re": 0, "message": ""} == {
        "type": "error",
        "re": 0,
        "code": "already_attempted",
        "message": "",
        "race": race,
    }
    assert (await again.ask("race.sync", race=race))["state"] == "running"


@pytest.mark.parametrize("lost", ["_enter", "_open_attempt"])
async def test_an_attempt_whose_answer_was_lost_can_be_played_on_the_same_connection(
    node: Node, seats: Table, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    """`retry_later`, the repeat is refused or answered, and either way the moves are."""
    moves = await winning_moves(node)
    ann = await seats.player("Ann")
    with monkeypatch.context() as patched:

        async def lose(*_: object) -> None:
            raise StoreUnavailable("lost by the test")

        patched.setattr(Challenges, lost, lose)
        assert (await ann.refused("daily.start", variant=GAME))["code"] == "retry_later"
    answer = await ann.answer(await ann.send("daily.start", variant=GAME))
    assert answer["type"] == "race" or answer["code"] == "already_attempted"
    race = answer["race"]
    whole = await ann.ask("race.sync", race=race)
    assert whole["state"] == "running"
    assert (await play(ann, race, moves))["won"]
    await ann.push("race.over", race=race)
