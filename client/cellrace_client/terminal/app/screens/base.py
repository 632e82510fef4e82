"""What all screens have: a line on top, a line for what is said, a line of keys, and a way to ask the server."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Iterable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widget import Widget

from cellrace.errors import CellraceError
from cellrace_client.events import Dropped, Event, Happened, Lost, Silent, Synced
from cellrace_client.language import _, n_
from cellrace_client.race_view import RaceView
from cellrace_client.terminal.app.desk import Desk, sentence_of
from cellrace_client.terminal.app.screens.filled import FilledScreen
from cellrace_client.terminal.app.screens.rules import RulesScreen
from cellrace_client.terminal.app.widgets.lines import HeadLine, Key, KeyLine, MessageLine
from cellrace_client.terminal.sentences import tell_event_in_a_line


class DeskScreen(FilledScreen[None]):
    """A screen at a player's desk."""

    AUTO_FOCUS = None
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1,question_mark", "rules", show=False),
        Binding("f3", "app.next_deck", show=False),
        Binding("f5", "app.letters", show=False),
        Binding("ctrl+z", "app.suspend_process", show=False),
    ]

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk

    def compose(self) -> ComposeResult:
        """Head, middle, what is said, keys."""
        yield HeadLine(id="head")
        yield from self.middle()
        yield MessageLine(id="message")
        yield KeyLine()

    @property
    def is_here(self) -> bool:
        """Whether the screen is there to show anything: neither still to be filled nor gone already."""
        # A screen that is being taken apart loses its parts one by one, and is not displayed any more.
        return self.is_mounted and self.display and bool(self.query(KeyLine))

    async def on_event(self, event: events.Event) -> None:
        """What was typed ahead is for the question that has come meanwhile."""
        if isinstance(event, events.Key) and self.app.screen is not self:
            event.stop()
            self.app.post_message(events.Key(event.key, event.character))
            return
        await super().on_event(event)

    async def _on_key(self, event: events.Key) -> None:
        # Here and not a message later, at the app: keys that come at once keep their order, bound ones and others.
        if not event._stop_propagation and await self.app._check_bindings(event.key):  # noqa: SLF001 - see above
            event.stop()

    def middle(self) -> Iterable[Widget]:
        """What this screen is for."""
        raise NotImplementedError

    def head(self) -> tuple[str, str]:
        """What stands on top, left and right."""
        raise NotImplementedError

    def keys(self) -> list[Key]:
        """The keys that do something now."""
        raise NotImplementedError

    def look(self) -> None:
        """Shows everything as it is now; called when anything may have changed."""
        if not self.is_here or not self.size.area:
            return
        self.look_at_head()
        self.query_one(KeyLine).put(self.keys())
        self.look_at_middle()

    def look_at_head(self) -> None:
        """Shows the line on top as it is now."""
        if not self.is_here:
            return
        left, right = self.head()
        trouble = self.desk.trouble
        if trouble is not None:
            waiting = self.moves_waiting()
            kept = n_("{count} move is kept.", "{count} moves are kept.", waiting).format(count=waiting)
            left, right = f"{trouble} {kept}" if waiting else trouble, ""
        self.query_one(HeadLine).put(left, right, trouble=trouble is not None)

    def look_at_middle(self) -> None:
        """Shows the middle as it is now."""

    def moves_waiting(self) -> int:
        """How many moves wait for the connection."""
        return 0

    def say(self, sentence: str, *, refusal: bool = False) -> None:
        """Says a sentence below the middle."""
        if self.is_here:
            self.query_one(MessageLine).say(sentence, refusal=refusal)

    def say_once_there(self, sentence: str, *, refusal: bool = False) -> None:
        """Says a sentence as soon as the screen is there: whoever has just been led to it hears why."""
        if self.is_mounted:
            self.say(sentence, refusal=refusal)
        else:
            self.call_after_refresh(self.say, sentence, refusal=refusal)

    def hear(self, event: Event) -> None:
        """Hears what has happened, and says it."""
        # Trouble stands on top for as long as it lasts.
        if not isinstance(event, Dropped | Silent) and (told := tell_event_in_a_line(event, self.desk.now())):
            self.say(told)
        self.look()

    def ask(self, work: Awaitable[object]) -> None:
        """Asks the server; a refusal is told, and the end of the connection where its events are read."""
        # The app's and not this screen's: what is asked goes on when another screen has come.
        self.app.run_worker(self._asked(work), name="request")

    def ask_to_enter(self, work: Coroutine[object, object, None]) -> None:
        """Asks for a race to go to; for no other one until that is answered: who sees nothing happen asks again."""
        if self.desk.entering:
            work.close()
            self.say(_("You have asked for a race; the server has not answered yet."))
        else:
            self.desk.entering = True
            self.ask(self._entered(work))

    async def _entered(self, work: Awaitable[None]) -> None:
        try:
            await work
        finally:
            self.desk.entering = False

    async def _asked(self, work: Awaitable[object]) -> None:
        try:
            await work
        except CellraceError as refused:
            if self.desk.connection.over:
                return
            self.desk.guide.say(sentence_of(refused), refusal=True)
        self.look()

    def on_mount(self) -> None:
        """Shows everything once it is laid out."""
        # Lines have no width before they are laid out.
        self.call_after_refresh(self.look)

    def on_resize(self) -> None:
        """Shows everything in the room that there is now."""
        self.call_after_refresh(self.look)

    def on_screen_resume(self) -> None:
        """Shows everything as it has become meanwhile."""
        self.call_after_refresh(self.look)

    def action_rules(self) -> None:
        """Tells the rules of this game, and the keys."""
        self.app.push_screen(RulesScreen(self.variant_id()))

    def variant_id(self) -> str:
        """The game that this screen is about."""
        return self.desk.variant


class RaceScreen(DeskScreen):
    """A screen about one race."""

    def __init__(self, desk: Desk, race: str) -> None:
        super().__init__(desk)
        self.race = race

    @property
    def view(self) -> RaceView | None:
        """The race as it is known, if it is."""
        return self.desk.view(self.race)

    def variant_id(self) -> str:
        """The game of the race."""
        view = self.view
        return view.settings.variant if view else self.desk.variant

    def is_about(self, event: Event) -> bool:
        """Whether an event is about this race, or about the connection."""
        match event:
            case Happened() | Synced():
                return event.view.race == self.race
            case Lost():
                return event.race == self.race
            case _:
                return True

    def hear(self, event: Event) -> None:
        """Hears what has happened in this race."""
        if self.is_about(event):
            super().hear(event)
