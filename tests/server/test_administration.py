"""What operators do: void, ban, rename, delete; each act complete, on record, and heard by the nodes that run."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial

import pytest

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import EntrantStatus, Ghost, Player, QueueJoin, RaceState, Settings, SettingsRequest
from cellrace_server.administration import Administration
from cellrace_server.core.daily import day_of, opens_at
from cellrace_server.core.effects import best_board, daily_board, deal_board, rating_board, streak_board
from cellrace_server.core.facts import Done, Tally
from cellrace_server.core.race import Race
from cellrace_server.core.ratings import Skill, applied_to
from cellrace_server.core.standins import NAMELESS, is_stand_in
from cellrace_server.ghosts import summon
from cellrace_server.inspecting import inspect_player, inspect_race
from cellrace_server.ledgers import make_nameless
from cellrace_server.matching import Matching
from cellrace_server.recomputing import Recomputation
from cellrace_server.results import record_end
from cellrace_server.store import keys
from cellrace_server.store.acts import Verdicts
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.hearing import BannedTold, parse_tellings
from tests.server.ended_races import end, ended_attempt, ended_race, register
from tests.server.races import ANN, BEN, CAT
from tests.server.shell import DEAL, SHORT, FakeMember, Shell

GAME = SHORT.variant
pytestmark = pytest.mark.usefixtures("noon")


@pytest.fixture
async def office(here: Shell) -> Administration:
    """An operator's desk at the store of `here`, with three players on record."""
    await register(here, ANN, BEN, CAT)
    return Administration(here.store, "olga")


async def board(shell: Shell, name: str) -> dict[str, int]:
    return {player: row.value for player, row in (await shell.store.census.rows(name)).items()}


async def rows_of(shell: Shell, player: str) -> list[str]:
    """The boards on which a player stands."""
    census = shell.store.census
    return [name for name in await census.boards() if player in await census.rows(name)]


async def is_whole(shell: Shell) -> bool:
    return await Recomputation(shell.store, fix=False).run() == []


async def state(shell: Shell, race_id: str) -> RaceState:
    record = await shell.store.races.load(race_id)
    assert record is not None
    return record.race.state(shell.now())


class TestVoid:
    async def test_a_race_that_is_over_counts_for_nothing_any_more(self, here: Shell, office: Administration) -> None:
        race = await ended_race(here, ANN, BEN)
        await office.void(race.id)
        assert await rows_of(here, "ann") == await rows_of(here, "ben") == []
        assert await here.store.profiles.records("ann") == {}
        assert await here.store.ratings.skills(GAME, ["ann"]) == {"ann": Skill()}
        assert (await here.store.races.load(race.id) or race).facts[-1].version == race.version  # type: ignore[union-attr]
        assert await is_whole(here)

    async def test_the_next_best_takes_its_place(self, here: Shell, office: Administration) -> None:
        await ended_race(here, ANN, BEN, time=40_000)
        best = await ended_race(here, ANN, CAT, time=20_000)
        await office.void(best.id)
        assert await board(here, best_board(GAME)) == {"ann": 40_000}
        assert await board(here, deal_board(GAME, DEAL)) == {"ann": 40_000}
        assert (await here.store.profiles.records("ann"))[GAME].best_time == 40_000
        assert await is_whole(here)

    async def test_also_one_that_is_kept_no_more(self, here: Shell, office: Administration) -> None:
        old = await ended_race(here, ANN, BEN, time=40_000)
        best = await ended_race(here, ANN, CAT, time=20_000)
        await here.link.command("DEL", keys.race(old.id), keys.packed(old.id))
        await office.void(best.id)
        assert await board(here, best_board(GAME)) == {"ann": 40_000}

    async def test_later_races_are_rated_anew(self, here: Shell, office: Administration) -> None:
        first = await ended_race(here, ANN, BEN)
        await ended_race(here, BEN, CAT)
        await office.void(first.id)
        assert await board(here, rating_board(GAME)) == {"ben": -1138, "cat": -927}
        assert await is_whole(here)

    async def test_what_comes_of_it_later_counts_for_nothing_either(self, here: Shell, office: Administration) -> None:
        """A node that repeats the effects of the end."""
        race = await ended_race(here, ANN, BEN)
        await office.void(race.id)
        await record_end(here.store, race)
        assert await rows_of(here, "ann") == []

    async def test_a_node_that_is_half_way_through_the_end_takes_it_back_itself(
        self, here: Shell, there: Shell, office: Administration
    ) -> None:
        """It has asked what counts just before the act, and writes after it."""
        today = day_of(here.now())
        await ended_race(here, ANN, BEN, time=40_000)
        race = await ended_race(here, ANN, BEN, time=20_000)
        daily = await ended_attempt(here, ANN, opens_at(today) + 5)
        for one in (race, daily):
            await acting_meanwhile(there, one, partial(office.void, one.id))
        assert await board(here, best_board(GAME)) == {"ann": 40_000}
        assert await board(here, daily_board(today, GAME)) == await board(here, streak_board(GAME)) == {}
        assert (await here.store.profiles.records("ann"))[GAME].played == 1
        assert await is_whole(here)

    async def test_a_node_that_rates_it_just_then_has_it_taken_out(
        self, here: Shell, there: Shell, office: Administration
    ) -> None:
        race = await there.race(ANN, BEN, start_in=-5_000)
        await office.void(race.id)
        skills = await there.store.ratings.skills(GAME, ["ann", "ben"])
        await there.store.ratings.apply(GAME, race.id, applied_to({"ann": 1, "ben": 2}, (), skills, 5))
        record = await there.store.races.load(race.id)
        assert record is not None
        await record_end(there.store, record.race)
        assert await board(here, rating_board(GAME)) == {}

    async def test_a_race_that_runs_is_cancelled(self, here: Shell, there: Shell, office: Administration) -> None:
        race = await there.race(ANN, BEN, start_in=-5_000)
        async with there.attended(race, FakeMember(ANN), FakeMember(BEN)) as referee:
            told = await office.void(race.id)
            assert "cancelled" in told
            await referee.wake()
            referee.room.doubt()
            await referee.make_sure()
            assert referee.room.race.state(there.now()) is RaceState.CANCELLED
        assert there.recorder.told[-1][0] == "Cancelled"
        assert await here.store.due.size() == 0
        assert await state(here, race.id) is RaceState.CANCELLED
        assert await is_whole(here)

    async def test_ratings_that_were_applied_for_an_end_that_never_came_are_taken_back(
        self, here: Shell, office: Administration
    ) -> None:
        race = await here.race(ANN, BEN, start_in=-5_000)
        for who in (ANN, BEN):
            race = await here.append(race, Done(who.id, EntrantStatus.CONCEDED, Tally()))
        here.link.lose_request("race_append")
        with pytest.raises(Exception, match="lost"):
            await end(here, race)
        assert await board(here, rating_board(GAME)) != {}
        await office.void(race.id)
        assert await board(here, rating_board(GAME)) == {}

    async def test_a_daily_attempt_leaves_board_and_streak_and_stays_the_only_one(
        self, here: Shell, office: Administration
    ) -> None:
        today = day_of(here.now())
        for days in (0, 1):
            race = await ended_attempt(here, ANN, opens_at(today - timedelta(days=days)) + 5)
        assert await board(here, streak_board(GAME)) == {"ann": -2}
        await office.void(race.id)
        yesterday = today - timedelta(days=1)
        assert await board(here, daily_board(yesterday, GAME)) == {}
        assert await board(here, streak_board(GAME)) == {"ann": -1}
        assert await here.store.daily.attempt(yesterday, GAME, "ann") is not None
        assert await is_whole(here)

    async def test_twice_is_as_good_as_once(self, here: Shell, office: Administration) -> None:
        race = await ended_race(here, ANN, BEN)
        await ended_race(here, ANN, CAT)
        await office.void(race.id)
        await office.void(race.id)
        assert await is_whole(here)

    async def test_what_is_no_race_is_refused(self, office: Administration) -> None:
        with pytest.raises(Refused) as refused:
            await office.void("nowhere")
        assert refused.value.code == ErrorCode.NO_SUCH_RACE


class TestBan:
    async def test_who_is_banned_is_let_in_no_more_until_unbanned(self, here: Shell, office: Administration) -> None:
        await office.ban("ann")
        with pytest.raises(Refused) as refused:
            await here.store.players.recognise("ann.secret")
        assert refused.value.code == ErrorCode.BANNED
        await office.unban("Ann")
        assert (await here.store.players.recognise("ann.secret")).player == ANN

    async def test_the_node_that_the_player_is_connected_to_is_told(self, here: Shell, office: Administration) -> None:
        await here.store.players.take_over("ann")
        async with here.link.redis.pubsub() as pubsub:
            await pubsub.subscribe(keys.channel("here:1"))
            await office.ban("ann")
            while (message := await pubsub.get_message(ignore_subscribe_messages=True, timeout=5)) is None:
                pass
        assert parse_tellings(message["data"]) == [BannedTold("ann")]

    @pytest.mark.parametrize("named", ["ann", "Ann", "ANN", "aNn"])
    async def test_players_are_named_by_id_or_by_name_in_any_case(
        self, here: Shell, office: Administration, named: str
    ) -> None:
        await office.ban(named)
        assert await here.store.accounts.banned_at("ann") is not None

    @pytest.mark.parametrize("named", ["nobody", "", "x", "race:{r}", "a" * 99])
    async def test_who_is_nobody_is_not_found(self, office: Administration, named: str) -> None:
        for act in (office.ban, office.unban, office.delete):
            with pytest.raises(Refused) as refused:
                await act(named)
            assert refused.value.code == ErrorCode.NOT_FOUND


class TestRename:
    async def test_the_old_name_is_free_again(self, here: Shell, office: Administration) -> None:
        await office.rename("ann", "Zoë")
        found = await here.store.players.find("ann")
        assert found is not None
        assert found.player.name == "Zoë"
        await office.rename("ben", "Ann")

    @pytest.mark.parametrize(("name", "code"), [("Ben", ErrorCode.NAME_TAKEN), ("x", ErrorCode.BAD_NAME)])
    async def test_a_name_must_be_free_and_fit(self, office: Administration, name: str, code: ErrorCode) -> None:
        with pytest.raises(Refused) as refused:
            await office.rename("ann", name)
        assert refused.value.code == code


class TestDelete:
    async def test_no_board_day_list_or_key_has_the_player_any_more(self, here: Shell, office: Administration) -> None:
        today = day_of(here.now())
        await ended_race(here, ANN, BEN)
        await ended_race(here, BEN, ANN, settings=Settings(variant=GAME, seats=4, ranked=False))
        await ended_attempt(here, ANN, opens_at(today) + 5)
        matching = Matching(here.store, here.rooms)
        await matching.join(FakeMember(ANN), matching.wish(QueueJoin(variant=GAME)))
        await here.store.deals.draw(GAME, ["ann"])
        await office.delete("Ann")
        assert await rows_of(here, "ann") == []
        assert await here.store.players.find("ann") is None
        assert await here.store.daily.attempt(today, GAME, "ann") is None
        assert await here.store.queue.read(GAME) == ([], [])
        assert await left_of(here, b"ann", b"Ann") == [keys.ACTS.encode()]
        assert await is_whole(here)

    async def test_the_player_is_no_ghost_any_more_either(self, here: Shell, office: Administration) -> None:
        """Not in what the race shows, nor in the settings that asked for the ghost."""
        old = await ended_race(here, ANN, BEN)
        asked = Ghost(race=old.id, player="ann")
        ghosts, _ = await summon(here.store, SettingsRequest(variant=GAME, ghosts=(asked,)), "ben")
        settings = Settings(variant=GAME, seats=1, deal=DEAL, ranked=False, ghosts=(asked,))
        race = await here.race(BEN, start_in=-900_000, settings=settings, ghosts=ghosts)
        await here.open(race, BEN)
        async with here.attended(race) as referee:
            await referee.wake()
            race = referee.room.race
        assert race.ghosts[0].done
        await end(here, await here.append(race, Done("ben", EntrantStatus.CONCEDED, Tally(4, 5, 4, 0))))
        await office.delete("ann")
        assert await left_of(here, b"ann", b"Ann") == [keys.ACTS.encode()]
        record = await here.store.races.load(race.id)
        assert record is not None
        (ghost,), (shown,) = record.race.settings.ghosts, record.race.ghosts
        assert shown.player.id == f"{ghost.player}@{old.id}"

    async def test_one_race_is_told_as_one(self, here: Shell, office: Administration) -> None:
        await ended_race(here, ANN, BEN)
        assert "in 1 race on record" in await office.delete("ann")

    async def test_the_others_keep_what_they_have(self, here: Shell, office: Administration) -> None:
        race = await ended_race(here, ANN, BEN)
        await ended_race(here, BEN, CAT)
        shown = {name: (await board(here, name)).get("ben") for name in (best_board(GAME), rating_board(GAME))}
        records = await here.store.profiles.records("ben")
        await office.delete("ann")
        assert {name: (await board(here, name)).get("ben") for name in shown} == shown
        assert await here.store.profiles.records("ben") == records
        record = await here.store.races.load(race.id)
        assert record is not None
        assert record.race.standings is not None
        winner, loser = record.race.standings
        assert (winner.player.name, winner.place, winner.time) == (NAMELESS, 1, race.standings[0].time)  # type: ignore[index]
        assert is_stand_in(winner.player.id)
        assert loser.player == BEN
        assert record.race.host == winner.player.id == record.race.created_by

    async def test_who_stands_in_is_the_same_everywhere_and_on_no_board(
        self, here: Shell, office: Administration
    ) -> None:
        races = [await ended_race(here, ANN, BEN), await ended_race(here, CAT, ANN)]
        assert "in 2 races on record" in await office.delete("ann")
        ids = set()
        for race in races:
            record = await here.store.races.load(race.id)
            assert record is not None
            ids |= {e.player.id for e in record.race.entrants if e.player.name == NAMELESS}
            assert set(record.logs) <= {e.player.id for e in record.race.entrants}
        ids |= {player for player in (await here.store.ratings.ledger(GAME)).skills if is_stand_in(player)}
        (stand_in,) = ids
        assert await rows_of(here, stand_in) == []

    async def test_a_race_that_runs_is_forfeited_and_nameless_once_it_is_over(
        self, here: Shell, there: Shell, office: Administration
    ) -> None:
        await ended_race(here, ANN, BEN)
        race = await there.race(ANN, BEN, start_in=-5_000)
        await here.store.players.enter("ann", race.id, race.created_at)
        await office.delete("ann")
        record = await there.store.races.load(race.id)
        assert record is not None
        ann = record.race.entrant("ann")
        assert ann is not None
        assert ann.done is not None
        assert ann.done.status is EntrantStatus.FORFEITED
        over = await there.append(record.race, Done("ben", EntrantStatus.WON, Tally(9, 13, 9, 0)))
        await end(there, over)
        assert await rows_of(there, "ann") == []
        assert await left_of(there, b"ann", b"Ann") == [keys.ACTS.encode()]
        assert await is_whole(there)
        assert len((await there.store.ratings.ledger(GAME)).races) == 2

    async def test_a_node_that_repeats_the_end_of_a_race_writes_nothing_of_the_player(
        self, here: Shell, there: Shell, office: Administration
    ) -> None:
        """It still knows the race as it was, and nothing is left that says who stands in."""
        today = day_of(here.now())
        races = [await ended_race(here, ANN, BEN), await ended_attempt(here, ANN, opens_at(today) + 5)]
        await office.delete("ann")
        for race in races:
            await record_end(there.store, race)
        assert await rows_of(here, "ann") == []
        assert await left_of(here, b"ann", b"Ann") == [keys.ACTS.encode()]
        assert await is_whole(here)

    async def test_a_node_that_is_half_way_through_the_end_takes_it_back_itself(
        self, here: Shell, there: Shell, office: Administration
    ) -> None:
        today = day_of(here.now())
        race, daily = await ended_race(here, ANN, BEN), await ended_attempt(here, ANN, opens_at(today) + 5)
        await acting_meanwhile(there, race, partial(office.delete, "ann"))
        await record_end(there.store, daily)
        assert await rows_of(here, "ann") == []
        assert await left_of(here, b"ann", b"Ann") == [keys.ACTS.encode()]
        assert await is_whole(here)

    async def test_a_node_that_rates_the_player_just_then_does_so_without_the_name(
        self, here: Shell, there: Shell, office: Administration
    ) -> None:
        """Rated just before the end is on record, by a node that did not know yet."""
        race = await there.race(ANN, BEN, start_in=-5_000)
        await here.store.players.enter("ann", race.id, race.created_at)
        await office.delete("ann")
        skills = await there.store.ratings.skills(GAME, ["ann", "ben"])
        await there.store.ratings.apply(GAME, race.id, applied_to({"ben": 1, "ann": 2}, (), skills, 5))
        record = await there.store.races.load(race.id)
        assert record is not None
        await end(there, await there.append(record.race, Done("ben", EntrantStatus.WON, Tally(9, 13, 9, 0))))
        assert list(await board(here, rating_board(GAME))) == ["ben"]
        assert await left_of(here, b"ann", b"Ann") == [keys.ACTS.encode()]
        assert await is_whole(here)

    async def test_an_open_race_is_left(self, here: Shell, office: Administration) -> None:
        race = await here.race(ANN, BEN)
        await here.store.players.enter("ann", race.id, race.created_at)
        await office.delete("ann")
        record = await here.store.races.load(race.id)
        assert record is not None
        assert [entrant.player.id for entrant in record.race.entrants] == ["ben"]

    async def test_a_race_that_is_just_being_entered_is_left_too(self, here: Shell, office: Administration) -> None:
        """It came to be after the player's list was looked through: nobody shall wait there for who does not exist."""
        opened, running = await here.race(ANN, BEN), await here.race(ANN, BEN, start_in=-5_000)
        await office.delete("ann")
        for race, entrants in ((opened, {"ben": None}), (running, {"ann": EntrantStatus.FORFEITED, "ben": None})):
            record = await here.store.races.load(race.id)
            assert record is not None
            assert {e.player.id: e.done and e.done.status for e in record.race.entrants} == entrants

    @pytest.mark.parametrize("lost", ["request", "reply"])
    @pytest.mark.parametrize("interrupted_at", ["rating_rebuild", "race_stand_in", "board_remove"])
    async def test_one_that_was_interrupted_is_done_again_as_if_it_had_not_been(
        self, here: Shell, office: Administration, interrupted_at: str, lost: str
    ) -> None:
        races = [await ended_race(here, ANN, BEN), await ended_race(here, CAT, ANN)]
        (here.link.lose_request if lost == "request" else here.link.lose_reply)(interrupted_at)
        with pytest.raises(StoreUnavailable):
            await office.delete("ann")
        await office.delete("ann")
        ids = {player for player in (await here.store.ratings.ledger(GAME)).skills if is_stand_in(player)}
        for race in races:
            record = await here.store.races.load(race.id)
            assert record is not None
            ids |= {e.player.id for e in record.race.entrants if e.player.name == NAMELESS}
        assert len(ids) == 1
        assert await left_of(here, b"ann", b"Ann") == [keys.ACTS.encode()]
        assert await is_whole(here)

    async def test_two_who_are_deleted_at_once_are_both_out_of_the_race_of_both(
        self, here: Shell, there: Shell, office: Administration
    ) -> None:
        """Each is taken out of the race as it was read; the later one must not put back the other."""
        race = await ended_race(here, ANN, BEN)
        gate = here.link.hold_request("race_stand_in")
        deleting = asyncio.create_task(here.store.races.stand_in(race.id, {"ann": "gone-1"}))
        await gate.reached.wait()
        assert await there.store.races.stand_in(race.id, {"ben": "gone-2"})
        gate.open()
        assert await deleting
        record = await here.store.races.load(race.id)
        assert record is not None
        assert [entrant.player.id for entrant in record.race.entrants] == ["gone-1", "gone-2"]

    async def test_nor_does_one_come_back_into_the_ratings(
        self, here: Shell, there: Shell, office: Administration
    ) -> None:
        """These are worked out anew for each: the later must not rest on what was there before the other."""
        await ended_race(here, ANN, BEN)
        await ended_race(here, BEN, CAT)
        gate = here.link.hold_request("rating_rebuild")
        deleting = asyncio.create_task(make_nameless(here.store, GAME, {"ann": "gone-1"}))
        await gate.reached.wait()
        assert await make_nameless(there.store, GAME, {"ben": "gone-2"})
        gate.open()
        assert await deleting
        assert (await here.store.ratings.ledger(GAME)).skills.keys() == {"gone-1", "gone-2", "cat"}
        assert (await board(here, rating_board(GAME))).keys() == {"cat"}

    async def test_the_name_and_the_token_are_free(self, here: Shell, office: Administration) -> None:
        await office.delete("ann")
        with pytest.raises(Refused) as refused:
            await here.store.players.recognise("ann.secret")
        assert refused.value.code == ErrorCode.BAD_TOKEN
        await office.rename("ben", "Ann")

    async def test_it_does_not_touch_a_player_whose_id_begins_alike(self, here: Shell, office: Administration) -> None:
        anna = Player(id="anna", name="Anna", bot=False)
        await register(here, anna)
        await ended_race(here, anna, BEN)
        await office.delete("ann")
        assert (await here.store.players.find("anna")) is not None
        assert await board(here, best_board(GAME)) == {"anna": 30_000}


async def acting_meanwhile(shell: Shell, race: Race, act: Callable[[], Awaitable[object]]) -> None:
    """A node carries out the end of a race; just when it has asked what was decided about it, an operator acts."""
    acts = shell.store.acts
    ask = acts.verdicts

    async def asked_just_before(race_id: str) -> Verdicts:
        known = await ask(race_id)
        acts.verdicts = ask  # type: ignore[method-assign]  # Once.
        await act()
        return known

    acts.verdicts = asked_just_before  # type: ignore[method-assign]  # The moment that is looked for.
    await record_end(shell.store, race)


async def left_of(shell: Shell, *texts: bytes) -> list[bytes]:
    """The keys in whose name or content one of the texts still stands."""
    from cellrace_server.store.packing import unpack_race

    found = []
    async for key in shell.link.redis.scan_iter("*"):
        dumped = key + b"\0"
        match await shell.link.redis.type(key):
            case b"string":
                value = await shell.link.redis.get(key)
                packed = unpack_race(value) if key.endswith(b":packed") else None
                dumped += value if packed is None else b"".join((packed.creation, *packed.records))
            case b"hash":
                dumped += b"\0".join(part for pair in (await shell.link.redis.hgetall(key)).items() for part in pair)
            case b"list":
                dumped += b"\0".join(await shell.link.redis.lrange(key, 0, -1))
            case b"set":
                dumped += b"\0".join(await shell.link.redis.smembers(key))
            case b"zset":
                dumped += b"\0".join(await shell.link.redis.zrange(key, 0, -1))
        # As a word of its own: a random id may have it in it.
        if any(re.search(rb"(?<![0-9A-Za-z])%s(?![0-9A-Za-z])" % text, dumped) for text in texts):
            found.append(key)
    return sorted(found)


class TestTheRecord:
    async def test_each_act_is_on_record_before_it_is_done(self, here: Shell, office: Administration) -> None:
        race = await ended_race(here, ANN, BEN)
        await office.void(race.id)
        await office.ban("Ann")
        await office.unban("ann")
        await office.rename("ann", "Zoe")
        await office.delete("Zoe")
        acts = await here.store.acts.latest(10)
        assert [(act.by, act.act, act.subject, act.detail) for act in reversed(acts)] == [
            ("olga", "void", race.id, ""),
            ("olga", "ban", "ann", ""),
            ("olga", "unban", "ann", ""),
            ("olga", "rename", "ann", "Zoe"),
            ("olga", "delete", "ann", ""),
        ]
        assert all(abs(act.at - here.now()) < 60_000 for act in acts)

    async def test_what_is_refused_is_no_act(self, here: Shell, office: Administration) -> None:
        with pytest.raises(Refused):
            await office.ban("nobody")
        assert await here.store.acts.latest(10) == ()


class TestInspecting:
    async def test_a_race_is_seen_with_its_facts_and_what_was_done_to_it(
        self, here: Shell, office: Administration
    ) -> None:
        race = await ended_race(here, ANN, BEN)
        await office.void(race.id)
        seen = await inspect_race(here.store, race.id)
        assert (seen.state, seen.void, seen.settled, seen.deal, seen.due_at) == (RaceState.OVER, True, True, DEAL, None)
        assert [fact.fact["type"] for fact in seen.facts] == [
            *("joined", "joined", "ready", "ready", "countdown", "done", "done", "over"),
        ]
        assert [(e.player.id, e.status, e.home) for e in seen.entrants] == [
            ("ann", EntrantStatus.WON, 13),
            ("ben", EntrantStatus.CONCEDED, 5),
        ]
        assert [act.act for act in seen.acts] == ["void"]

    async def test_no_deal_is_seen_before_its_start(self, here: Shell) -> None:
        race = await here.race(ANN, BEN, start_in=60_000)
        seen = await inspect_race(here.store, race.id)
        assert (seen.state, seen.deal) == (RaceState.COUNTDOWN, None)
        assert seen.due_at is not None

    async def test_a_player_is_seen_without_the_token(self, here: Shell, office: Administration) -> None:
        race = await ended_race(here, ANN, BEN)
        await here.store.players.take_over("ann")
        await office.ban("ann")
        seen = await inspect_player(here.store, "Ann")
        assert (seen.player, seen.since, seen.node, seen.recent) == (ANN, 7, "here:1", (race.id,))
        assert seen.banned_at is not None
        assert (seen.games[GAME].won, seen.skills[GAME].rating) == (1, 1138)
        assert [act.act for act in seen.acts] == ["ban"]
        assert "secret" not in repr(seen)
