"""Each request of races, as the page's table has it: its answer, the facts that follow, and every refusal."""

from __future__ import annotations

import re
from typing import Any

import pytest

from cellrace_server.config import Bounds
from tests.story.players import JSON, MSGPACK, Map, Player, Table, check_start, open_race, play, start_race

DEFAULTS = {
    "variant": "freecell",
    "seats": 2,
    "private": False,
    "time_limit": 1800,
    "countdown": 5,
    "grace": 120,
    "undo": True,
    "autoplay": "safe",
    "placement": "player",
    "ends": "all",
    "ranked": True,
    "spectate": "delayed",
    "bots": True,
    "ghosts": [],
}


@pytest.fixture
def bounds() -> Bounds:
    """Room for tests that ask a lot."""
    return Bounds(burst=10**6)


async def over_race(host: Player, *others: Player, **settings: Any) -> str:
    """A race that is over: everybody has conceded."""
    race = await start_race(host, *others, **{"deal": 617, **settings})
    for player in (host, *others):
        await player.ask("race.concede", race=race)
    for player in (host, *others):
        await player.push("race.over", race=race)
    return race


async def cancelled_race(host: Player, other: Player) -> str:
    """A race that both have forfeited in its countdown; both are its entrants still."""
    race = await open_race(host, other, countdown=60)
    for player in (host, other):
        await player.ask("race.ready", race=race)
    for player in (host, other):
        await player.push("race.countdown", race=race)
    for player in (host, other):
        await player.ask("race.leave", race=race)
    return race


async def another_moment(player: Player) -> None:
    """Wait until the race clock shows another millisecond: of races created at one instant none is the newer."""
    began = (await player.ask("ping"))["now"]
    while (await player.ask("ping"))["now"] == began:
        pass


def statuses(race: Map) -> list[str]:
    return [entrant["status"] for entrant in race["entrants"]]


def names(race: Map) -> list[str]:
    return [entrant["player"]["name"] for entrant in race["entrants"]]


class TestCreate:
    """`race.create {settings?}`."""

    @pytest.mark.parametrize("subprotocol", [MSGPACK, JSON])
    async def test_without_settings_it_has_the_defaults(self, seats: Table, subprotocol: str) -> None:
        ann = await seats.player("Ann", subprotocol)
        race = await ann.ask("race.create")
        assert race["type"] == "race"
        assert race["settings"] == DEFAULTS
        assert (race["state"], race["kind"], race["version"], race["host"]) == ("open", "race", 1, ann.id)
        assert re.fullmatch("[2-9A-HJKMNP-Z]{8}", race["code"])
        assert 0 <= race["now"] - race["created_at"] < 60_000
        assert race["entrants"] == [
            {
                "player": {"id": ann.id, "name": "Ann", "bot": False},
                "status": "joined",
                "online": True,
                "seq": 0,
                "home": 0,
                "moves": 0,
                "undos": 0,
            }
        ]
        assert not {"commitment", "start_at", "standings", "parent", "successor"} & race.keys()

    @pytest.mark.parametrize(
        "settings",
        [
            {"variant": variant}
            for variant in [
                "freecell",
                "marseille",
                "six-by-six",
                "six-by-six-down",
                "two-suit",
                "one-suit",
                "bakers-game",
                "relaxed",
                "eight-off",
                "seahaven",
                "forecell",
            ]
        ]
        + [
            {"seats": 1},
            {"seats": 250},
            {"private": True},
            {"time_limit": 10},
            {"time_limit": 86400},
            {"countdown": 0},
            {"countdown": 60},
            {"grace": 15},
            {"grace": 3600},
            {"undo": False},
            {"autoplay": "none"},
            {"placement": "fixed"},
            {"ends": "first_win"},
            {"ranked": False},
            {"spectate": "live"},
            {"spectate": "after"},
            {"bots": False},
            {"ghosts": []},
        ],
        ids=str,
    )
    async def test_each_setting_is_taken_as_asked(self, seats: Table, settings: Map) -> None:
        race = await (await seats.player()).ask("race.create", settings=settings)
        assert race["settings"] == DEFAULTS | settings

    @pytest.mark.parametrize("deal", [1, 617, 2**31, 2**33 - 1])
    async def test_a_known_deal_is_never_ranked(self, seats: Table, deal: int) -> None:
        race = await (await seats.player()).ask("race.create", settings={"deal": deal})
        assert race["settings"] == DEFAULTS | {"deal": deal, "ranked": False}

    @pytest.mark.parametrize(
        ("settings", "field"),
        [
            ({"seats": 0}, "seats"),
            ({"seats": 251}, "seats"),
            ({"seats": "2"}, "seats"),
            ({"seats": 2.0}, "seats"),
            ({"time_limit": 9}, "time_limit"),
            ({"time_limit": 86401}, "time_limit"),
            ({"countdown": -1}, "countdown"),
            ({"countdown": 61}, "countdown"),
            ({"grace": 14}, "grace"),
            ({"grace": 3601}, "grace"),
            ({"deal": 0}, "deal"),
            ({"deal": 2**33}, "deal"),
            ({"deal": -5}, "deal"),
            ({"deal": 617, "ranked": True}, "ranked"),
            ({"undo": 1}, "undo"),
            ({"private": "yes"}, "private"),
            ({"bots": 0}, "bots"),
            ({"ranked": "no"}, "ranked"),
            ({"autoplay": "all"}, "autoplay"),
            ({"placement": "somewhere"}, "placement"),
            ({"ends": "never"}, "ends"),
            ({"spectate": "never"}, "spectate"),
            ({"variant": 5}, "variant"),
            ({"ghosts": [{"race": "r"}]}, "ghosts"),
            ({"ghosts": [{"race": "r", "player": "p"}] * 9}, "ghosts"),
            ({"speed": 5}, "speed"),
        ],
        ids=str,
    )
    async def test_a_wrong_setting_is_named(self, seats: Table, settings: Map, field: str) -> None:
        error = await (await seats.player()).refused("race.create", settings=settings)
        assert (error["code"], error.get("field")) == ("bad_settings", field)

    async def test_an_unknown_game_is_not_found(self, seats: Table) -> None:
        error = await (await seats.player()).refused("race.create", settings={"variant": "spider"})
        assert (error["code"], error["field"]) == ("not_found", "variant")

    async def test_settings_that_are_no_map_are_a_bad_field(self, seats: Table) -> None:
        error = await (await seats.player()).refused("race.create", settings=[1])
        assert (error["code"], error["field"]) == ("bad_message", "settings")

    async def test_a_bot_may_not_host_a_race_for_people(self, seats: Table) -> None:
        bot = await seats.player("Rook", bot=True)
        assert (await bot.refused("race.create", settings={"bots": False}))["code"] == "bots_not_allowed"


class TestJoin:
    """`race.join {race}` or `{code}`."""

    async def test_by_its_id_and_everybody_hears_of_it(self, ann: Player, bob: Player) -> None:
        race = await open_race(ann)
        joined = await bob.ask("race.join", race=race)
        assert (joined["version"], joined["host"], names(joined)) == (2, ann.id, ["Ann", "Bob"])
        for player in (ann, bob):
            push = await player.push("race.joined", race=race, version=2)
            assert push["player"] == {"id": bob.id, "name": "Bob", "bot": False}

    @pytest.mark.parametrize("change", [str.upper, str.lower, str.swapcase])
    async def test_by_code_in_any_case(self, ann: Player, bob: Player, change: Any) -> None:
        race = await ann.ask("race.create", settings={"private": True})
        joined = await bob.ask("race.join", code=change(race["code"]))
        assert (joined["race"], joined["code"]) == (race["race"], race["code"])

    async def test_again_is_answered_with_the_race_in_every_state(self, ann: Player, bob: Player) -> None:
        opened = await open_race(ann, bob)
        running = await start_race(ann, bob, deal=1)
        over = await over_race(ann, bob)
        for race, state in ((opened, "open"), (running, "running"), (over, "over")):
            answer = await bob.ask("race.join", race=race)
            assert (answer["type"], answer["state"]) == ("race", state)

    async def test_again_by_code_too_when_it_is_over(self, seats: Table, ann: Player, bob: Player) -> None:
        race = await over_race(ann, bob)
        code = (await ann.ask("race.sync", race=race))["code"]
        assert (await bob.ask("race.join", code=code))["race"] == race
        assert (await (await seats.player()).refused("race.join", code=code))["code"] == "already_started"

    async def test_a_private_race_only_by_its_code(self, ann: Player, bob: Player) -> None:
        race = await ann.ask("race.create", settings={"private": True})
        assert (await bob.refused("race.join", race=race["race"]))["code"] == "no_such_race"
        await bob.ask("race.join", code=race["code"])
        assert (await bob.ask("race.join", race=race["race"]))["type"] == "race"

    async def test_a_full_race_takes_nobody_more_until_somebody_leaves(
        self, ann: Player, bob: Player, cem: Player
    ) -> None:
        race = await open_race(ann, bob)
        assert (await cem.refused("race.join", race=race))["code"] == "race_full"
        await bob.ask("race.leave", race=race)
        assert names(await cem.ask("race.join", race=race)) == ["Ann", "Cem"]

    async def test_the_last_seat_is_taken_once(self, seats: Table, ann: Player) -> None:
        others = [await seats.player() for _ in range(5)]
        race = await open_race(ann)
        ids = [await other.send("race.join", race=race) for other in others]
        answers = [await other.answer(request) for other, request in zip(others, ids, strict=True)]
        assert (
            sorted(answer.get("code", "race") for answer in answers if answer["type"] == "error") == ["race_full"] * 4
        )

    async def test_from_the_countdown_on_it_is_too_late(
        self, seats: Table, ann: Player, bob: Player, cem: Player
    ) -> None:
        counting = await open_race(ann, bob, seats=3, countdown=60)
        for player in (ann, bob):
            await player.ask("race.ready", race=counting)
        await ann.push("race.countdown", race=counting)
        running = await start_race(ann, bob, seats=3, deal=1)
        over = await over_race(ann, bob, seats=3)
        for race in (counting, running, over):
            assert (await cem.refused("race.join", race=race))["code"] == "already_started"

    async def test_a_cancelled_race_is_not_running(self, ann: Player, bob: Player, cem: Player) -> None:
        race = await cancelled_race(ann, bob)
        assert (await cem.refused("race.join", race=race))["code"] == "not_running"

    async def test_bots_stay_out_where_they_are_not_wanted(self, seats: Table) -> None:
        ann, bot = await seats.player("Ann"), await seats.player("Rook", bot=True)
        race = await open_race(ann, bots=False)
        assert (await bot.refused("race.join", race=race))["code"] == "bots_not_allowed"
        race = await open_race(ann)
        assert (await bot.ask("race.join", race=race))["entrants"][1]["player"]["bot"] is True

    async def test_what_names_no_race_is_no_such_race(self, ann: Player) -> None:
        for fields in ({"race": "nothing"}, {"race": ""}, {"code": "22222222"}, {"code": ""}, {"code": "ß"}):
            assert (await ann.refused("race.join", **fields))["code"] == "no_such_race"

    async def test_who_is_refused_hears_nothing_of_the_race(
        self, seats: Table, ann: Player, bob: Player, cem: Player
    ) -> None:
        race = await open_race(ann, bob)
        await cem.refused("race.join", race=race)
        await ann.ask("race.ready", race=race)
        await cem.settle()
        assert not cem.pushes
        assert (await seats.back(cem)).welcome["races"] == []


class TestLeave:
    """`race.leave {race}`, possible in every state."""

    async def test_an_open_race_goes_on_without_who_left(self, ann: Player, bob: Player) -> None:
        race = await open_race(ann, bob)
        assert (await bob.ask("race.leave", race=race)).keys() == {"type", "re"}
        left = await ann.push("race.left", race=race)
        assert (left["player"], left["reason"]) == (bob.id, "left")
        await ann.ask("race.ready", race=race)
        await bob.settle()
        assert not [push for push in bob.pushes if push["type"] != "race.joined"]

    async def test_the_host_role_passes_to_the_one_who_joined_first_after(
        self, ann: Player, bob: Player, cem: Player
    ) -> None:
        race = await open_race(ann, bob, cem)
        await ann.ask("race.leave", race=race)
        assert (await cem.ask("race.sync", race=race))["host"] == bob.id
        await bob.ask("race.kick", race=race, player=cem.id)

    async def test_who_leaves_last_cancels_the_race(self, ann: Player, bob: Player) -> None:
        race = await open_race(ann)
        await ann.ask("race.leave", race=race)
        assert (await bob.refused("race.join", race=race))["code"] == "not_running"
        await ann.ask("race.leave", race=race)  # Asking again for what already holds succeeds (NODES, 1).
        assert (await bob.refused("race.leave", race=race))["code"] == "not_entrant"

    async def test_in_the_countdown_it_is_a_forfeit(self, ann: Player, bob: Player, cem: Player) -> None:
        race = await open_race(ann, bob, cem, countdown=60)
        for player in (ann, bob, cem):
            await player.ask("race.ready", race=race)
        await ann.push("race.countdown", race=race)
        await bob.ask("race.leave", race=race)
        done = await ann.push("race.done", race=race)
        assert (done["player"], done["status"], done["home"]) == (bob.id, "forfeited", 0)
        answer = await ann.ask("race.sync", race=race)
        assert (answer["state"], statuses(answer)) == ("countdown", ["playing", "forfeited", "playing"])

    async def test_if_all_forfeit_before_the_start_the_race_is_cancelled(self, ann: Player, bob: Player) -> None:
        race = await cancelled_race(ann, bob)
        answer = await ann.ask("race.sync", race=race)
        assert answer["state"] == "cancelled"
        assert "standings" not in answer

    async def test_in_a_running_race_it_is_a_forfeit_and_the_others_go_on(
        self, seats: Table, ann: Player, bob: Player
    ) -> None:
        race = await start_race(ann, bob, deal=617)
        await bob.ask("race.leave", race=race)
        done = await ann.push("race.done", race=race)
        assert (done["player"], done["status"]) == (bob.id, "forfeited")
        await play(ann, race, ["1a"])
        await bob.settle()
        assert not [push for push in bob.pushes if push["type"] == "race.progress"]
        assert (await seats.back(bob)).welcome["races"] == []

    async def test_who_has_left_is_not_there_any_more(self, ann: Player, bob: Player) -> None:
        race = await start_race(ann, bob, deal=617)
        await bob.ask("race.leave", race=race)
        await ann.push("race.online", race=race, player=bob.id, online=False)
        assert [e["online"] for e in (await ann.ask("race.sync", race=race))["entrants"]] == [True, False]

    async def test_when_done_and_when_over_it_changes_nothing(self, ann: Player, bob: Player) -> None:
        race = await start_race(ann, bob, deal=617)
        await bob.ask("race.concede", race=race)
        await bob.ask("race.leave", race=race)
        await ann.ask("race.concede", race=race)
        over = await ann.push("race.over", race=race)
        assert [standing["status"] for standing in over["standings"]] == ["conceded", "conceded"]
        await ann.ask("race.leave", race=race)
        assert (await ann.ask("race.sync", race=race))["version"] == over["version"]

    async def test_a_cancelled_race_may_be_left_too(self, ann: Player, bob: Player) -> None:
        race = await cancelled_race(ann, bob)
        await ann.ask("race.leave", race=race)

    async def test_not_entrant(self, ann: Player, bob: Player) -> None:
        race = await open_race(ann)
        assert (await bob.refused("race.leave", race=race))["code"] == "not_entrant"


class TestReady:
    """`race.ready {race, ready = true}`."""

    async def test_everybody_hears_who_is_ready_and_who_is_not_any_more(self, ann: Player, bob: Player) -> None:
        race = await open_race(ann, bob)
        for ready in (True, False):
            assert (await ann.ask("race.ready", race=race, ready=ready))["type"] == "ok"
            for player in (ann, bob):
                assert (await player.push("race.ready", race=race))["ready"] is ready
        assert statuses(await ann.ask("race.sync", race=race)) == ["joined", "joined"]

    async def test_again_is_no_new_fact(self, ann: Player) -> None:
        race = await open_race(ann)
        for _ in range(3):
            await ann.ask("race.ready", race=race)
        assert (await ann.ask("race.sync", race=race))["version"] == 2

    async def test_when_all_are_ready_the_countdown_begins_by_itself(self, ann: Player, bob: Player) -> None:
        race = await open_race(ann, bob, countdown=60)
        await ann.ask("race.ready", race=race)
        await ann.settle()
        assert (await ann.ask("race.sync", race=race))["state"] == "open"
        await bob.ask("race.ready", race=race)
        for player in (ann, bob):
            countdown = await player.push("race.countdown", race=race)
            assert 0 < countdown["start_at"] - countdown["now"] <= 60_000
        answer = await ann.ask("race.sync", race=race)
        assert (answer["state"], statuses(answer)) == ("countdown", ["playing", "playing"])
        assert answer["commitment"] == countdown["commitment"]

    async def test_one_is_enough_where_there_is_one_seat(self, seats: Table, ann: Player) -> None:
        race = await open_race(ann, seats=1)
        await ann.ask("race.ready", race=race)
        await ann.push("race.started", race=race)

    async def test_one_alone_is_not_enough_where_there_are_more(self, ann: Player) -> None:
        race = await open_race(ann)
        await ann.ask("race.ready", race=race)
        assert (await ann.refused("race.start", race=race))["code"] == "too_few"
        assert (await ann.ask("race.sync", race=race))["state"] == "open"

    async def test_one_who_is_offline_keeps_the_countdown_from_beginning(
        self, seats: Table, ann: Player, bob: Player
    ) -> None:
        race = await open_race(ann, bob)
        await bob.ask("race.ready", race=race)
        await bob.drop()
        await ann.push("race.online", race=race, player=bob.id, online=False)
        await ann.ask("race.ready", race=race)
        assert (await ann.ask("race.sync", race=race))["state"] == "open"
        await seats.back(bob)
        await ann.push("race.countdown", race=race)

    async def test_already_started_and_not_entrant_and_not_running(self, ann: Player, bob: Player, cem: Player) -> None:
        running = await start_race(ann, bob, deal=1)
        over = await over_race(ann, bob)
        for race in (running, over):
            assert (await ann.refused("race.ready", race=race))["code"] == "already_started"
        assert (await cem.refused("race.ready", race=running))["code"] == "not_entrant"
        assert (await ann.refused("race.ready", race=await cancelled_race(ann, bob)))["code"] == "not_running"


class TestHost:
    """`race.start {race}` and `race.kick {race, player}`."""

    async def test_start_removes_those_who_are_not_ready(self, ann: Player, bob: Player, cem: Player) -> None:
        race = await open_race(ann, bob, cem)
        for player in (ann, bob):
            await player.ask("race.ready", race=race)
        assert (await ann.ask("race.start", race=race))["type"] == "ok"
        for player in (ann, cem):
            left = await player.push("race.left", race=race)
            assert (left["player"], left["reason"]) == (cem.id, "not_ready")
        await ann.push("race.started", race=race)
        await cem.settle()
        assert not [push for push in cem.pushes if push["type"] in ("race.countdown", "race.started")]
        assert (await cem.refused("race.sync", race=race))["code"] == "not_allowed"

    async def test_a_host_who_is_not_ready_is_removed_as_well(self, ann: Player, bob: Player, cem: Player) -> None:
        race = await open_race(ann, bob, cem)
        for player in (bob, cem):
            await player.ask("race.ready", race=race)
        await ann.ask("race.start", race=race)
        assert (await bob.push("race.left", race=race))["player"] == ann.id
        await bob.push("race.started", race=race)
        assert (await bob.ask("race.sync", race=race))["host"] == bob.id

    async def test_one_who_is_ready_is_too_few_to_start_with(self, ann: Player, bob: Player) -> None:
        race = await open_race(ann, bob)
        await bob.ask("race.ready", race=race)
        assert (await ann.refused("race.start", race=race))["code"] == "too_few"
        assert names(await ann.ask("race.sync", race=race)) == ["Ann", "Bob"]

    async def test_who_is_kicked_hears_it_and_may_come_back(self, ann: Player, bob: Player) -> None:
        race = await open_race(ann, bob)
        await ann.ask("race.kick", race=race, player=bob.id)
        for player in (ann, bob):
            left = await player.push("race.left", race=race)
            assert (left["player"], left["reason"]) == (bob.id, "kicked")
        assert (await bob.refused("race.sync", race=race))["code"] == "not_allowed"
        assert (await bob.ask("race.join", race=race))["version"] == left["version"] + 1

    async def test_nobody_is_kicked_who_is_not_there(self, ann: Player, bob: Player) -> None:
        race = await open_race(ann)
        assert (await ann.refused("race.kick", race=race, player="nobody"))["code"] == "not_found"
        assert (await ann.refused("race.kick", race=race, player=bob.id))["code"] == "not_found"

    @pytest.mark.parametrize("kind", ["race.start", "race.kick"])
    async def test_only_the_host_starts_and_kicks(self, ann: Player, bob: Player, cem: Player, kind: str) -> None:
        race = await open_race(ann, bob)
        for player in (bob, cem):
            assert (await player.refused(kind, race=race, player=ann.id))["code"] == "not_host"

    @pytest.mark.parametrize("kind", ["race.start", "race.kick"])
    async def test_already_started_and_not_running(self, ann: Player, bob: Player, kind: str) -> None:
        for race in (await start_race(ann, bob, deal=1), await over_race(ann, bob)):
            assert (await ann.refused(kind, race=race, player=bob.id))["code"] == "already_started"
        race = await cancelled_race(ann, bob)
        assert (await ann.refused(kind, race=race, player=bob.id))["code"] == "not_running"


class TestStopping:
    """`race.concede {race}` and `race.forfeit {race}`."""

    @pytest.mark.parametrize(("kind", "status"), [("race.concede", "conceded"), ("race.forfeit", "forfeited")])
    async def test_ends_ones_game_with_what_is_home(self, ann: Player, bob: Player, kind: str, status: str) -> None:
        race = await start_race(ann, bob, variant="one-suit", deal=94)
        home = (await play(ann, race, ["2a"]))["home"]
        assert home == 1
        assert (await ann.ask(kind, race=race))["type"] == "ok"
        for player in (ann, bob):
            done = await player.push("race.done", race=race)
            assert (done["player"], done["status"], done["home"], done["place"]) == (ann.id, status, home, 1)
            assert "time" not in done
        assert (await ann.refused(kind, race=race))["code"] == "already_done"
        assert (await ann.refused("move", race=race, seq=1, moves=["2b"]))["code"] == "already_done"
        await bob.ask("race.sync", race=race)

    @pytest.mark.parametrize("kind", ["race.concede", "race.forfeit"])
    async def test_only_entrants_stop_and_only_while_they_play(
        self, ann: Player, bob: Player, cem: Player, kind: str
    ) -> None:
        opened = await open_race(ann, bob)
        counting = await open_race(ann, bob, countdown=60)
        for player in (ann, bob):
            await player.ask("race.ready", race=counting)
        await ann.push("race.countdown", race=counting)
        over = await over_race(ann, bob)
        cancelled = await cancelled_race(ann, bob)
        for race, code in (
            (opened, "not_started"),
            (counting, "not_started"),
            (over, "already_done"),
            (cancelled, "not_running"),
            ("nothing", "no_such_race"),
        ):
            assert (await ann.refused(kind, race=race))["code"] == code
        assert (await cem.refused(kind, race=over))["code"] == "not_entrant"


class TestUnwatch:
    """`race.unwatch {race}`."""

    async def test_whoever_does_not_watch_is_ok_too(self, ann: Player, bob: Player) -> None:
        race = await open_race(ann)
        for player in (ann, bob, bob):
            assert (await player.ask("race.unwatch", race=race))["type"] == "ok"
        await bob.ask("race.watch", race=race)
        await bob.ask("race.unwatch", race=race)
        await ann.ask("race.ready", race=race)
        await bob.settle()
        assert not [push for push in bob.pushes if push["type"] == "race.ready"]

    async def test_what_is_no_race_or_another_s_private_one_is_no_such_race(self, ann: Player, bob: Player) -> None:
        private = (await ann.ask("race.create", settings={"private": True}))["race"]
        for race in ("nothing", private):
            assert (await bob.refused("race.unwatch", race=race))["code"] == "no_such_race"
        await bob.ask("race.watch", code=ann.frames[-1]["code"])
        for player in (ann, bob):
            assert (await player.ask("race.unwatch", race=private))["type"] == "ok"


class TestSync:
    """`race.sync {race, since?}`."""

    async def test_since_gives_the_facts_after_a_version(self, ann: Player, bob: Player) -> None:
        race = await over_race(ann, bob)
        facts = [frame for frame in ann.frames if "version" in frame and "re" not in frame and "race" in frame]
        last = facts[-1]["version"]
        for since in range(last + 1):
            missed = await ann.ask("race.sync", race=race, since=since)
            assert (missed["type"], missed["version"]) == ("race.missed", last)
            assert [event["version"] for event in missed["events"]] == list(range(since + 1, last + 1))
        events = (await ann.ask("race.sync", race=race, since=1))["events"]
        told = [{k: v for k, v in fact.items() if k != "now"} for fact in facts if fact["version"] > 1]
        assert [{k: v for k, v in event.items() if k not in ("now", "place")} for event in events] == [
            {k: v for k, v in fact.items() if k != "place"} for fact in told
        ]

    async def test_a_version_that_is_not_yet_gives_the_whole_race(self, ann: Player) -> None:
        race = await open_race(ann)
        assert (await ann.ask("race.sync", race=race, since=99))["type"] == "race"

    async def test_a_stranger_may_not_ask_how_a_race_stands(self, ann: Player, bob: Player) -> None:
        race = await open_race(ann)
        assert (await bob.refused("race.sync", race=race))["code"] == "not_allowed"
        assert (await bob.refused("race.sync", race=race, since=0))["code"] == "not_allowed"
        assert (await bob.refused("race.sync", race="nothing"))["code"] == "no_such_race"

    async def test_a_race_that_is_over_has_everything(self, ann: Player, bob: Player) -> None:
        race = await start_race(ann, bob, variant="one-suit", deal=94)
        await play(ann, race, ["2a", "2b", "31v2"], at_once=2)
        await bob.ask("move", race=race, seq=0, moves=["2a", "u", "2a"])
        await bob.ask("race.concede", race=race)
        over = await ann.push("race.over", race=race)
        whole = await bob.ask("race.sync", race=race)
        assert whole["standings"] == over["standings"]
        assert (whole["state"], whole["deal"]) == ("over", 94)
        assert whole["you"]["moves"] == ["2a", "u", "2a"]
        assert whole["you"]["seq"] == 3
        assert whole["logs"] == [{"player": ann.id, "seq": 3, "moves": ["2a", "2b", "31v2"]}]
        first, second = over["standings"]
        assert (first["status"], first["place"], first["home"], first["moves"], first["undos"]) == ("won", 1, 13, 3, 0)
        assert first["time"] == max(0, first["raw"] - first["latency"])
        assert (second["status"], second["place"], second["moves"], second["undos"]) == ("conceded", 2, 2, 1)
        assert not {"time", "raw", "latency"} & second.keys()


class TestList:
    """`race.list {variant?, state?, mine = false, limit = 50}`."""

    async def test_public_races_newest_first(self, seats: Table, ann: Player, bob: Player) -> None:
        races = []
        for seats_each in (2, 3, 4):
            races.append(await open_race(ann, seats=seats_each))
            await another_moment(ann)
        listed = (await bob.ask("race.list"))["races"]
        assert [summary["race"] for summary in listed] == races[::-1]
        assert listed[0] == {
            "race": races[2],
            "state": "open",
            "kind": "race",
            "variant": "freecell",
            "seats": 4,
            "host": ann.id,
            "created_at": listed[0]["created_at"],
            "entrants": (await ann.ask("race.sync", race=races[2]))["entrants"],
        }

    async def test_private_races_are_listed_to_nobody_but_ones_own(self, ann: Player, bob: Player) -> None:
        race = await open_race(ann, private=True)
        assert (await bob.ask("race.list"))["races"] == []
        assert (await ann.ask("race.list"))["races"] == []
        assert [s["race"] for s in (await ann.ask("race.list", mine=True))["races"]] == [race]
        assert (await bob.ask("race.list", mine=True))["races"] == []

    async def test_a_list_has_the_races_that_fit_all_that_is_asked_for(self, seats: Table, ann: Player) -> None:
        opened = await open_race(ann, variant="two-suit")
        running = await start_race(ann, variant="one-suit", deal=94)
        over = await over_race(ann, seats=1)

        async def listed(**filters: Any) -> set[str]:
            return {summary["race"] for summary in (await ann.ask("race.list", **filters))["races"]}

        for mine in (False, True):
            assert await listed(mine=mine) == {opened, running, over}
            assert await listed(mine=mine, variant="two-suit") == {opened}
            assert await listed(mine=mine, variant="freecell", state="over") == {over}
            assert await listed(mine=mine, variant="seahaven") == set()
            assert await listed(mine=mine, state="open") == {opened}
            assert await listed(mine=mine, state="running") == {running}
            assert await listed(mine=mine, state="countdown") == set()
            assert await listed(mine=mine, state="over") == {over}
        assert (await ann.refused("race.list", variant="spider"))["code"] == "not_found"

    async def test_the_limit_keeps_the_newest_of_all_states(self, seats: Table, ann: Player) -> None:
        old = await open_race(ann)
        await another_moment(ann)
        over = await over_race(ann, seats=1)
        await another_moment(ann)
        new = await open_race(ann)
        for mine in (False, True):
            for limit, expected in (
                (0, []),
                (1, [new]),
                (2, [new, over]),
                (3, [new, over, old]),
                (100, [new, over, old]),
            ):
                listed = (await ann.ask("race.list", mine=mine, limit=limit))["races"]
                assert [summary["race"] for summary in listed] == expected, (mine, limit)

    async def test_no_secret_is_listed(self, ann: Player, bob: Player) -> None:
        await start_race(ann, deal=617)
        (summary,) = (await bob.ask("race.list"))["races"]
        assert not {"code", "deal", "salt", "layout", "settings", "commitment"} & summary.keys()


class TestStart:
    """From the countdown to the first moves."""

    @pytest.mark.parametrize("variant", ["marseille", "eight-off", "two-suit"])
    async def test_a_drawn_deal_keeps_its_commitment(self, seats: Table, variant: str) -> None:
        ann, bob = await seats.player("Ann"), await seats.player("Bob", JSON)
        race = await open_race(ann, bob, variant=variant)
        for player in (ann, bob):
            await player.ask("race.ready", race=race)
        told = []
        for player in (ann, bob):
            countdown = await player.push("race.countdown", race=race)
            started = await player.push("race.started", race=race)
            check_start(countdown, started, variant)
            told.append(started)
        assert told[0] == told[1]
        assert ("reserve" in started) == (variant == "marseille")
        assert ("cells" in started) == (variant == "eight-off")
        whole = await ann.ask("race.sync", race=race)
        for field in ("deal", "salt", "layout", "cells", "reserve", "start_at"):
            assert whole.get(field) == started.get(field)
        assert whole["you"]["moves"] == []

    async def test_it_starts_no_earlier_than_it_says(self, seats: Table, ann: Player) -> None:
        race = await open_race(ann, seats=1, countdown=3, deal=617)
        await ann.ask("race.ready", race=race)
        await ann.push("race.countdown", race=race)
        refusals = 0
        while not [push for push in ann.pushes if push["type"] == "race.started"]:
            answer = await ann.answer(await ann.send("move", race=race, seq=0, moves=["9z"]))
            refusals += answer["code"] == "not_started"
        started = await ann.push("race.started", race=race)
        now = (await ann.ask("ping"))["now"]
        assert started["start_at"] <= now <= started["start_at"] + 60_000
        assert refusals > 3

    async def test_the_same_player_never_gets_a_drawn_deal_twice(self, seats: Table, ann: Player) -> None:
        drawn = []
        for _ in range(8):
            race = await open_race(ann, seats=1, variant="one-suit")
            await ann.ask("race.ready", race=race)
            drawn.append((await ann.push("race.started", race=race))["deal"])
        assert len(set(drawn)) == 8
