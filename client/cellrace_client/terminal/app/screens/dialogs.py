"""Small questions over whatever is shown: yes or no, one of several, a line of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from cellrace_client.language import _, n_
from cellrace_client.terminal.app.screens.boxed import BOX, BoxedModal
from cellrace_client.terminal.app.screens.filled import FilledModal
from cellrace_client.terminal.app.widgets.options import Options
from cellrace_client.terminal.speech import printable

LONGEST_PATH = 400
"""Characters of a path that is typed."""


class YesNo(BoxedModal[bool]):
    """Asks before what cannot be taken back; the answer that does no harm is chosen already, unless `yes_first`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", show=False),
        Binding("n,escape", "answer(False)", show=False),
    ]
    DEFAULT_CSS = f"""
    YesNo {{ align: center middle; }}
    YesNo > VerticalScroll {{ {BOX} width: 60; max-width: 100%; }}
    YesNo OptionList, YesNo OptionList:focus {{ height: auto; border: none; padding: 0; }}
    """

    def __init__(self, question: str, yes: str, no: str, *, yes_first: bool = False) -> None:
        super().__init__()
        self.question = question
        self._yes, self._no, self._yes_first = yes, no, yes_first

    def compose(self) -> ComposeResult:
        """The question, and both answers."""
        with VerticalScroll(can_focus=False):
            yield Static(Content(printable(self.question)), markup=False)
            answers = [Option(Content(self._no), id="no"), Option(Content(self._yes), id="yes")]
            yield Options(*(reversed(answers) if self._yes_first else answers), markup=False)

    def on_mount(self) -> None:
        """Fills the screen."""
        self.query_one(OptionList).focus()

    def _on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(event.option.id == "yes")

    def action_answer(self, answer: bool) -> None:
        """Answers."""
        self.dismiss(answer)


class Choice(NamedTuple):
    """One of several: what it is called in the program, and what a person reads."""

    id: str
    text: str


class Menu(FilledModal[str]):
    """Offers several things to do; Esc is none of them."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", show=False)]
    DEFAULT_CSS = f"""
    Menu {{ align: center middle; }}
    Menu > OptionList, Menu > OptionList:focus {{ {BOX} }}
    """

    def __init__(self, title: str, choices: Sequence[Choice], marked: str | None = None) -> None:
        super().__init__()
        # Of those that a server names twice, one.
        self._choices = list({choice.id: choice for choice in choices}.values())
        self._title, self._marked = title, marked

    def compose(self) -> ComposeResult:
        """The choices, one under the other."""
        options = Options(*(Option(Content(printable(text)), id=name) for name, text in self._choices), markup=False)
        options.border_title = Content(printable(self._title))
        yield options

    def on_mount(self) -> None:
        """Fills the screen."""
        options = self.query_one(OptionList)
        options.focus()
        ids = [choice.id for choice in self._choices]
        options.highlighted = ids.index(self._marked) if self._marked in ids else 0

    def _on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(event.option.id)


class Entry(Input):
    """A line to type in; what is pasted comes without anything that a terminal would obey."""

    def insert_text_at_cursor(self, text: str) -> None:
        """Inserts what can be seen of a text."""
        super().insert_text_at_cursor("".join(char for char in text if char.isprintable()))


class TextQuestion(BoxedModal[str]):
    """Asks for a line of text; Esc is no answer."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", show=False)]
    DEFAULT_CSS = f"""
    TextQuestion {{ align: center middle; }}
    TextQuestion > VerticalScroll {{ {BOX} width: 50; max-width: 100%; }}
    """

    def __init__(self, question: str, longest: int, proposed: str = "") -> None:
        super().__init__()
        self._question, self._longest, self._proposed = question, longest, proposed

    def compose(self) -> ComposeResult:
        """The question, and where the answer is typed."""
        with VerticalScroll(can_focus=False):
            yield Static(Content(printable(self._question)), markup=False)
            yield Entry(self._proposed, max_length=self._longest, select_on_focus=False, compact=True)

    def on_mount(self) -> None:
        """Fills the screen."""
        self.query_one(Entry).focus()

    def _on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value.strip() or None)


class Told(BoxedModal[None]):
    """Tells something in lines, until any of the keys that close things is pressed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,space,v,q", "dismiss", show=False),
        Binding("down", "turn(1)", show=False),
        Binding("up", "turn(-1)", show=False),
    ]
    DEFAULT_CSS = f"""
    Told {{ align: center middle; }}
    Told > VerticalScroll {{ {BOX} }}
    Told Static {{ width: auto; max-width: 100%; }}
    """

    def __init__(self, title: str, lines: Sequence[str]) -> None:
        super().__init__()
        self._title, self._lines = title, lines

    def compose(self) -> ComposeResult:
        """The lines in a box."""
        with VerticalScroll(can_focus=False) as box:
            box.border_title = Content(printable(self._title))
            yield Static(Content("\n".join(map(printable, self._lines))), markup=False)

    def on_click(self) -> None:
        """A click closes it too."""
        self.dismiss()


def stop_question(what: str, seconds: int | None = None) -> YesNo:
    """The question before a game is given up: `concede`, `forfeit` or `leave`."""
    match what:
        case "concede":
            question = _("Stop playing? You are then ranked by your cards home.")
        case "leave" if seconds is not None:
            question = _("Your game is not over. Come back within {seconds} s to go on with it. Leave?").format(
                seconds=seconds
            )
        case _:
            question = _("Give this race up? You are then ranked after all who have not.")
    return YesNo(question, _("Yes (y)"), _("No (n)"))


def begin_question(game: str) -> YesNo:
    """The question before somebody begins the day's attempt at a game."""
    question = _(
        "Begin today's attempt at {game}? It is the one that counts: an hour from the moment you see the"
        " cards, whatever happens."
    ).format(game=game)
    return YesNo(question, _("Begin (y)"), _("Not now (n)"), yes_first=True)


def lost_question(moves: int) -> YesNo:
    """The question before somebody leaves whose moves have not reached the server."""
    question = n_(
        "{count} move has not reached the server yet, and is lost if you quit now. Quit?",
        "{count} moves have not reached the server yet, and are lost if you quit now. Quit?",
        moves,
    ).format(count=moves)
    return YesNo(question, _("Yes (y)"), _("No (n)"))
