"""Before the start: who is in the race, who is ready, and the countdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Digits, Static

from cellrace.messages import CountdownPush, Entrant, EntrantStatus, RaceState
from cellrace_client.events import Event, Happened
from cellrace_client.language import _, n_, p_
from cellrace_client.pace import PACES
from cellrace_client.race_view import RaceView
from cellrace_client.terminal.app.clock import until_next_count
from cellrace_client.terminal.app.desk import Desk
from cellrace_client.terminal.app.fitting import fitted, wrapped
from cellrace_client.terminal.app.lobby_lines import strength_text
from cellrace_client.terminal.app.screens.base import RaceScreen
from cellrace_client.terminal.app.screens.dialogs import Choice, Menu, stop_question
from cellrace_client.terminal.app.settings_words import settings_lines
from cellrace_client.terminal.app.widgets.lines import Key
from cellrace_client.terminal.race_lines import invitation
from cellrace_client.terminal.speech import whole_seconds
from cellrace_client.terminal.standings_lines import entrant_text, status_text
from cellrace_client.terminal.titles import game_title

_ORDER = ("settings", "who", "say", "invitation", "countdown")
_AROUND = 13
"""Lines of the screen around the settings, the entrants and the invitation."""


class WaitingScreen(RaceScreen):
    """A race that has not started."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,enter", "ready", show=False),
        Binding("s", "start", show=False),
        Binding("b", "bot", show=False),
        Binding("k", "kick", show=False),
        Binding("escape", "leave_race", show=False),
        Binding("down", "scroll('down')", show=False),
        Binding("up", "scroll('up')", show=False),
        Binding("pagedown", "scroll('page_down')", show=False),
        Binding("pageup", "scroll('page_up')", show=False),
    ]
    DEFAULT_CSS = """
    WaitingScreen #waiting { height: 1fr; padding: 1 2; scrollbar-size-vertical: 1; }
    WaitingScreen #waiting.-low { padding: 0 1; }
    WaitingScreen Static { width: 1fr; height: auto; }
    WaitingScreen #countdown { width: 1fr; text-align: center; color: $accent; height: 3; margin-top: 1; }
    WaitingScreen #say { text-align: center; margin-top: 1; }
    WaitingScreen #invitation { text-align: center; }
    WaitingScreen .-low #say { text-align: left; margin: 0; text-style: bold; color: $accent; }
    WaitingScreen .-low #countdown { display: none; }
    WaitingScreen .-low #invitation { text-align: left; margin-top: 1; }
    WaitingScreen .-low #settings { margin-top: 1; }
    """

    def __init__(self, desk: Desk, race: str) -> None:
        super().__init__(desk, race)
        self._counting: Timer | None = None
        self._low = False

    def hear(self, event: Event) -> None:
        """The countdown is seen, and need not be said too."""
        if isinstance(event, Happened) and isinstance(event.push, CountdownPush):
            self.look()
        else:
            super().hear(event)

    def middle(self) -> Iterable[Widget]:
        """What is raced, who is there, and the countdown."""
        with VerticalScroll(id="waiting", can_focus=False):
            yield Static(markup=False, id="settings")
            yield Static(markup=False, id="who")
            yield Static(markup=False, id="say")
            yield Static(markup=False, id="invitation")
            yield Digits("", id="countdown")

    def head(self) -> tuple[str, str]:
        """The game, and how to come in."""
        view = self.view
        if view is None:
            return "", ""
        code = _("code {code}").format(code=view.code) if view.code else ""
        return game_title(view.settings.variant), code

    def keys(self) -> list[Key]:
        """What can be done now."""
        view = self.view
        if view is None or view.state is not RaceState.OPEN:
            return [Key("F1", "rules", _("rules")), Key("Esc", "leave_race", _("leave"))]
        ready = view.me is not None and view.me.status is EntrantStatus.READY
        keys = [Key(_("Space"), "ready", p_("key", "not ready") if ready else p_("key", "ready"))]
        if view.is_host and view.seated > 1:
            keys += [Key("s", "start", _("start the ready")), Key("k", "kick", _("remove"))]
        if self._has_room(view):
            keys.append(Key("b", "bot", _("add a bot")))
        return [*keys, Key("F1", "rules", _("rules")), Key("Esc", "leave_race", _("leave"))]

    def _has_room(self, view: RaceView) -> bool:
        return view.settings.bots and view.code is not None and view.seated < view.settings.seats

    def look_at_middle(self) -> None:
        """Everything as it is now."""
        view = self.view
        if view is None:
            return
        settings = settings_lines(view.settings)
        invited = invitation(view, self.desk.connection.url) or ()
        self.query_one("#settings", Static).update(Content("\n".join(settings)))
        self.query_one("#invitation", Static).update(Content("\n".join(invited)))
        self.query_one("#invitation", Static).display = bool(invited)
        self._order(view, [*settings, *invited])
        width = max(20, min(60, self.size.width - 4))
        seats = n_("{count} of {seats} seat taken:", "{count} of {seats} seats taken:", view.settings.seats)
        lines = [] if self._low else [Content("")]
        lines.append(Content(seats.format(count=view.seated, seats=view.settings.seats)))
        lines += [_entrant_line(entrant, view, width) for entrant in view.entrants]
        self.query_one("#who", Static).update(Content("\n").join(lines))
        self._count(view)

    def _order(self, view: RaceView, told: Sequence[str]) -> None:
        """First what matters, where there is no room for all: what to press or the countdown, and who is there."""
        width = max(2, self.size.width - 4)
        need = sum(len(wrapped(line, width, self.size.height)) for line in told) + len(view.entrants)
        low = need + _AROUND > self.size.height
        if low == self._low:
            return
        self._low = low
        box = self.query_one("#waiting", VerticalScroll)
        box.set_class(low, "-low")
        order = ["say", "countdown", "who", "invitation", "settings"] if low else list(_ORDER)
        box.sort_children(key=lambda child: order.index(child.id or ""))

    def action_scroll(self, way: str) -> None:
        """Reads on, or back, where there is no room for all."""
        box = self.query_one("#waiting", VerticalScroll)
        match way:
            case "down" | "up":
                box.scroll_relative(y=1 if way == "down" else -1, animate=False)
            case "page_down":
                box.scroll_page_down(animate=False)
            case _:
                box.scroll_page_up(animate=False)

    def _count(self, view: RaceView) -> None:
        """Shows the countdown, and again when its number changes: by the race clock, so for everybody at once."""
        if self._counting is not None:
            self._counting.stop()
            self._counting = None
        digits, told = self.query_one("#countdown", Digits), self.query_one("#say", Static)
        if view.state is RaceState.OPEN or view.start_at is None:
            digits.update("")
            told.update(Content(_said_in_the_open(view)))
            return
        left = view.start_at - self.desk.now()
        count = whole_seconds(left)
        digits.update(str(count))
        starts = f"{_('The race starts in')} {count}" if self._low else _("The race starts in")
        told.update(Content(starts if count else _("The cards are being dealt …")))
        if count:
            self._counting = self.set_timer(until_next_count(left), self._count_on)

    def _count_on(self) -> None:
        if (view := self.view) is not None:
            self._count(view)

    # --- what is done

    def action_ready(self) -> None:
        """Gets ready, or takes that back."""
        view = self.view
        if view is not None and view.me is not None and view.state is RaceState.OPEN:
            self.ask(self.desk.connection.ready(self.race, view.me.status is not EntrantStatus.READY))

    def action_start(self) -> None:
        """Starts with those who are ready, as the host."""
        self.ask(self.desk.connection.start(self.race))

    def action_bot(self) -> None:
        """Calls a bot into a free seat, as strong as is wanted."""
        view = self.view
        if view is not None and view.state is RaceState.OPEN and self._has_room(view):
            choices = [Choice(str(strength), strength_text(strength)) for strength in PACES]
            self.app.push_screen(Menu(_("add a bot"), choices, str(self.desk.strength)), self._call)

    def _call(self, strength: str | None) -> None:
        view = self.view
        if strength is not None and view is not None and view.code is not None:
            self.desk.strength = int(strength)
            self.say(_("A bot is on its way …"))
            self.ask(self.desk.rivals.call(view.code, self.desk.strength))

    def action_kick(self) -> None:
        """Removes somebody, as the host."""
        view = self.view
        rivals = [] if view is None else [rival for rival in view.rivals if not rival.ghost]
        if view is not None and view.is_host and rivals and view.state is RaceState.OPEN:
            choices = [Choice(rival.player.id, entrant_text(rival, view.player)) for rival in rivals]
            self.app.push_screen(Menu(_("Remove whom?"), choices), self._kick)

    def _kick(self, player: str | None) -> None:
        if player is not None:
            self.ask(self.desk.connection.kick(self.race, player))

    def action_leave_race(self) -> None:
        """Leaves; once the countdown has begun that is a forfeit, and asked about."""
        view = self.view
        if view is not None and view.state is RaceState.COUNTDOWN and view.me is not None:
            self.app.push_screen(stop_question("leave"), lambda sure: self._leave() if sure else None)
        else:
            self._leave()

    def _leave(self) -> None:
        self.desk.guide.leave_race(self.race)


def _entrant_line(entrant: Entrant, view: RaceView, width: int) -> Content:
    words = [status_text(entrant.status)]
    if entrant.player.id == view.host:
        words.append(_("host"))
    if not entrant.online:
        words.append(_("offline"))
    right = ", ".join(words)
    mark = "●" if entrant.status is EntrantStatus.READY else "○"
    line = Content(f" {mark} {fitted(entrant_text(entrant, view.player), width - len(right) - 4)} {right}")
    return line.stylize("$text-success") if entrant.status is EntrantStatus.READY else line


def _said_in_the_open(view: RaceView) -> str:
    if view.me is None:
        return ""
    if view.seated == 1 and view.settings.seats > 1:
        if view.code:
            return _("Tell a friend the code {code}, or press b for a bot.").format(code=view.code)
        return _("Waiting for somebody to come in.")
    if view.me.status is EntrantStatus.READY:
        return _("Waiting for the others to be ready.")
    return _("Press space when you are ready.")
