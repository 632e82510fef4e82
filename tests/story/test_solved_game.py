"""A client made from the protocol page alone plays a solved game to a win, over both subprotocols."""

from __future__ import annotations

import hashlib

import pytest

from tests.story.players import JSON, MSGPACK, play, start_race, table
from tests.story.servers import Servers
from tests.story.solved_games import golden_game


@pytest.mark.parametrize("subprotocol", [MSGPACK, JSON])
async def test_deal_617_is_played_to_a_win(house: Servers, subprotocol: str) -> None:
    """With the server playing home what is safe, and without; a move a message, and many."""
    server = await house.start()
    async with table(server.url) as seats:
        ann = await seats.player("Ann", subprotocol)
        for autoplay, at_once in (("safe", 1), ("none", 7), ("none", 64)):
            race = await start_race(ann, deal=617, autoplay=autoplay)
            moves = golden_game("freecell", 617, autoplay)
            last = await play(ann, race, moves, at_once=at_once)
            assert (last["won"], last["home"], last["seq"]) == (True, 52, len(moves))
            done = await ann.push("race.done", race=race)
            assert (done["status"], done["home"], done["place"]) == ("won", 52, 1)
            over = await ann.push("race.over", race=race)
            (standing,) = over["standings"]
            assert (standing["status"], standing["moves"], standing["undos"]) == ("won", len(moves), 0)
            assert standing["raw"] == last["at"]
            whole = await ann.ask("race.sync", race=race)
            text = f"cellrace:freecell:617:{whole['salt']}"
            assert hashlib.sha256(text.encode()).hexdigest() == whole["commitment"]
            assert whole["layout"][0] == ["7D", "TD", "TH", "KD", "4C", "4S", "JD"]
            board = whole["you"]["board"]
            assert board["homes"] == {"C": "KC", "D": "KD", "H": "KH", "S": "KS"}
            assert (board["columns"], board["cells"], board["reserve"]) == ([[]] * 8, [None] * 4, [])
