"""A new race: every setting on a line of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from cellrace_client.language import _
from cellrace_client.terminal.app.clock import clock_text
from cellrace_client.terminal.app.desk import Desk
from cellrace_client.terminal.app.fitting import fitted
from cellrace_client.terminal.app.screens.base import DeskScreen
from cellrace_client.terminal.app.settings_form import FOLLOWING, NAMES, Part, SettingsForm, part_of
from cellrace_client.terminal.app.settings_words import setting_text
from cellrace_client.terminal.app.widgets.lines import Key
from cellrace_client.terminal.app.widgets.options import Options
from cellrace_client.terminal.race_settings import setting_name
from cellrace_client.terminal.titles import game_title


class OpeningScreen(DeskScreen):
    """The form of a new race."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "change(-1)", show=False),
        Binding("right", "change(1)", show=False),
        Binding("enter", "open", show=False, priority=True),
        Binding("escape", "back", show=False),
    ]
    DEFAULT_CSS = """
    OpeningScreen OptionList, OpeningScreen OptionList:focus {
        height: 1fr; border: round $primary; background: $surface; padding: 0 1;
    }
    """

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._form = SettingsForm.new(desk.variant)

    def middle(self) -> Iterable[Widget]:
        """The form."""
        yield Options(*(Option(self._line(name), id=name) for name in NAMES), id="form", markup=False)

    def on_mount(self) -> None:
        """Fills the screen."""
        form = self.query_one("#form", OptionList)
        form.border_title = Content(_("A new race"))
        form.focus()
        form.highlighted = 0

    def head(self) -> tuple[str, str]:
        """What this is."""
        return _("Open a race"), ""

    def keys(self) -> list[Key]:
        """What can be done now."""
        return [
            Key("Enter", "open", _("open the race")),
            Key("← →", "change(1)", _("change")),
            Key("0-9", "change(1)", _("type a number")),
            Key("F1", "rules", _("rules")),
            Key("Esc", "back", _("back")),
        ]

    def variant_id(self) -> str:
        """The game that is chosen."""
        return str(self._form.values["variant"])

    def _line(self, name: str) -> Content:
        value = self._form.value(name)
        match name:
            case "variant":
                text = game_title(str(value))
            case "deal":
                text = str(value) if value else _("drawn by the server")
            case "time_limit":
                text = clock_text(self._form.number(name) * 1000)
                if self._form.typing == name:
                    text = _("{seconds} s").format(seconds=value)
            case "countdown" | "grace":
                text = _("{seconds} s").format(seconds=value)
            case "ghosts":
                text = str(value) or _("none; type RACE/PLAYER")
            case _:
                text = setting_text(value)
        chosen = part_of(name) is not Part.TEXT and not self._form.follows(name)
        arrows = ("‹", "›") if chosen else (" ", " ")
        return Content(f"{fitted(setting_name(name), 28)} {arrows[0]} {text} {arrows[1]}")

    def _show(self, *names: str) -> None:
        form = self.query_one("#form", OptionList)
        for name in names:
            form.replace_option_prompt(name, self._line(name))

    @property
    def _marked(self) -> str:
        form = self.query_one("#form", OptionList)
        return NAMES[form.highlighted or 0]

    def action_change(self, by: int) -> None:
        """The next value of the setting that is marked, or the one before."""
        name = self._marked
        self._form.change(name, by)
        self._show(name, *FOLLOWING)
        self.say(_("A race on a known deal is never ranked.") if self._form.follows(name) else "")

    async def _on_key(self, event: events.Key) -> None:
        name = self._marked
        character = "\b" if event.key == "backspace" else event.character
        if character is None or (character != "\b" and not event.is_printable):
            return
        event.stop()
        event.prevent_default()
        self._form.type(name, character)
        self._show(name, *FOLLOWING)

    def action_open(self) -> None:
        """Opens the race, and enters it."""
        self.ask_to_enter(self._open())

    async def _open(self) -> None:
        request = self._form.request()
        self._show(*NAMES)
        view = await self.desk.connection.create(request)
        self.desk.variant = view.settings.variant
        self.desk.guide.show_race(view.race)

    def action_back(self) -> None:
        """Goes back to the lobby."""
        self.desk.guide.show_lobby()
