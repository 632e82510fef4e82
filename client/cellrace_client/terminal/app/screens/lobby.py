"""The lobby: ways into a race on the left, the races there are on the right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList

from cellrace.errors import CellraceError, ErrorCode, Refused
from cellrace.messages import RaceState, SettingsRequest, Summary
from cellrace.variants import VARIANTS
from cellrace_client.language import _
from cellrace_client.pace import PACES
from cellrace_client.race_view import RaceView, newest_going_on, seated
from cellrace_client.terminal.app.desk import Desk
from cellrace_client.terminal.app.fitting import fitted
from cellrace_client.terminal.app.lobby_lines import race_line, strength_text
from cellrace_client.terminal.app.screens.base import DeskScreen
from cellrace_client.terminal.app.screens.boards import BoardsScreen
from cellrace_client.terminal.app.screens.daily import DailyScreen
from cellrace_client.terminal.app.screens.dialogs import Choice, Menu, TextQuestion
from cellrace_client.terminal.app.screens.picking import COUNTDOWN
from cellrace_client.terminal.app.screens.profile import ProfileScreen
from cellrace_client.terminal.app.screens.queue import QueueScreen
from cellrace_client.terminal.app.screens.replays import ReplaysScreen
from cellrace_client.terminal.app.widgets.lines import Key
from cellrace_client.terminal.app.widgets.options import Options
from cellrace_client.terminal.titles import game_title

LIST_EVERY = 3.0
"""Seconds between two looks at the races; the server does not push them."""
_STATES = (RaceState.OPEN, RaceState.COUNTDOWN, RaceState.RUNNING)


class LobbyScreen(DeskScreen):
    """Where a player is between races."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab,shift+tab", "other_list", show=False, priority=True),
        Binding("b", "do('bot')", show=False),
        Binding("q", "do('match')", show=False),
        Binding("d", "do('daily')", show=False),
        Binding("p", "do('practice')", show=False),
        Binding("n", "do('new')", show=False),
        Binding("c", "do('code')", show=False),
        Binding("l", "do('boards')", show=False),
        Binding("m", "do('profile')", show=False),
        Binding("r", "do('replays')", show=False),
        Binding("g", "do('game')", show=False),
        Binding("f2", "rename", show=False),
    ]
    DEFAULT_CSS = """
    LobbyScreen #lists { height: 1fr; }
    LobbyScreen OptionList { height: 1fr; border: round $secondary 50%; background: $surface; padding: 0 1; }
    LobbyScreen OptionList:focus { border: round $primary; }
    LobbyScreen #ways { width: 36; }
    LobbyScreen #races { width: 1fr; }
    LobbyScreen.-narrow #lists { layout: vertical; }
    LobbyScreen.-narrow #ways { width: 1fr; height: auto; max-height: 70%; }
    """
    # Textual's own declaration, `ClassVar[…] | None`, is one that no checker takes for a class variable.
    HORIZONTAL_BREAKPOINTS: ClassVar[list[tuple[int, str]]] = [(0, "-narrow"), (78, "-wide")]  # type: ignore[misc]
    """Side by side as long as a race has its line beside the ways; else one list below the other."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._races: tuple[Summary, ...] | None = None

    def middle(self) -> Iterable[Widget]:
        """Both lists."""
        with Horizontal(id="lists"):
            yield Options(id="ways", markup=False)
            yield Options(id="races", markup=False)

    def head(self) -> tuple[str, str]:
        """Who one is, and where."""
        connection = self.desk.connection
        server = connection.url.partition("://")[2].removesuffix("/ws")
        return _("cellrace: you are {name}").format(name=connection.player.name), server

    def keys(self) -> list[Key]:
        """What can be done now."""
        return [
            Key("Enter", "choose", _("choose")),
            Key("Tab", "other_list", _("races")),
            Key("← →", "change(1)", _("game, bot")),
            Key("F1", "rules", _("rules")),
            Key("F3", "app.next_deck", _("deck")),
            Key("Ctrl-Q", "app.leave", _("quit")),
        ]

    # --- what is shown

    def on_mount(self) -> None:
        """Fills the screen."""
        self.query_one("#ways", OptionList).border_title = Content(_("What now?"))
        self.query_one("#races", OptionList).border_title = Content(_("Races"))
        self.query_one("#ways", OptionList).focus()
        self._show_ways()
        self.run_worker(self._list_races(), name="list")
        self.set_interval(LIST_EVERY, self._list_again)

    def _list_again(self) -> None:
        if self.app.screen is self and self.desk.trouble is None:
            self.run_worker(self._list_races(), name="list")

    async def _list_races(self) -> None:
        try:
            races = await self.desk.connection.list_races()
        except CellraceError:
            # The next look comes by itself, and how a connection ends is told by its events.
            return
        self._races = tuple(sorted((race for race in races if race.state in _STATES), key=_states_order))
        self._show_races()

    def look_at_middle(self) -> None:
        """Both lists as they are now."""
        self._show_ways()
        self._show_races()

    def _ways(self) -> list[tuple[str, str]]:
        going_on = self._going_on()
        ways = [("back", _("Back to your race"))] if going_on is not None else []
        ways += [
            ("bot", _("b  Race a bot")),
            ("match", _("q  Quick match with a stranger")),
            ("daily", _("d  Daily challenge")),
            ("practice", _("p  Practice alone")),
            ("new", _("n  Open a race …")),
            ("code", _("c  Enter a code …")),
            ("boards", _("l  Leaderboards")),
            ("profile", _("m  My profile")),
            ("replays", _("r  Replays")),
            ("game", _("g  Game: {game}").format(game=game_title(self.desk.variant))),
            ("strength", _("   Bot: {strength}").format(strength=strength_text(self.desk.strength))),
            ("name", fitted(_("F2 Name: {name} …").format(name=self.desk.connection.player.name), 32).rstrip()),
        ]
        return ways

    def _show_ways(self) -> None:
        ways = self.query_one("#ways", Options)
        ways.fill((name, Content(text)) for name, text in self._ways())

    def _show_races(self) -> None:
        # The list may come when its screen has been left, and is being taken apart.
        if self._races is None or not self.is_here:
            return
        races = self.query_one("#races", Options)
        width = max(20, races.content_size.width - 2)
        lines = [(race.race, Content(race_line(race, width))) for race in self._races]
        races.border_subtitle = Content("" if lines else _("none is open; open one with n"))
        races.fill(lines)

    def _going_on(self) -> RaceView | None:
        return newest_going_on(self.desk.connection.races.values())

    # --- what is done

    def _on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        name = event.option.id or ""
        if event.option_list.id == "ways":
            self.action_do(name)
        else:
            self.ask_to_enter(self._enter(name))

    def action_choose(self) -> None:
        """Does what is marked in the list that has the focus."""
        if isinstance(self.focused, OptionList):
            self.focused.action_select()

    def action_other_list(self) -> None:
        """Goes to the other list."""
        ways, races = self.query_one("#ways", OptionList), self.query_one("#races", OptionList)
        target = races if self.focused is ways and races.option_count else ways
        target.focus()
        if target.highlighted is None:
            target.highlighted = 0

    async def _on_key(self, event: events.Key) -> None:
        if event.key in ("left", "right"):
            event.stop()
            self.action_change(1 if event.key == "right" else -1)

    def action_change(self, by: int) -> None:
        """Takes the next game, or the next strength, where that is marked."""
        ways = self.query_one("#ways", OptionList)
        marked = ways.get_option_at_index(ways.highlighted).id if ways.highlighted is not None else None
        if marked == "strength":
            self.desk.strength = (self.desk.strength - 1 + by) % len(PACES) + 1
        else:
            games = list(VARIANTS)
            self.desk.variant = games[(games.index(self.desk.variant) + by) % len(games)]
        self._show_ways()

    def action_do(self, what: str) -> None:
        """Does one of the things on the left."""
        match what:
            case "back":
                if (view := self._going_on()) is not None:
                    self.desk.guide.show_race(view.race)
            case "match":
                self.desk.guide.enter(QueueScreen(self.desk))
            case "daily":
                self.desk.guide.enter(DailyScreen(self.desk))
            case "boards":
                self.desk.guide.enter(BoardsScreen(self.desk))
            case "profile":
                self.desk.guide.enter(ProfileScreen(self.desk))
            case "replays":
                self.desk.guide.enter(ReplaysScreen(self.desk))
            case "bot":
                self.ask_to_enter(self._race_a_bot())
            case "practice":
                self.ask_to_enter(self._practice())
            case "new":
                self.desk.guide.open_race()
            case "code":
                self.app.push_screen(TextQuestion(_("The code of the race:"), 40), self._code_typed)
            case "game":
                choices = [Choice(name, game_title(name)) for name in VARIANTS]
                self.app.push_screen(Menu(_("Game"), choices, self.desk.variant), self._game_chosen)
            case "strength":
                self.action_change(1)
            case "name":
                self.action_rename()
            case _:
                pass

    def action_rename(self) -> None:
        """Asks for another name."""
        self.app.push_screen(TextQuestion(_("What do you want to be called?"), 40), self._name_typed)

    def _name_typed(self, name: str | None) -> None:
        if name is not None and name != self.desk.connection.player.name:
            self.ask(self.desk.rename(name))

    def _game_chosen(self, variant: str | None) -> None:
        if variant is not None:
            self.desk.variant = variant
            self._show_ways()

    def _code_typed(self, code: str | None) -> None:
        if code is not None:
            self.ask_to_enter(self._enter_by_code(code))

    async def _enter(self, race: str) -> None:
        summary = next((known for known in self._races or () if known.race == race), None)
        if summary is not None and (summary.state is not RaceState.OPEN or seated(summary.entrants) >= summary.seats):
            mine = any(entrant.player.id == self.desk.me for entrant in summary.entrants)
            view = self.desk.view(race) if mine else None
            self.desk.guide.show_race((view or await self.desk.connection.watch(race)).race)
            return
        self.desk.guide.show_race((await self.desk.connection.join(race)).race)

    async def _enter_by_code(self, code: str) -> None:
        # Codes are read out and written down: spaces and dashes are how people do that.
        code = "".join(char for char in code if char.isalnum())
        try:
            view = await self.desk.connection.join(code=code)
        except Refused as refused:
            if refused.code not in (ErrorCode.ALREADY_STARTED, ErrorCode.RACE_FULL):
                raise
            view = await self.desk.connection.watch(code=code)
        self.desk.guide.show_race(view.race)

    async def _practice(self) -> None:
        settings = SettingsRequest(variant=self.desk.variant, seats=1, private=True, ranked=False, countdown=0)
        view = await self.desk.connection.create(settings)
        self.desk.guide.show_race(view.race)
        await self.desk.connection.ready(view.race)

    async def _race_a_bot(self) -> None:
        settings = SettingsRequest(variant=self.desk.variant, seats=2, private=True, ranked=False, countdown=COUNTDOWN)
        view = await self.desk.connection.create(settings)
        self.desk.guide.show_race(view.race)
        if view.code is not None:
            await self.desk.rivals.call(view.code, self.desk.strength)
        await self.desk.connection.ready(view.race)


def _states_order(race: Summary) -> int:
    return _STATES.index(race.state)
