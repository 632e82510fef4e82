"""The keys and the rules of a game, over whatever is shown: the keys first, as they are what a newcomer lacks."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from cellrace.rules_text import rules_paragraphs
from cellrace.variants import VARIANTS
from cellrace_client.language import _, spoken
from cellrace_client.terminal.app.screens.filled import FilledModal


def key_lines() -> list[tuple[str, str]]:
    """What the keys and the mouse do in play, a line or two each."""
    return [
        (
            _("Letters"),
            _("from and to: 26, 3a, b5, 7h; 26v3 three cards to an empty column; r4 the reserve; u takes back"),
        ),
        (_("Arrows"), _("go; Space picks up and drops; + and - hold more or fewer; h goes home; Esc lets go")),
        (_("Mouse"), _("click a card, then where it goes, or drag it; a double click sends it home")),
        ("F1 ?", _("this page")),
        ("F2", _("a hint, where the race is not ranked; in the lobby another name")),
        ("F3 F5", _("another deck; suits as letters")),
        ("F4", _("moves step by step, or at once")),
        ("Esc", _("the menu: concede, forfeit, to the lobby")),
        ("Ctrl-Z Ctrl-Q", _("to the shell; the end")),
    ]


class RulesScreen(FilledModal[None]):
    """Keys and rules to be read, and away with them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q,enter,question_mark", "dismiss", show=False),
        Binding("down,j", "scroll('down')", show=False),
        Binding("up,k", "scroll('up')", show=False),
        Binding("pagedown,space", "scroll('page_down')", show=False),
        Binding("pageup", "scroll('page_up')", show=False),
        Binding("home", "scroll('home')", show=False),
        Binding("end", "scroll('end')", show=False),
    ]
    DEFAULT_CSS = """
    RulesScreen { align: center middle; }
    RulesScreen > VerticalScroll {
        width: 90%; max-width: 84; height: 90%; border: round $primary; background: $surface; padding: 0 1;
    }
    RulesScreen Static { width: 1fr; height: auto; }
    RulesScreen .rule { margin-top: 1; }
    RulesScreen Horizontal { height: auto; }
    """

    def __init__(self, variant_id: str) -> None:
        super().__init__()
        self._variant = VARIANTS.get(variant_id)

    def compose(self) -> ComposeResult:
        """The keys, a line each, then the rules, a paragraph each."""
        lines = key_lines()
        width = max(cell_len(key) for key, _does in lines) + 2
        with VerticalScroll(can_focus=False) as box:
            box.border_title = Content(_("Keys and rules"))
            box.border_subtitle = Content(_("↑ ↓ read on, Esc back"))
            for key, does in lines:
                with Horizontal():
                    shown = Static(Content.styled(key, "bold $accent"), markup=False)
                    shown.styles.width = width
                    yield shown
                    yield Static(Content(does), markup=False)
            if self._variant is not None:
                for told in rules_paragraphs(self._variant, spoken()):
                    text = Content.styled(told.title, "bold $accent") + Content(f"\n{told.text}")
                    yield Static(text, markup=False, classes="rule")

    def action_scroll(self, way: str) -> None:
        """Reads on, or back."""
        box = self.query_one(VerticalScroll)
        match way:
            case "down":
                box.scroll_relative(y=1, animate=False)
            case "up":
                box.scroll_relative(y=-1, animate=False)
            case "page_down":
                box.scroll_page_down(animate=False)
            case "page_up":
                box.scroll_page_up(animate=False)
            case "home":
                box.scroll_home(animate=False)
            case _:
                box.scroll_end(animate=False)
