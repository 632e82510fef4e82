"""A race on a server of one's own: against a bot, or of two bots that anyone can check."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from random import Random

from cellrace.messages import EntrantStatus, RaceState, SettingsRequest
from cellrace_client.bot import SolverBot
from cellrace_client.bot_races import keep_company
from cellrace_client.connection import Connection, connect
from cellrace_client.language import _
from cellrace_client.narrator import narrated
from cellrace_client.own_server import own_server
from cellrace_client.pace import PACES
from cellrace_client.race_view import RaceView
from cellrace_client.racer import race_to_the_end
from cellrace_client.terminal.plain import Ending, PlainClient
from cellrace_client.terminal.sentences import tell_race
from cellrace_client.terminal.typed_lines import TypedLines, terminal_width
from cellrace_client.thinker import Thinker
from cellrace_client.verdict import VERDICT_SENTENCES, Verdict, standings_faults

RIVALS_STRENGTH = 2
BOTS_STRENGTH = 4
"""A person can win against the one; of two such bots the race is soon over, and still one to be watched."""
_COUNTDOWN = 3
_TIME_LIMIT = 3600
_PROGRESS_EVERY = 2.0
"""Seconds, all three."""

Say = Callable[[str], None]


def demo_settings(variant: str, deal: int | None) -> SettingsRequest:
    """Two seats, soon begun; not ranked, so that hints are given."""
    return SettingsRequest(
        variant=variant, deal=deal, seats=2, countdown=_COUNTDOWN, time_limit=_TIME_LIMIT, ranked=False
    )


async def play_demo(settings: SettingsRequest, say: Say, chance: Random) -> Ending:
    """A person at the lines against a bot."""

    async def play(me: Connection, race: str, rival: str) -> Ending:
        say(
            _(
                "{name}, a bot, races you on the same deal. Type ready to start, rules for the rules, quit to end."
            ).format(name=rival)
        )
        client = PlainClient(me, TypedLines(), say, interactive=True, lasting=False, width=terminal_width)
        return await client.run(race)

    return await _play_a_bot(settings, say, chance, play)


async def play_demo_on_screen(settings: SettingsRequest, say: Say, chance: Random) -> Ending:
    """A person at the full screen against a bot."""
    # Imported here, so that the lines need nothing of it.
    from cellrace_client.terminal.app.app import Outcome
    from cellrace_client.terminal.app.liking import LikingStore
    from cellrace_client.terminal.app.running import play_full_screen, taste_for

    async def play(me: Connection, race: str, _rival: str) -> Ending:
        outcome = await play_full_screen(me, race, taste_for(None, letters=None, store=LikingStore()), lasting=False)
        return Ending.WELL if outcome is Outcome.LEFT else Ending.NOT_WELL

    return await _play_a_bot(settings, say, chance, play)


async def _play_a_bot(
    settings: SettingsRequest,
    say: Say,
    chance: Random,
    play: Callable[[Connection, str, str], Awaitable[Ending]],
) -> Ending:
    """A race against a bot, which also enters each rematch."""
    say(_("Starting a server of our own …"))
    # The bot of the house is for quick matches: nobody else comes to this server.
    async with own_server("--bots", "1") as url, connect(url) as me, connect(url, name="Robo", bot=True) as rival:
        race = await me.create(settings)
        await rival.join(race.race)
        await me.view_where(race.race, lambda view: len(view.entrants) == 2)
        rivalling = asyncio.create_task(keep_company(rival, race.race, PACES[RIVALS_STRENGTH], chance))
        try:
            return await play(me, race.race, rival.player.name)
        finally:
            rivalling.cancel()
            await asyncio.gather(rivalling, return_exceptions=True)


async def watch_demo(settings: SettingsRequest, say: Say, chance: Random) -> Ending:
    """Two bots race each other; the standings are told, and whether all was as it must be."""
    say(_("Starting a server of our own …"))
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(own_server())
        first = await stack.enter_async_context(connect(url, name="Ada", bot=True))
        second = await stack.enter_async_context(connect(url, name="Bix", bot=True))
        race = await first.create(settings)
        for sentence in tell_race(race)[:1]:
            say(sentence)
        async with narrated(first, say, _PROGRESS_EVERY):
            await second.join(race.race)
            views = await asyncio.gather(*(_race_once(one, race.race, chance) for one in (first, second)))
    faults = race_faults(views)
    if faults:
        for fault in faults:
            say(fault)
        return Ending.NOT_WELL
    say(_("Checked: both had the same layout, the commitment to the deal is right, and so are the standings."))
    return Ending.WELL


async def _race_once(connection: Connection, race: str, chance: Random) -> RaceView:
    thinker = Thinker()
    try:
        bot = SolverBot(thinker, PACES[BOTS_STRENGTH], Random(chance.random()))  # noqa: S311 - a pace, no secret
        return await race_to_the_end(connection, race, bot)
    finally:
        await thinker.close()


def race_faults(views: list[RaceView]) -> list[str]:
    """What is not as it must be in a race, from the views of all its entrants; a sentence each."""
    faults = []
    for view in views:
        if view.state is not RaceState.OVER or view.standings is None:
            faults.append(_("The race ended as {state}.").format(state=view.state))
            continue
        faults += standings_faults(view.standings)
        if view.verdict is not Verdict.RIGHT:
            faults.append(_(VERDICT_SENTENCES[view.verdict]))
        if view.standings != views[0].standings:
            faults.append(_("The entrants got different standings."))
        if view.dealt is None or views[0].dealt is None or view.dealt.layout != views[0].dealt.layout:
            faults.append(_("The entrants got different layouts."))
        if not any(standing.status is EntrantStatus.WON for standing in view.standings):
            faults.append(_("Nobody won."))
    return list(dict.fromkeys(faults))
