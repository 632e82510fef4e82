"""What can be done with a player, or a game of theirs, in a list: a profile, a replay, a race against it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import msgspec

from cellrace.messages import Ghost, Player, Replay, SettingsRequest
from cellrace.replay import Written, read_replay
from cellrace_client.language import _
from cellrace_client.terminal.app.desk import Desk
from cellrace_client.terminal.app.film import Film
from cellrace_client.terminal.app.screens.base import DeskScreen
from cellrace_client.terminal.app.screens.dialogs import Choice, Menu
from cellrace_client.terminal.standings_lines import player_text

COUNTDOWN = 3
"""Seconds before a race in which nobody else is waited for."""
_TIME_LIMIT = 1800
"""Seconds, as for other races."""
_MORE_TIME = 60
"""Seconds for which a race goes on after its ghost has ended, if that was later than a race's time limit is."""


def pick_player(screen: DeskScreen, players: Sequence[Player], picked: Callable[[Player], None]) -> None:
    """Asks which of several players; of one there is nothing to ask."""
    if len(players) == 1:
        picked(players[0])
        return
    known = {player.id: player for player in players}
    choices = [Choice(player.id, player_text(player, screen.desk.me)) for player in players]

    def chosen(choice: str | None) -> None:
        if choice is not None:
            picked(known[choice])

    screen.app.push_screen(Menu(_("Which player?"), choices, screen.desk.me), chosen)


def offer(screen: DeskScreen, player: Player, race: str | None) -> None:
    """Offers what can be done with a player, and with the game of a race, if there is one."""
    choices = [Choice("profile", _("Profile"))]
    if race is not None:
        choices += [Choice("replay", _("Watch the replay")), Choice("ghost", _("Race against this game"))]
    title = player_text(player, screen.desk.me)
    screen.app.push_screen(Menu(title, choices), lambda choice: _do(screen, player, race, choice))


def _do(screen: DeskScreen, player: Player, race: str | None, choice: str | None) -> None:
    match choice:
        case "profile":
            screen.desk.guide.show_profile(player.id)
        case "replay" if race is not None:
            screen.ask(show_replay(screen.desk, race, player.id))
        case "ghost" if race is not None:
            screen.ask_to_enter(race_ghost(screen.desk, race, player.id))
        case _:
            pass


async def show_replay(desk: Desk, race: str, player: str) -> None:
    """Goes to the replay of a game. Raises CellraceError."""
    replay = await desk.connection.replay(race, player)
    await show_written(desk, read_replay(msgspec.json.encode(replay)))


async def show_written(desk: Desk, written: Written) -> None:
    """Goes to a replay, wherever it is from. Raises UnknownVariant and UnknownDeal."""
    # A long log takes a while to be played again.
    film = await asyncio.to_thread(Film, written.replay)
    desk.guide.show_replay(written, film)


async def race_ghost(desk: Desk, race: str, player: str) -> None:
    """Opens a race against a finished game, and is ready for it. Raises CellraceError."""
    await race_replay(desk, await desk.connection.replay(race, player))


async def race_replay(desk: Desk, replay: Replay) -> None:
    """The same, of a replay: on its deal, by its rules. Raises CellraceError."""
    settings = SettingsRequest(
        variant=replay.variant,
        seats=1,
        private=True,
        countdown=COUNTDOWN,
        time_limit=max(_TIME_LIMIT, replay.ended // 1000 + _MORE_TIME),
        undo=replay.undo,
        autoplay=replay.autoplay,
        placement=replay.placement,
        ghosts=(Ghost(race=replay.race, player=replay.player),),
    )
    view = await desk.connection.create(settings)
    desk.guide.show_race(view.race)
    await desk.connection.ready(view.race)
