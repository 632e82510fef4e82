"""The rules of a game and the keys, over whatever is shown."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from cellrace.rules_text import rules_paragraphs
from cellrace.variants import VARIANTS
from cellrace_client.language import _, spoken


def key_paragraphs() -> list[tuple[str, str]]:
    """What the keys and the mouse do in play."""
    return [
        (
            _("Moves by letters"),
            _(
                "Type where from and where to: 26, 3a, b5, 7h. To an empty column that is one card; type v and a number"
                " after it for more: 26v3. u takes the last move back, r4 lays the reserve out."
            ),
        ),
        (
            _("Moves by arrows"),
            _(
                "Arrows go from pile to pile, space picks up and drops, + and - hold more or fewer cards, h sends"
                " home, Esc lets go."
            ),
        ),
        (
            _("Moves by mouse"),
            _("Click a card, then where it goes, or drag it there; a double click sends it home."),
        ),
        (
            _("Keys"),
            _(
                "F1 or ? these rules, F2 a hint where the race is not ranked, F3 another deck, F4 moves step by step"
                " or at once, Esc the menu, Ctrl-Z to the shell, Ctrl-Q the end."
            ),
        ),
    ]


class RulesScreen(ModalScreen[None]):
    """Rules to be read, and away with them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q,enter,question_mark", "dismiss", show=False),
        Binding("down,j", "scroll('down')", show=False),
        Binding("up,k", "scroll('up')", show=False),
        Binding("pagedown,space", "scroll('page_down')", show=False),
        Binding("pageup", "scroll('page_up')", show=False),
    ]
    DEFAULT_CSS = """
    RulesScreen { align: center middle; }
    RulesScreen > VerticalScroll {
        width: 90%; max-width: 84; height: 90%; border: round $primary; background: $surface; padding: 0 1;
    }
    RulesScreen Static { width: 1fr; margin-bottom: 1; }
    """

    def __init__(self, variant_id: str) -> None:
        super().__init__()
        self._variant = VARIANTS.get(variant_id)

    def compose(self) -> ComposeResult:
        """The rules, a paragraph each, then the keys."""
        paragraphs: list[tuple[str, str]] = []
        if self._variant is not None:
            paragraphs += [(told.title, told.text) for told in rules_paragraphs(self._variant, spoken())]
        with VerticalScroll(can_focus=False) as box:
            box.border_title = Content(_("Rules and keys"))
            box.border_subtitle = Content(_("↑ ↓ read on, Esc back"))
            for title, text in [*paragraphs, *key_paragraphs()]:
                yield Static(Content.styled(title, "bold $accent") + Content(f"\n{text}"), markup=False)

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
            case _:
                box.scroll_page_up(animate=False)
