"""Which races there are: public ones by creation, private ones by code alone."""

from __future__ import annotations

from msgspec.structs import replace

from cellrace.messages import CancelReason
from cellrace_server.core.facts import Cancelled, Over
from cellrace_server.core.race import NEVER_ENTERED, Race
from cellrace_server.store import keys
from cellrace_server.store.lists import RaceLists
from tests.server.races import BORN, after, new_race, with_settings
from tests.server.shell import Shell


def numbered(number: int, *, private: bool = False) -> Race:
    race = replace(new_race(race_id=f"r{number}"), created_at=BORN + number, code=f"CODE{number:04}")
    return with_settings(race, private=private)


async def test_public_races_are_listed_newest_first_in_pages(here: Shell) -> None:
    for number in (2, 0, 3, 1):
        await here.store.lists.add(numbered(number))
    await here.store.lists.add(numbered(9, private=True))
    assert await here.store.lists.newest(False, 0, 3) == ("r3", "r2", "r1")
    assert await here.store.lists.newest(False, 3, 3) == ("r0",)
    assert await here.store.lists.newest(True, 0, 3) == ()


async def test_every_race_is_found_by_its_code_in_any_case(here: Shell) -> None:
    await here.store.lists.add(numbered(1))
    await here.store.lists.add(numbered(2, private=True))
    assert await here.store.lists.by_code("code0001") == "r1"
    assert await here.store.lists.by_code("CODE0002") == "r2"
    assert await here.store.lists.by_code("CODE0003") is None


async def test_a_race_that_is_over_moves_and_repeating_that_changes_nothing(here: Shell) -> None:
    race = numbered(1)
    await here.store.lists.add(race)
    over = after(race, Over(()))
    await here.store.lists.end(over)
    await here.store.lists.end(over)
    assert await here.store.lists.newest(False, 0, 9) == ()
    assert await here.store.lists.newest(True, 0, 9) == ("r1",)


async def test_the_code_of_a_race_that_is_over_is_known_as_long_as_the_race_is_kept(here: Shell) -> None:
    """By whatever `--keep-days` says."""
    race = numbered(1, private=True)
    lists = RaceLists(here.link, kept=90 * 24 * 3_600_000)
    await lists.add(race)
    await lists.end(after(race, Over(())))
    assert 0 <= 90 * 24 * 3_600_000 - await here.link.command("PTTL", keys.code(race.code)) < 60_000


async def test_a_cancelled_race_is_on_no_list_any_more(here: Shell) -> None:
    race = numbered(1)
    await here.store.lists.add(race)
    await here.store.lists.end(after(race, Cancelled(CancelReason.EMPTY)))
    assert await here.store.lists.newest(False, 0, 9) == await here.store.lists.newest(True, 0, 9) == ()


async def test_the_code_of_an_ended_race_expires_with_it(here: Shell) -> None:
    race = numbered(1)
    await here.store.lists.add(race)
    assert await here.link.command("TTL", keys.code(race.code)) == -1
    await here.store.lists.end(after(race, Over(())))
    assert await here.link.command("TTL", keys.code(race.code)) > 0


async def test_a_race_that_is_listed_and_not_on_record_is_dropped_unless_it_may_still_come(here: Shell) -> None:
    """It is on the list before it is on record: whoever reads the list in between must not take it off."""
    race = numbered(1)
    await here.store.lists.add(race)
    await here.store.lists.drop("r1", race.created_at + NEVER_ENTERED - 1)
    assert await here.store.lists.newest(False, 0, 9) == ("r1",)
    await here.store.lists.drop("r1", race.created_at + NEVER_ENTERED)
    assert await here.store.lists.newest(False, 0, 9) == ()
