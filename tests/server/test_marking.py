"""A player who becomes a bot stands among people on no board any more, whatever is written or dies at that moment."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from cellrace.messages import EntrantStatus, Hello, Player
from cellrace_server.administration import Administration
from cellrace_server.core.daily import day_of, opens_at
from cellrace_server.core.facts import Done, Tally
from cellrace_server.core.names import parse_name
from cellrace_server.marking import finish_marks
from cellrace_server.recomputing import Recomputation
from cellrace_server.results import record_end
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.players import Credentials, new_credentials
from tests.server.ended_races import end, ended_attempt, ended_race
from tests.server.races import ANN, BEN
from tests.server.shell import SHORT, Shell

pytestmark = pytest.mark.usefixtures("noon")

KINDS = {"best", "daily", "deal", "rating", "streak"}


@pytest.fixture
async def season(here: Shell) -> Shell:
    """A store in which Ann, a person so far, stands on a board of each kind, and Ben on some."""
    since = here.now() - 3 * 24 * 3_600_000
    for who in (ANN, BEN):
        await here.store.players.register(Credentials(who.id, f"{who.id}.secret"), parse_name(who.name), who.bot, since)
    race = await ended_race(here, ANN, BEN)
    # The numbers of deals are noted where they are drawn, and these races are made by hand.
    secret = await here.store.races.secret(race.id)
    assert secret is not None
    await here.store.deals.note(SHORT.variant, ["ann", "ben"], secret)
    await ended_attempt(here, ANN, opens_at(day_of(here.now()) - timedelta(days=2)) + 5)
    await ended_attempt(here, BEN, opens_at(day_of(here.now())) + 9, EntrantStatus.CONCEDED, home=4)
    assert await kinds(here, "ann", bots=False) == await kinds(here, "ann", bots=True) == KINDS
    return here


async def kinds(shell: Shell, player: str, *, bots: bool) -> set[str]:
    """The kinds of boards on which somebody is shown, with bots or without."""
    found = set()
    for board in await shell.store.census.boards():
        if (await shell.store.boards.rows(board, 0, 0, player, around=False, bots=bots)).own is not None:
            found.add(board.partition(":")[0])
    return found


async def become_a_bot(shell: Shell) -> Player:
    """Ann comes back with the mark."""
    hello = Hello(token="ann.secret", bot=True)
    return (await shell.admission.admit(hello, "127.0.0.1", new_credentials())).player


async def is_among_bots_alone(shell: Shell) -> bool:
    whole = await Recomputation(shell.store, fix=False).run() == []
    shown = await kinds(shell, "ann", bots=False), await kinds(shell, "ann", bots=True)
    return whole and shown == (set(), KINDS) and await shell.store.players.new_bots() == ()


async def test_a_new_bot_keeps_every_row_and_stands_among_people_on_no_board(season: Shell) -> None:
    ben = await kinds(season, "ben", bots=False)
    assert (await become_a_bot(season)).bot
    assert await is_among_bots_alone(season)
    assert await kinds(season, "ben", bots=False) == ben


@pytest.mark.parametrize("dies_at", ["player_mark", "HKEYS", "board_mark", "SREM"])
@pytest.mark.parametrize("lost", ["request", "reply"])
async def test_what_a_node_leaves_half_done_any_other_finishes(
    season: Shell, there: Shell, lost: str, dies_at: str
) -> None:
    (season.link.lose_request if lost == "request" else season.link.lose_reply)(dies_at)
    with pytest.raises(StoreUnavailable):
        await become_a_bot(season)
    await finish_marks(there.store)
    assert await is_among_bots_alone(there)


async def test_a_race_that_was_joined_as_a_person_and_ends_later_leaves_a_bot(season: Shell) -> None:
    race = await season.race(ANN, BEN, start_in=-900_000)
    await become_a_bot(season)
    assert race.start_at is not None
    race = await season.append(race, Done("ann", EntrantStatus.WON, Tally(9, 13, 9, 0)), at=race.start_at + 9_000)
    race = await season.append(race, Done("ben", EntrantStatus.CONCEDED, Tally(4, 5, 4, 0)), at=race.start_at + 9_999)
    await end(season, race)
    assert await is_among_bots_alone(season)


@pytest.mark.parametrize("written", ["board_submit", "race_compact"])
async def test_a_row_that_is_being_written_meanwhile_is_put_right_by_its_writer(
    season: Shell, there: Shell, written: str
) -> None:
    race = await season.race(ANN, BEN, start_in=-900_000)
    assert race.start_at is not None
    race = await season.append(race, Done("ann", EntrantStatus.WON, Tally(9, 13, 9, 0)), at=race.start_at + 9_000)
    race = await season.append(race, Done("ben", EntrantStatus.CONCEDED, Tally(4, 5, 4, 0)), at=race.start_at + 9_999)
    gate = season.link.hold_request(written)
    ending = asyncio.create_task(end(season, race))
    await gate.reached.wait()
    await become_a_bot(there)
    gate.open()
    await ending
    assert await is_among_bots_alone(there)


async def test_boards_that_are_built_anew_from_old_races_have_a_bot_too(season: Shell) -> None:
    """A void race: the next best takes its place, ratings and streaks are worked out once more."""
    again = await ended_race(season, ANN, BEN, time=20_000)
    daily = await ended_attempt(season, ANN, opens_at(day_of(season.now()) - timedelta(days=1)) + 5)
    await become_a_bot(season)
    office = Administration(season.store, "olga")
    for race in (again, daily):
        await office.void(race.id)
        assert await is_among_bots_alone(season)
        await record_end(season.store, race)
        assert await is_among_bots_alone(season)


async def test_where_it_failed_all_the_same_recomputing_finds_it_and_puts_it_right(season: Shell) -> None:
    await season.store.players.mark("ann")
    found = {difference.where.partition(":")[0] for difference in await Recomputation(season.store, fix=True).run()}
    assert found == KINDS
    assert await is_among_bots_alone(season)


async def test_who_is_deleted_at_that_moment_is_not_made_again(season: Shell, there: Shell) -> None:
    gate = season.link.hold_request("player_mark")
    coming = asyncio.create_task(become_a_bot(season))
    await gate.reached.wait()
    await Administration(there.store, "olga").delete("ann")
    gate.open()
    (refused,) = await asyncio.gather(coming, return_exceptions=True)
    assert isinstance(refused, Exception)
    await finish_marks(there.store)
    assert await there.store.players.new_bots() == ()
    assert not await there.link.command("EXISTS", "player:{ann}")


async def test_a_mark_that_is_there_already_is_nothing_to_do(season: Shell) -> None:
    await become_a_bot(season)
    season.link.sent.clear()
    await become_a_bot(season)
    assert not {"SADD", "player_mark", "board_mark"} & set(season.link.sent)
