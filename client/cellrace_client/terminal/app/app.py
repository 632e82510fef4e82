"""The full-screen client: one connection, and the screen that its player needs now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input

from cellrace.errors import CellraceError
from cellrace.messages import RaceState
from cellrace.replay import Written
from cellrace_client.connection import Connection
from cellrace_client.events import Event, Happened, Lost, Matched, Synced
from cellrace_client.race_view import RaceView
from cellrace_client.terminal.app.desk import Desk, FirstScreen, Rename, Taste
from cellrace_client.terminal.app.film import Film
from cellrace_client.terminal.app.screens.base import DeskScreen, RaceScreen
from cellrace_client.terminal.app.screens.dialogs import lost_question, stop_question
from cellrace_client.terminal.app.screens.ended import EndedScreen
from cellrace_client.terminal.app.screens.lobby import LobbyScreen
from cellrace_client.terminal.app.screens.opening import OpeningScreen
from cellrace_client.terminal.app.screens.profile import ProfileScreen
from cellrace_client.terminal.app.screens.replay import ReplayScreen
from cellrace_client.terminal.app.screens.routing import screen_for
from cellrace_client.terminal.app.screens.watch import WatchScreen
from cellrace_client.terminal.app.trouble import trouble_after
from cellrace_client.terminal.app.typed_ahead import PatientApp
from cellrace_client.terminal.keyboard import latin_by_place
from cellrace_client.terminal.sentences import tell_event

_GROUND = 2
"""So many screens there are where nothing lies over the first of ours: below it is one of Textual's."""


class Outcome(Enum):
    """How the app has ended: for good, to connect again, or by a mistake of its own."""

    LEFT = "left"
    AGAIN = "again"
    FAILED = "failed"


class CellraceApp(PatientApp[Outcome]):
    """A player at the screen."""

    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = None
    TITLE = "cellrace"
    BINDINGS: ClassVar[list[BindingType]] = [
        # Also at a question, where the second one is the answer.
        Binding("ctrl+c,ctrl+q", "leave", show=False, priority=True),
    ]
    CSS = """
    OptionList:nocolor > .option-list--option-highlighted { text-style: reverse; }
    """

    def __init__(
        self,
        connection: Connection,
        *,
        race: str | None = None,
        taste: Taste | None = None,
        now: Callable[[], int] | None = None,
        lasting: bool = True,
        rename: Rename | None = None,
        told: Sequence[str] = (),
        first: FirstScreen | None = None,
    ) -> None:
        super().__init__()
        self._lasting = lasting
        self._told = list(told)
        self.desk = Desk(connection, self, taste or Taste(), now, rename)
        self._first_race, self._first_screen = race, first
        self._race: str | None = None
        self.wear_taste()

    def on_mount(self) -> None:
        """Goes to the first screen, and listens."""
        if self._first_race is not None:
            self.show_race(self._first_race)
        else:
            self.show_lobby()
            if self._first_screen is not None:
                self.enter(self._first_screen(self.desk))
        self.run_worker(self._hear_all(), name="events")
        store = self.desk.taste.store
        if told := [*self._told, *([store.trouble] if store is not None and store.trouble else [])]:
            # After what the screen itself has to say: this is said once and never again.
            self.call_after_refresh(self.call_after_refresh, self.say, " ".join(told))

    async def deal_with(self, event: events.Event) -> None:
        """A key counts by its place: nobody has to leave a Cyrillic layout, but where text is typed."""
        if isinstance(event, events.Key) and event.character and not isinstance(self.focused, Input):
            letter = latin_by_place(event.character)
            event = event if letter == event.character else events.Key(letter, letter)
        await super().deal_with(event)

    # --- what happens

    async def _hear_all(self) -> None:
        try:
            async for event in self.desk.connection.events():
                self._hear(event)
        except CellraceError as ended:
            self.push_screen(EndedScreen(ended), self._ended)

    def _ended(self, again: bool | None) -> None:
        self.exit(Outcome.AGAIN if again else Outcome.LEFT)

    def _hear(self, event: Event) -> None:
        self.desk.trouble = trouble_after(event, self.desk.trouble)
        match event:
            case Matched(race):
                self._race = race
            case Happened():
                self.desk.hear(event.view)
            case Synced():
                self.desk.hear_anew(event.view.race)
            case _:
                pass
        if self._is_last_of_race(event):
            # There is nothing to be seen of it any more: why is said in the lobby.
            self.show_lobby()
            self.say(" ".join(tell_event(event, self.desk.now())))
            return
        if isinstance(event, Lost):
            return
        if isinstance(event, Happened | Synced) and event.view.race == self._race:
            self._route(event.view)
        if isinstance(screen := self._base, DeskScreen):
            screen.hear(event)

    def _is_last_of_race(self, event: Event) -> bool:
        """Whether the race that is shown is one no more, or not for this player."""
        match event:
            case Lost():
                return event.race in (self._race, self._race_of_ground())
            case Happened() | Synced():
                return event.view.race == self._race and _is_out(event.view, event.before)
            case _:
                return False

    # --- which screen

    @property
    def _base(self) -> DeskScreen | None:
        """The screen beneath all questions."""
        return next((screen for screen in reversed(self.screen_stack) if isinstance(screen, DeskScreen)), None)

    @property
    def _ground(self) -> DeskScreen | None:
        """The screen that all others were entered from, be it shown or not."""
        return next((screen for screen in self.screen_stack if isinstance(screen, DeskScreen)), None)

    def _race_of_ground(self) -> str | None:
        ground = self._ground
        return ground.race if isinstance(ground, RaceScreen) else None

    def _go(self, screen: DeskScreen) -> None:
        while len(self.screen_stack) > _GROUND:
            self.pop_screen()
        if len(self.screen_stack) == _GROUND:
            self.switch_screen(screen)
        else:
            self.push_screen(screen)

    def enter(self, screen: Screen[None]) -> None:
        """Goes to a screen from which there is a way back to the one that is shown."""
        while not isinstance(self.screen, DeskScreen) and len(self.screen_stack) > _GROUND:
            self.pop_screen()
        self.push_screen(screen)

    def show_profile(self, player: str) -> None:
        """Goes to the profile of a player."""
        self.enter(ProfileScreen(self.desk, player))

    def show_replay(self, written: Written, film: Film) -> None:
        """Goes to a replay."""
        self.enter(ReplayScreen(self.desk, written, film))

    def back(self) -> None:
        """Goes back to where a screen was entered from."""
        if len(self.screen_stack) > _GROUND:
            self.pop_screen()
        else:
            self.show_lobby()

    def show_race(self, race: str) -> None:
        """Goes to a race: to the screen that its state asks for."""
        self._race = race
        view = self.desk.view(race)
        if view is not None:
            self._route(view, anew=True)

    def _route(self, told: RaceView, *, anew: bool = False) -> None:
        view = self.desk.view(told.race)
        if view is None or (_is_out(view, told) and not anew):
            # It is lost already, and that is told next.
            return
        if view.state is RaceState.CANCELLED:
            self.show_lobby()
            return
        wanted = screen_for(view)
        # Whoever looks at a profile or a replay meanwhile is left at it.
        ground = self._ground
        if isinstance(ground, WatchScreen) and ground.race == view.race and not anew and not view.playing:
            # Who watches goes on watching, also past the end.
            return
        if not (isinstance(ground, wanted) and isinstance(ground, RaceScreen) and ground.race == view.race):
            self._go(wanted(self.desk, view.race))

    def show_lobby(self) -> None:
        """Goes to the lobby."""
        self._race = None
        self._go(LobbyScreen(self.desk))

    def open_race(self) -> None:
        """Goes to the form of a new race."""
        self._go(OpeningScreen(self.desk))

    def watch_race(self, race: str) -> None:
        """Goes to everybody's boards."""
        self._go(WatchScreen(self.desk, race))

    def stop_watching(self, race: str) -> None:
        """Goes back from the boards: to one's own race, or as a spectator to the lobby."""
        view = self.desk.view(race)
        if view is None or view.me is None:
            self.show_lobby()
            if view is not None and not view.ended and isinstance(lobby := self._base, DeskScreen):
                lobby.ask(self.desk.connection.unwatch(race))
        else:
            self._go(screen_for(view)(self.desk, race))

    def leave_race(self, race: str) -> None:
        """Leaves a race for good, and goes to the lobby."""
        self.show_lobby()
        if isinstance(lobby := self._base, DeskScreen):
            view = self.desk.view(race)
            entrant = view is not None and view.me is not None
            connection = self.desk.connection
            lobby.ask(connection.leave(race) if entrant else connection.unwatch(race))

    def say(self, sentence: str, *, refusal: bool = False) -> None:
        """Says a sentence on the screen that is shown."""
        if (screen := self._base) is not None:
            screen.say_once_there(sentence, refusal=refusal)

    def leave(self) -> None:
        """Ends the program, after asking where a game goes on."""
        view, connected = self.desk.view(self._race) if self._race else None, self.desk.connection.connected
        if not connected and (kept := self.desk.moves_kept):
            question = lost_question(kept)
        elif connected and view is not None and view.playing:
            question = stop_question("leave", view.settings.grace if self._lasting else None)
        else:
            self.exit(Outcome.LEFT)
            return
        self.push_screen(question, lambda sure: self._leave_well() if sure else None)

    def _leave_well(self) -> None:
        self.run_worker(self._leave_once_sent(), name="goodbye")

    async def _leave_once_sent(self) -> None:
        if self.desk.connection.connected:
            await self.desk.send_all()
        self.exit(Outcome.LEFT)

    def action_leave(self) -> None:
        """The same by a key; pressed again at the question it is the answer."""
        if isinstance(self.screen, DeskScreen):
            self.leave()
        else:
            self.exit(Outcome.LEFT)


def _is_out(view: RaceView, before: RaceView | None) -> bool:
    """Whether a race is cancelled, or its player was removed from it."""
    removed = before is not None and before.me is not None and view.me is None
    return removed or view.state is RaceState.CANCELLED
