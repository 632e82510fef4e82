"""`move`: judged in the page's order of checks, answered once it is on record, told to those who may know."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from cellrace.messages import Player as Entrant
from cellrace_server.app import Node
from cellrace_server.config import Bounds
from cellrace_server.core.facts import CountdownBegan, Stamped
from cellrace_server.store.commits import Committer
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.library import Link
from tests.server.shell import SECRET, FakeMember, Shell
from tests.server.shell import WIN as SHORT_WIN
from tests.story.players import JSON, MSGPACK, Map, Player, Table, open_race, play, start_race

WIN = ["2a", "2b", "31v2"]
"""Wins deal 94 of one-suit, as the page's example tells."""

# Deal 617 of freecell: the exposed cards are JD KS KC 4H JC 6C JH QH.
ILLEGAL = {
    "bad_notation": [
        "1",
        "",
        "h1",
        "1h1",
        "rh",
        "ra",
        "1av1",
        "a1v1",
        "12v0",
        "12v01",
        "12ve",
        "1A",
        "1H",
        "zz",
        " 12",
        "1-2",
        "１２",
        "U",
    ],
    "no_such_pile": ["91", "19", "01", "1e", "k1", "r1", "91v1"],
    "same_pile": ["11", "aa"],
    "empty_source": ["a1", "bh", "ab"],
    "foundation_order": ["1h", "8h"],
    "wrong_rank": ["12", "21", "82v2", "41", "14"],
    "wrong_color": ["18"],
    "nothing_to_undo": ["u"],
}


@pytest.fixture
def bounds() -> Bounds:
    """Room for tests that ask a lot."""
    return Bounds(burst=10**6)


async def illegal(player: Player, race: str, seq: int, *moves: str) -> Map:
    """The error that these moves get."""
    error = await player.refused("move", race=race, seq=seq, moves=list(moves))
    assert error["code"] == "illegal_move"
    assert error["move"] == moves[error["index"]]
    assert error["seq"] == seq
    return error


class TestAnswer:
    """`moved {race, seq, steps, home, at, won}`."""

    @pytest.mark.parametrize("subprotocol", [MSGPACK, JSON])
    async def test_tells_each_move_and_what_went_home_after_it(self, seats: Table, subprotocol: str) -> None:
        """The page's example, move by move."""
        ann = await seats.player("Ann", subprotocol)
        race = await start_race(ann, variant="one-suit", deal=94)
        first = await ann.ask("move", race=race, seq=0, moves=["2a"])
        assert (first["type"], first["race"]) == ("moved", race)
        assert (first["seq"], first["steps"], first["home"], first["won"]) == (1, [["2a", "1h"]], 1, False)
        assert (await illegal(ann, race, 1, "2b", "23"))["reason"] == "empty_source"
        last = await ann.ask("move", race=race, seq=1, moves=["2b", "31v2"])
        assert last["steps"] == [
            ["2b", "2h", "1h", "1h", "3h", "2h", "1h", "1h", "ah"],
            ["31v2", "3h", "1h", "1h", "bh"],
        ]
        assert (last["seq"], last["home"], last["won"]) == (3, 13, True)
        assert 0 <= first["at"] <= last["at"]

    async def test_without_autoplay_only_what_the_player_moves(self, ann: Player) -> None:
        race = await start_race(ann, variant="one-suit", deal=94, autoplay="none")
        moved = await ann.ask("move", race=race, seq=0, moves=["2a", "1h"])
        assert moved["steps"] == [["2a"], ["1h"]]
        assert (moved["seq"], moved["home"]) == (2, 1)

    async def test_undo_takes_back_the_last_entry_with_what_went_home(self, ann: Player) -> None:
        race = await start_race(ann, variant="one-suit", deal=94)
        board = (await ann.ask("race.sync", race=race))["you"]["board"]
        moved = await ann.ask("move", race=race, seq=0, moves=["2a", "2b", "u", "u"])
        assert moved["steps"][2:] == [["u"], ["u"]]
        assert (moved["seq"], moved["home"]) == (4, 0)
        whole = await ann.ask("race.sync", race=race)
        assert whole["you"] == {"moves": ["2a", "2b", "u", "u"], "seq": 4, "board": board}
        entrant = whole["entrants"][0]
        assert (entrant["seq"], entrant["moves"], entrant["undos"], entrant["home"]) == (4, 2, 2, 0)
        assert (await illegal(ann, race, 4, "u"))["reason"] == "nothing_to_undo"

    async def test_all_of_the_moves_or_none(self, ann: Player) -> None:
        race = await start_race(ann, deal=617)
        error = await illegal(ann, race, 0, "1a", "2b", "3c", "4d", "5a")
        assert (error["index"], error["reason"]) == (4, "cell_full")
        assert (await ann.ask("race.sync", race=race))["you"]["moves"] == []
        assert (await ann.ask("move", race=race, seq=0, moves=["1a", "2b", "3c", "4d"]))["seq"] == 4

    async def test_sixty_four_moves_at_once(self, ann: Player) -> None:
        race = await start_race(ann, deal=617)
        moved = await ann.ask("move", race=race, seq=0, moves=["1a", "u"] * 32)
        assert (moved["seq"], len(moved["steps"])) == (64, 64)

    async def test_at_never_falls_within_a_log(self, ann: Player) -> None:
        race = await start_race(ann, deal=617)
        ids = [await ann.send("move", race=race, seq=seq, moves=["1a" if seq % 2 == 0 else "u"]) for seq in range(30)]
        stamps = [(await ann.answer(request))["at"] for request in ids]
        assert stamps == sorted(stamps)

    async def test_is_given_only_when_the_store_has_it(
        self, ann: Player, bob: Player, node: Node, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        race = await start_race(ann, bob, deal=617)
        reached, go_on = asyncio.Event(), asyncio.Event()
        write = Committer._write  # noqa: SLF001 - the seam between the answer and the store

        async def slowly(self: Committer, batch: Any) -> None:
            reached.set()
            await go_on.wait()
            await write(self, batch)

        monkeypatch.setattr(Committer, "_write", slowly)
        request = await ann.send("move", race=race, seq=0, moves=["1a"])
        await reached.wait()
        await bob.settle()
        assert not [push for push in bob.pushes if push["type"] == "race.progress"]
        assert not [frame for frame in ann.frames if frame.get("re") == request]
        go_on.set()
        assert (await ann.answer(request))["seq"] == 1
        await bob.push("race.progress", race=race, seq=1)


class TestRepeats:
    """A repeat gets the same answer again, in any state."""

    async def test_of_the_last_message_and_of_any_before(self, ann: Player) -> None:
        race = await start_race(ann, variant="one-suit", deal=94)
        sent = [(0, ["2a"]), (1, ["2b", "u"]), (3, ["2b"]), (4, ["31v2"])]
        first = [await ann.ask("move", race=race, seq=seq, moves=moves) for seq, moves in sent]
        for again in range(2):
            for (seq, moves), answer in zip(sent, first, strict=True):
                repeated = await ann.ask("move", race=race, seq=seq, moves=moves)
                assert {**repeated, "re": 0} == {**answer, "re": 0}, again
        assert first[-1]["won"]
        await ann.push("race.over", race=race)
        repeated = await ann.ask("move", race=race, seq=0, moves=["2a"])
        assert {**repeated, "re": 0} == {**first[0], "re": 0}

    async def test_after_coming_back(self, seats: Table, ann: Player) -> None:
        race = await start_race(ann, deal=617)
        first = await ann.ask("move", race=race, seq=0, moves=["1a", "1b"])
        await ann.drop()
        again = await (await seats.back(ann)).ask("move", race=race, seq=0, moves=["1a", "1b"])
        assert {**again, "re": 0} == {**first, "re": 0}

    async def test_tells_the_rivals_nothing(self, ann: Player, bob: Player) -> None:
        race = await start_race(ann, bob, deal=617)
        for _ in range(3):
            await play(ann, race, ["1a"])
        await bob.push("race.progress", race=race)
        await bob.settle()
        assert not bob.pushes or all(push["type"] != "race.progress" for push in bob.pushes)

    async def test_other_moves_at_a_known_place_are_stale(self, ann: Player) -> None:
        race = await start_race(ann, deal=617)
        await play(ann, race, ["1a", "1b"])
        for seq, moves in ((0, ["2a"]), (0, ["1a", "1b", "1c"]), (1, ["1c"]), (3, ["1c"]), (2**53 - 1, ["1c"])):
            error = await ann.refused("move", race=race, seq=seq, moves=moves)
            assert (error["code"], error["seq"]) == ("stale", 2)
        assert (await ann.ask("move", race=race, seq=1, moves=["1b"]))["seq"] == 2

    async def test_a_lost_answer_of_the_store_is_unknown_and_the_repeat_finds_out(
        self, ann: Player, bob: Player, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """`retry_later`: whether it was carried out is unknown; here it was."""
        race = await start_race(ann, bob, deal=617)
        call = Link.call

        async def lose_the_answer(self: Link, function: str, *args: Any) -> Any:
            await call(self, function, *args)
            monkeypatch.undo()
            raise StoreUnavailable("The test lost the answer.")

        monkeypatch.setattr(Link, "call", lose_the_answer)
        error = await ann.refused("move", race=race, seq=0, moves=["1a"])
        assert error["code"] == "retry_later"
        assert error["retry_after"] > 0
        assert (await ann.ask("move", race=race, seq=0, moves=["1a"]))["seq"] == 1
        await bob.push("race.progress", race=race, player=ann.id, seq=1)
        await play(ann, race, ["1b"], seq=1)


class TestRefusals:
    """In the page's order."""

    async def test_no_such_race_and_not_entrant(self, ann: Player, bob: Player) -> None:
        race = await start_race(ann, deal=617)
        assert (await ann.refused("move", race="nothing", seq=9, moves=["zz"]))["code"] == "no_such_race"
        assert (await bob.refused("move", race=race, seq=9, moves=["zz"]))["code"] == "not_entrant"

    async def test_not_started_not_running_already_done_before_stale(self, ann: Player, bob: Player) -> None:
        race = await open_race(ann, bob, countdown=60)
        assert (await ann.refused("move", race=race, seq=9, moves=["zz"]))["code"] == "not_started"
        for player in (ann, bob):
            await player.ask("race.ready", race=race)
        await ann.push("race.countdown", race=race)
        assert (await ann.refused("move", race=race, seq=9, moves=["zz"]))["code"] == "not_started"
        for player in (ann, bob):
            await player.ask("race.leave", race=race)
        assert (await ann.refused("move", race=race, seq=9, moves=["zz"]))["code"] == "not_running"
        race = await start_race(ann, bob, deal=617)
        await ann.ask("race.concede", race=race)
        assert (await ann.refused("move", race=race, seq=9, moves=["zz"]))["code"] == "already_done"
        await bob.ask("race.forfeit", race=race)
        await ann.push("race.over", race=race)
        assert (await bob.refused("move", race=race, seq=9, moves=["zz"]))["code"] == "already_done"

    async def test_stale_before_illegal(self, ann: Player) -> None:
        race = await start_race(ann, deal=617)
        error = await ann.refused("move", race=race, seq=1, moves=["zz"])
        assert (error["code"], error["seq"]) == ("stale", 0)

    @pytest.mark.parametrize("reason", ILLEGAL)
    async def test_illegal_moves_of_freecell(self, ann: Player, reason: str) -> None:
        race = await start_race(ann, deal=617)
        for move in ILLEGAL[reason]:
            assert (await illegal(ann, race, 0, move))["reason"] == reason, move
        assert (await ann.ask("race.sync", race=race))["you"]["seq"] == 0

    @pytest.mark.parametrize(
        ("reason", "settings", "moves"),
        [
            ("undo_off", {"deal": 617, "undo": False}, ["1a", "u"]),
            ("cell_full", {"deal": 617}, ["1a", "2a"]),
            ("wrong_suit", {"deal": 617, "variant": "bakers-game"}, ["18"]),
            ("reserve_first", {"deal": 617, "variant": "marseille"}, ["1a"]),
            ("no_such_pile", {"deal": 617, "variant": "marseille"}, ["r8"]),
            ("empty_source", {"deal": 617, "variant": "marseille"}, ["r1", "r1", "r1", "r1"]),
            ("already_won", {"deal": 94, "variant": "one-suit"}, [*WIN, "u"]),
            ("already_won", {"deal": 94, "variant": "one-suit"}, [*WIN, "zz"]),
        ],
    )
    async def test_illegal_moves_of_other_kinds(
        self, ann: Player, reason: str, settings: Map, moves: list[str]
    ) -> None:
        race = await start_race(ann, **settings)
        error = await illegal(ann, race, 0, *moves)
        assert (error["reason"], error["index"]) == (reason, len(moves) - 1)

    async def test_the_longest_move_is_bounded_by_the_frame_alone(self, ann: Player) -> None:
        race = await start_race(ann, deal=617)
        assert (await illegal(ann, race, 0, "1" * 10_000))["reason"] == "bad_notation"

    class TestFullLog:
        """A log has its limit."""

        @pytest.fixture
        def bounds(self) -> Bounds:
            return Bounds(burst=10**6, log_entries=10)

        async def test_a_full_log_takes_no_entry_more_and_the_game_can_be_conceded(self, ann: Player) -> None:
            assert ann.welcome["limits"]["log_entries"] == 10
            race = await start_race(ann, deal=617)
            await play(ann, race, ["1a", "u"] * 4)
            error = await illegal(ann, race, 8, "1a", "u", "1a")
            assert (error["reason"], error["index"]) == ("log_full", 2)
            await play(ann, race, ["1a", "u"], seq=8)
            assert (await illegal(ann, race, 10, "zz"))["reason"] == "log_full"
            await ann.ask("race.concede", race=race)
            await ann.push("race.over", race=race)


class TestTold:
    """What the others hear of a move."""

    async def test_rivals_get_progress_and_never_moves(self, seats: Table) -> None:
        ann, bob = await seats.player("Ann"), await seats.player("Bob", JSON)
        race = await start_race(ann, bob, variant="one-suit", deal=94)
        moved = await ann.ask("move", race=race, seq=0, moves=["2a", "u", "2a"])
        progress = await bob.push("race.progress", race=race)
        assert progress == {
            "type": "race.progress",
            "race": race,
            "player": ann.id,
            "seq": 3,
            "home": 1,
            "moves": 2,
            "undos": 1,
            "at": moved["at"],
        }
        await ann.settle()
        assert not [push for push in ann.pushes if push["type"] == "race.progress"]
        assert not [push for push in bob.pushes if push["type"] == "race.moved"]
        assert "logs" not in await bob.ask("race.sync", race=race)

    async def test_who_is_done_gets_moves_too(self, ann: Player, bob: Player, cem: Player) -> None:
        race = await start_race(ann, bob, cem, variant="one-suit", deal=94)
        await play(ann, race, ["2a"])
        await bob.ask("race.concede", race=race)
        assert (await bob.ask("race.sync", race=race))["logs"] == [
            {"player": ann.id, "seq": 1, "moves": ["2a"]},
            {"player": cem.id, "seq": 0, "moves": []},
        ]
        moved = await ann.ask("move", race=race, seq=1, moves=["2b", "31v2"])
        push = await bob.push("race.moved", race=race, player=ann.id)
        assert (push["seq"], push["moves"], push["at"]) == (3, ["2b", "31v2"], moved["at"])
        await cem.push("race.done", race=race, player=ann.id)
        assert not [push for push in cem.pushes if push["type"] == "race.moved"]

    async def test_a_win_is_told_with_its_time_and_place(self, ann: Player, bob: Player) -> None:
        race = await start_race(ann, bob, variant="one-suit", deal=94)
        last = await play(ann, race, WIN, at_once=1)
        for player in (ann, bob):
            done = await player.push("race.done", race=race)
            assert (done["player"], done["status"], done["home"], done["place"]) == (ann.id, "won", 13, 1)
            assert max(0, last["at"] - 250) <= done["time"] <= last["at"]

    async def test_with_first_win_the_others_are_timed_out(self, ann: Player, bob: Player, cem: Player) -> None:
        race = await start_race(ann, bob, cem, variant="one-suit", deal=94, ends="first_win")
        await play(bob, race, ["2a"])
        await play(ann, race, WIN)
        over = await cem.push("race.over", race=race)
        table = [(s["player"]["name"], s["place"], s["status"], s["home"]) for s in over["standings"]]
        assert table == [("Ann", 1, "won", 13), ("Bob", 2, "timed_out", 1), ("Cem", 3, "timed_out", 0)]
        assert (await bob.refused("move", race=race, seq=1, moves=["2b"]))["code"] == "already_done"
        for player in (ann, bob, cem):
            await player.settle()


class TestReserve:
    """Marseille: three cards are laid out first."""

    async def test_laid_out_by_the_player(self, ann: Player) -> None:
        race = await start_race(ann, variant="marseille", deal=617, autoplay="none")
        whole = await ann.ask("race.sync", race=race)
        reserve, board = whole["reserve"], whole["you"]["board"]
        assert board["reserve"] == reserve
        assert len(reserve) == 3
        moved = await ann.ask("move", race=race, seq=0, moves=["r4", "r4", "u", "r1", "r7"])
        assert moved["seq"] == 5
        after = await ann.ask("race.sync", race=race)
        columns = after["you"]["board"]["columns"]
        assert [columns[3][-1], columns[0][-1], columns[6][-1]] == reserve
        assert after["you"]["board"]["reserve"] == []
        entrant = after["entrants"][0]
        assert (entrant["seq"], entrant["moves"], entrant["undos"]) == (5, 0, 1)
        assert (after["layout"], after["reserve"]) == (whole["layout"], reserve)

    async def test_laid_out_by_the_server(self, ann: Player) -> None:
        race = await start_race(ann, variant="marseille", deal=617, placement="fixed", autoplay="none")
        whole = await ann.ask("race.sync", race=race)
        board = whole["you"]["board"]
        assert board["reserve"] == []
        assert len(whole["reserve"]) == 3
        laid = [[*column] for column in whole["layout"]]
        for column, card in zip(laid, whole["reserve"], strict=False):
            column.append(card)
        assert board["columns"] == laid
        assert (await illegal(ann, race, 0, "u"))["reason"] == "nothing_to_undo"
        assert (await illegal(ann, race, 0, "r1"))["reason"] == "empty_source"
        await play(ann, race, ["1a"])

    async def test_nothing_goes_home_while_the_reserve_is_out(self, ann: Player) -> None:
        for deal in range(1, 200):
            race = await start_race(ann, variant="marseille", deal=deal)
            whole = await ann.ask("race.sync", race=race)
            if any(column[-1][0] == "A" for column in whole["layout"][3:]):
                break
            await ann.ask("race.leave", race=race)
        steps = (await ann.ask("move", race=race, seq=0, moves=["r1", "r2", "r3"]))["steps"]
        assert [len(step) for step in steps[:2]] == [1, 1]
        assert len(steps[2]) > 1


async def test_a_move_reads_the_deal_that_another_node_has_drawn(here: Shell) -> None:
    """The countdown was heard of, its deal not yet: the move waits for it, and nothing is wrong with the store."""
    ann = Entrant(id="pann", name="Ann", bot=False)
    race = await here.race(ann)
    member = FakeMember(ann)
    async with here.attended(race, member) as referee:
        began = CountdownBegan(here.now() - 1000, SECRET.commitment(race.settings.variant))
        race = await here.append(race, began, secret=SECRET)
        referee.room.apply_facts((Stamped(race.version, race.last_id, race.changed_at, began),))
        assert referee.room.start is None
        assert (await here.move(referee, ann, 0, *SHORT_WIN[:1])).seq == 1
