"""The end of the connection: why, and what can be done."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from cellrace.errors import CellraceError
from cellrace_client.language import _
from cellrace_client.terminal.advice import what_to_do_again
from cellrace_client.terminal.app.screens.boxed import BOX, BoxedModal
from cellrace_client.terminal.app.widgets.options import Options
from cellrace_client.terminal.refusals import refusal_text
from cellrace_client.terminal.speech import printable


class EndedScreen(BoxedModal[bool]):
    """Tells why the connection has ended; True is to try again."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "answer(False)", show=False),
        Binding("r", "answer(True)", show=False),
    ]
    DEFAULT_CSS = f"""
    EndedScreen {{ align: center middle; }}
    EndedScreen > VerticalScroll {{ {BOX} width: 64; max-width: 100%; border: round $warning; }}
    EndedScreen OptionList, EndedScreen OptionList:focus {{ height: auto; border: none; padding: 0; margin-top: 1; }}
    """

    def __init__(self, error: CellraceError) -> None:
        super().__init__()
        self._error = error

    def compose(self) -> ComposeResult:
        """Why, what to do, and the two ways on."""
        with VerticalScroll(can_focus=False) as box:
            box.border_title = Content(_("The connection has ended"))
            yield Static(Content(printable(refusal_text(self._error))).stylize("bold"), markup=False)
            yield Static(Content(what_to_do_again(self._error)), markup=False)
            yield Options(
                Option(Content(_("q  Quit")), id="quit"),
                Option(Content(_("r  Connect again")), id="again"),
                markup=False,
            )

    def on_mount(self) -> None:
        """Fills the screen."""
        self.query_one(OptionList).focus()

    def _on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(event.option.id == "again")

    def action_answer(self, again: bool) -> None:
        """Answers."""
        self.dismiss(again)
