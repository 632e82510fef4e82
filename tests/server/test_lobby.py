"""Getting in and out of races: lists that lose nothing, codes, and whoever goes while something is under way."""

from __future__ import annotations

import asyncio
import re
from collections import Counter

import pytest

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import Player, RaceCreate, RaceJoin, RaceList, RaceState, SettingsRequest
from cellrace_server.admission import Admission
from cellrace_server.config import Bounds
from cellrace_server.lobby import CODE_LETTERS, LOOKED_UP_AT_ONCE, Lobby
from cellrace_server.room import Room
from cellrace_server.store import keys
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.tasks import Tasks
from tests.server.ended_races import ended_race
from tests.server.shell import FakeMember, Shell

ANN = Player(id="pann", name="Ann", bot=False)
BOB = Player(id="pbob", name="Bob", bot=False)
BEN = Player(id="pben", name="Ben", bot=False)


class Answers(list[Room]):
    """The rooms that answers were given about."""

    def __call__(self, room: Room) -> None:
        self.append(room)


async def listed(shell: Shell, **request: object) -> list[str]:
    """The ids that somebody gets who asks for races."""
    heads = await shell.listing.races("nobody", RaceList(**request))  # type: ignore[arg-type]  # what the test says
    return [head.race.id for head in heads]


def join(race: str) -> RaceJoin:
    """A request to enter a race by its id."""
    return RaceJoin(race=race)


def test_codes_have_no_letters_that_look_alike() -> None:
    assert len(CODE_LETTERS) == 31
    assert re.fullmatch("[2-9A-Z]+", CODE_LETTERS)
    assert not set("ILO01") & set(CODE_LETTERS)


@pytest.mark.parametrize("lost", ["player_enter", "ZADD", "race_create", "race_load", "race_open", "race_append"])
async def test_a_creation_that_is_repeated_after_retry_later_makes_one_race(here: Shell, lost: str) -> None:
    """Whether the store has carried it out or not; asked for once more, it is another one."""
    ann, request = FakeMember(ANN), RaceCreate(id=7)
    (here.link.lose_reply if lost != "race_open" else here.link.lose_request)(lost)
    with pytest.raises(StoreUnavailable):
        await here.lobby.create(ann, request, Answers())
    created = Answers()
    await here.lobby.create(ann, request, created)
    assert await listed(here) == [created[0].id]
    assert await here.store.players.races(ANN.id) == (created[0].id,)
    assert [entrant.player for entrant in created[0].race.entrants] == [ANN]
    await here.lobby.create(ann, request, created)
    await here.lobby.create(FakeMember(BOB), request, created)
    assert len({room.id for room in created}) == 3


async def test_a_creation_with_other_settings_is_no_repeat(here: Shell) -> None:
    ann, created = FakeMember(ANN), Answers()
    here.link.lose_reply("race_append")
    with pytest.raises(StoreUnavailable):
        await here.lobby.create(ann, RaceCreate(id=7), Answers())
    await here.lobby.create(ann, RaceCreate(id=7, settings=SettingsRequest(seats=4)), created)
    assert created[0].race.settings.seats == 4
    assert len(await here.store.players.races(ANN.id)) == 2


async def test_a_race_that_is_being_created_is_not_taken_off_its_list(here: Shell) -> None:
    """Listed before it is on record, so that none is on record and nowhere listed; a look in between harms nothing."""
    gate = here.link.hold_request("race_create")
    creating = asyncio.create_task(here.lobby.create(FakeMember(ANN), RaceCreate(), Answers()))
    await gate.reached.wait()
    assert await listed(here) == []
    gate.open()
    race = (await creating).room.id
    assert await listed(here) == [race]


async def test_a_race_that_never_came_on_record_is_forgotten_after_a_while(here: Shell) -> None:
    long_ago = here.now() - 61_000
    await here.link.command("ZADD", keys.LIVE, long_ago, "gone")
    await here.link.command("ZADD", keys.LIVE, here.now(), "coming")
    assert await listed(here) == []
    assert await here.link.command("ZRANGE", keys.LIVE, 0, -1) == [b"coming"]


async def test_a_race_that_was_lost_between_the_two_writes_is_cancelled_by_the_sweep(here: Shell) -> None:
    """On record, due, and nobody ever came in: its creator died."""
    here.link.lose_request("race_append")
    with pytest.raises(Exception, match="lost by the test"):
        await here.lobby.create(FakeMember(ANN), RaceCreate(), Answers())
    (race,) = await listed(here)
    record = await here.store.races.load(race)
    assert record is not None
    assert record.race.entrants == ()


async def test_a_public_and_a_private_race_are_found_by_their_codes(here: Shell) -> None:
    for private in (False, True):
        created, joined = Answers(), Answers()
        settings = SettingsRequest(private=private)
        await here.lobby.create(FakeMember(ANN), RaceCreate(settings=settings), created)
        code = created[0].race.code
        await here.lobby.join(FakeMember(BOB), RaceJoin(code=code.lower()), "address", joined)
        assert joined == created


async def test_who_is_in_a_race_is_answered_before_anybody_is_told(here: Shell) -> None:
    told_then: list[int] = []
    await here.lobby.create(FakeMember(ANN), RaceCreate(), lambda _: told_then.append(len(here.recorder.told)))
    assert told_then == [0]
    assert here.recorder.kinds == ["Joined"]


async def test_who_leaves_hears_nothing_more_and_is_off_the_list(here: Shell) -> None:
    ann, bob = FakeMember(ANN), FakeMember(BOB)
    race = await here.race(ANN, BOB)
    referee = await here.held(race, ann, bob)
    await here.store.players.enter(BOB.id, race.id, race.created_at)
    await here.lobby.leave(bob, race.id, Answers())
    assert list(referee.room.members()) == [ann]
    assert await here.store.players.races(BOB.id) == ()


async def test_who_leaves_a_running_race_is_gone_for_the_others_too(here: Shell) -> None:
    ann, bob = FakeMember(ANN), FakeMember(BOB)
    race = await here.race(ANN, BOB, start_in=-1000)
    referee = await here.held(race, ann, bob)
    await here.lobby.leave(bob, race.id, Answers())
    assert not referee.room.is_online(BOB.id)
    assert ("online", (BOB.id, False)) in here.recorder.told


async def test_a_wrong_code_is_counted_and_a_right_one_is_not(here: Shell) -> None:
    created = Answers()
    await here.lobby.create(FakeMember(ANN), RaceCreate(), created)
    await here.lobby.join(FakeMember(BOB), RaceJoin(code=created[0].race.code), "address", Answers())
    for code in ("22222222", "33333333", "nonsense\x00"):
        with pytest.raises(Refused, match="no such race"):
            await here.lobby.join(FakeMember(BOB), RaceJoin(code=code), "address", Answers())
    assert await here.store.players.guesses("code", "address") == 3
    assert await here.store.players.guesses("code", "elsewhere") == 0


async def test_of_codes_tried_at_the_same_time_no_more_are_told_to_be_wrong_than_one_may_try(here: Shell) -> None:
    """Each on a connection of its own, and all asked for before one is counted."""
    lobby = Lobby(here.store, here.rooms, here.admission, Bounds(wrong_guesses=5))
    await here.store.players.count_guess("code", "address", 600)

    async def outcome(code: str) -> ErrorCode:
        with pytest.raises(Refused) as refused:
            await lobby.join(FakeMember(BOB), RaceJoin(code=code), "address", Answers())
        return refused.value.code

    codes = [f"2222222{letter}" for letter in CODE_LETTERS[:20]]
    outcomes = Counter(await asyncio.gather(*map(outcome, codes)))
    assert outcomes == {ErrorCode.NO_SUCH_RACE: 4, ErrorCode.RATE_LIMITED: 16}
    assert await here.store.players.guesses("code", "address") < 5 + LOOKED_UP_AT_ONCE


async def test_right_codes_tried_at_the_same_time_are_all_let_in(here: Shell) -> None:
    """A class behind one router is told a code, and everybody types it at once."""
    lobby = Lobby(here.store, here.rooms, here.admission, Bounds(wrong_guesses=2))
    created = Answers()
    settings = SettingsRequest(seats=9)
    await lobby.create(FakeMember(ANN), RaceCreate(settings=settings), created)
    guests = [FakeMember(Player(id=f"guest{n:07}", name=f"Guest {n}", bot=False)) for n in range(8)]
    code = created[0].race.code
    await asyncio.gather(*(lobby.join(guest, RaceJoin(code=code), "address", Answers()) for guest in guests))
    assert len(created[0].race.entrants) == 9


async def test_right_codes_are_let_in_however_many_of_them_come_one_after_the_other(here: Shell) -> None:
    lobby = Lobby(here.store, here.rooms, here.admission, Bounds(wrong_guesses=2))
    created = Answers()
    await lobby.create(FakeMember(ANN), RaceCreate(), created)
    for _ in range(5):
        await lobby.join(FakeMember(BOB), RaceJoin(code=created[0].race.code), "address", Answers())


def bounded(shell: Shell, most: int) -> Admission:
    """An admission for whom a player may be in so many races."""
    return Admission(shell.store, shell.rooms, Bounds(player_races=most), Tasks())


async def test_a_player_is_in_a_bounded_number_of_races_that_are_not_over(here: Shell) -> None:
    """And comes into those again, however many there are."""
    lobby = Lobby(here.store, here.rooms, bounded(here, 2), Bounds())
    ann, created = FakeMember(ANN), Answers()
    other = await here.race(BOB)
    for _ in range(2):
        await lobby.create(ann, RaceCreate(), created)
    for enter in (
        lambda: lobby.create(ann, RaceCreate(), created),
        lambda: lobby.join(ann, join(other.id), "", created),
    ):
        with pytest.raises(Refused, match="too many races that are not over") as refused:
            await enter()
        assert refused.value.code is ErrorCode.NOT_ALLOWED
    # As a set: of two created within a millisecond none is the newer.
    assert set(await here.store.players.races(ANN.id)) == {created[1].id, created[0].id}
    await lobby.join(ann, join(created[0].id), "", created)
    await lobby.leave(ann, created[0].id, created)
    await lobby.join(ann, join(other.id), "", created)


@pytest.mark.parametrize("way", ["create", "rematch"])
async def test_what_would_be_one_race_too_many_is_not_opened(here: Shell, way: str) -> None:
    """Nor told: a successor that nobody may enter would stand there for the others, and be cancelled."""
    over = await ended_race(here, ANN, BEN)
    lobby = Lobby(here.store, here.rooms, bounded(here, 1), Bounds())
    ann, ben = FakeMember(ANN), FakeMember(BEN)
    await lobby.create(ann, RaceCreate(), Answers())
    known = await here.store.census.races()
    with pytest.raises(Refused, match="too many races that are not over"):
        await (
            lobby.create(ann, RaceCreate(), Answers()) if way == "create" else lobby.rematch(ann, over.id, Answers())
        )
    assert await here.store.census.races() == known
    assert len(await here.store.lists.newest(False, 0, 9)) == 1
    record = await here.store.races.load(over.id)
    assert record is not None
    assert record.race.successor is None
    await lobby.rematch(ben, over.id, Answers())


async def test_races_entered_at_the_same_moment_are_no_more_than_one_may_be_in(here: Shell, there: Shell) -> None:
    others = [await here.race(BOB) for _ in range(6)]
    lobbies = [Lobby(shell.store, shell.rooms, bounded(shell, 3), Bounds()) for shell in (here, there)]

    async def enter(number: int) -> None:
        await lobbies[number % 2].join(FakeMember(ANN), join(others[number].id), "", Answers())

    outcomes = await asyncio.gather(*map(enter, range(6)), return_exceptions=True)
    assert [refused.code for refused in outcomes if isinstance(refused, Refused)] == [ErrorCode.NOT_ALLOWED] * 3
    assert outcomes.count(None) == 3
    assert len(await here.store.players.races(ANN.id)) == 3


async def test_a_race_that_was_entered_by_half_takes_up_no_place_once_it_has_ended(here: Shell) -> None:
    over = await ended_race(here, BOB, BEN)
    await here.store.players.enter(ANN.id, over.id, over.created_at)
    await here.admission.resume(FakeMember(ANN), lambda referees: None)
    assert await here.store.players.races(ANN.id) == ()


async def test_lists_are_read_on_until_enough_fit(here: Shell) -> None:
    wanted = []
    for number in range(130):
        variant = "two-suit" if number % 50 == 0 else "freecell"
        created = Answers()
        member = FakeMember(Player(id=f"p{number}", name=f"P {number}", bot=False))
        await here.lobby.create(member, RaceCreate(settings=SettingsRequest(variant=variant)), created)
        if variant == "two-suit":
            wanted.append(created[0].id)
    assert await listed(here, variant="two-suit", limit=100) == wanted[::-1]
    assert await listed(here, variant="two-suit", limit=2) == wanted[:0:-1]
    assert len(await listed(here, limit=100)) == 100
    assert await listed(here, state=RaceState.RUNNING) == []
