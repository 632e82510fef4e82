"""Races that have ended with all that follows from it, for tests of what they leave behind."""

from __future__ import annotations

from msgspec.structs import replace

from cellrace.messages import EntrantStatus, Player, RaceKind, Settings
from cellrace_server.core.daily import day_of
from cellrace_server.core.facts import CountdownBegan, Done, Joined, Tally
from cellrace_server.core.names import parse_name
from cellrace_server.core.race import Race
from cellrace_server.store.players import Credentials, new_id
from tests.server.races import new_race
from tests.server.shell import SECRET, SHORT, Shell


async def register(shell: Shell, *players: Player) -> None:
    """Put players on record, each with the token `ID.secret`."""
    for who in players:
        await shell.store.players.register(Credentials(who.id, f"{who.id}.secret"), parse_name(who.name), who.bot, 7)


async def end(shell: Shell, race: Race) -> Race:
    """The race in which nobody plays any more, over and with all its effects."""
    async with shell.attended(race) as referee:
        await referee.wake()
        await referee.finish()
        return referee.room.race


async def ended_race(
    shell: Shell, winner: Player, loser: Player, *, time: int = 30_000, settings: Settings = SHORT
) -> Race:
    """A race that somebody has won in so many ms, and somebody else has conceded."""
    race = await shell.race(winner, loser, start_in=-900_000, settings=settings)
    assert race.start_at is not None
    for who in (winner, loser):
        await shell.store.players.enter(who.id, race.id, race.created_at)
    won_at = race.start_at + time
    race = await shell.append(race, Done(winner.id, EntrantStatus.WON, Tally(9, 13, 9, 0)), at=won_at)
    race = await shell.append(race, Done(loser.id, EntrantStatus.CONCEDED, Tally(4, 5, 4, 0)), at=won_at + 10_000)
    return await end(shell, race)


async def ended_attempt(
    shell: Shell, who: Player, begins: int, status: EntrantStatus = EntrantStatus.WON, *, home: int = 13
) -> Race:
    """Somebody's attempt at the daily of the day in which it begins, over after a minute, and claimed."""
    settings = Settings(variant=SHORT.variant, seats=1, private=True, ranked=False)
    born = new_race(settings, kind=RaceKind.DAILY, race_id=new_id())
    race = replace(born, created_at=begins, changed_at=begins, code="")
    await shell.store.daily.claim(day_of(begins), settings.variant, who.id, race.id, begins)
    await shell.rooms.create(race)
    commitment = SECRET.commitment(settings.variant)
    race = await shell.append(race, Joined(who), CountdownBegan(begins, commitment), at=begins, secret=SECRET)
    race = await shell.append(race, Done(who.id, status, Tally(9, home, 9, 0)), at=begins + 60_000)
    return await end(shell, race)
