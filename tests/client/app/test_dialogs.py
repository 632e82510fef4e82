"""Dialogs in the smallest window: every word of them is there, or can be read on to, in every language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from textual.screen import ModalScreen
from textual.widgets import OptionList

from cellrace.messages import CLOSE_SENTENCES
from cellrace.variants import VARIANTS
from cellrace_client.errors import Closed, Unreachable
from cellrace_client.language import LANGUAGES, _, speak
from cellrace_client.pace import PACES
from cellrace_client.terminal.advice import what_to_do_again
from cellrace_client.terminal.app.lobby_lines import strength_text
from cellrace_client.terminal.app.screens import dialogs, filled
from cellrace_client.terminal.app.screens.base import DeskScreen
from cellrace_client.terminal.app.screens.dialogs import Choice, Menu, TextQuestion, Told, YesNo
from cellrace_client.terminal.app.screens.ended import EndedScreen
from cellrace_client.terminal.app.screens.rules import RulesScreen
from cellrace_client.terminal.refusals import refusal_text
from cellrace_client.terminal.titles import game_title
from tests.client.app.conftest import PATIENCE, House, Screen, alone
from tests.waiting import eventually

SMALLEST = (40, 12)


def all_dialogs() -> Iterator[tuple[ModalScreen[Any], list[str]]]:
    """Every question and list, each with what is to be read in it; the menu of a race comes from its own screen."""
    yes_and_no = [_("Yes (y)"), _("No (n)")]
    asked = [dialogs.stop_question("concede"), dialogs.stop_question("forfeit"), dialogs.stop_question("leave", 120)]
    for question in (*asked, dialogs.stop_question("leave"), *map(dialogs.lost_question, (1, 2, 121))):
        yield question, [question.question, *yes_and_no]
    for game in map(game_title, VARIANTS):
        question = dialogs.begin_question(game)
        yield question, [question.question, _("Begin (y)"), _("Not now (n)")]
    for error in (*map(Closed.by_server, CLOSE_SENTENCES), Unreachable("ws://192.0.2.10:8765/ws", "nobody is there")):
        told = [refusal_text(error), what_to_do_again(error)]
        yield EndedScreen(error), [*told, _("q  Quit"), _("r  Connect again")]
    games = [game_title(variant) for variant in VARIANTS]
    strengths = [strength_text(strength) for strength in PACES]
    player = [_("Profile"), _("Watch the replay"), _("Race against this game")]
    for title, texts in (
        (_("Game"), games),
        (_("add a bot"), strengths),
        (_("Remove whom?"), ["Bob", "Cy (bot)"]),
        (_("Which player?"), ["Bob", "Cy (bot)"]),
        ("Bob", player),
    ):
        yield Menu(title, [Choice(text, text) for text in texts]), [title, *texts]
    for asked_for in (
        *(_("The code of the race:"), _("What do you want to be called?"), _("Save the replay as:")),
        *(_("The number of the deal:"), _("The day, as YYYY-MM-DD:"), _("The file of the replay:")),
        _("RACE PLAYER, by id or name:"),
    ):
        yield TextQuestion(asked_for, 40), [asked_for]
    lines = [" ".join(["word"] * 30), "short"]
    yield Told(_("What was checked"), lines), [_("What was checked"), *lines]


async def opened(screen: Screen, dialog: ModalScreen[Any]) -> None:
    """Waits until a dialog lies over the screen, and is drawn."""
    screen.app.call_later(screen.app.push_screen, dialog)
    await eventually(lambda: screen.app.screen is dialog and bool(dialog.query("*")), PATIENCE)
    await screen.pause()


def read(screen: Screen) -> str:
    """What stands in the box, its lines joined."""
    box = screen.app.screen.children[0].region
    assert box.x >= 0
    assert box.right <= SMALLEST[0], f"the box has no room:\n{screen.text}"
    lines = [line.ljust(SMALLEST[0])[box.x : box.right] for line in screen.text.splitlines()[box.y : box.bottom]]
    return " ".join(re.sub("[│╭╮╰╯─▁▂▃▄▅▆▇█]", " ", " ".join(lines)).split())


def unseen(screen: Screen, texts: list[str]) -> list[str]:
    """What cannot be read now, word for word."""
    seen = read(screen)
    return [text for text in texts if " ".join(text.split()) not in seen]


async def is_all_there(screen: Screen, texts: list[str]) -> None:
    """Every word can be read: at once, but in a list that is longer than the window a page on."""
    missing = unseen(screen, texts)
    if missing and isinstance(screen.app.screen, Menu):
        await screen.press("pagedown")
        missing = unseen(screen, missing)
    assert not missing, f"{missing} cannot be read:\n{screen.text}"


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_every_word_of_a_dialog_can_be_read_in_the_smallest_window(house: House, lang: str) -> None:
    """None is cut at the right, and none is below the window."""
    speak(lang)
    screen = await house.screen(size=SMALLEST)
    for dialog, texts in all_dialogs():
        await opened(screen, dialog)
        await is_all_there(screen, texts)
        screen.app.call_later(dialog.dismiss, None)
        await eventually(lambda: isinstance(screen.app.screen, DeskScreen), PATIENCE)


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_every_word_of_a_races_menu_can_be_read_in_the_smallest_window(house: House, lang: str) -> None:
    speak(lang)
    screen = await house.at_play(alone(), size=SMALLEST)
    await screen.press("escape")
    offered = [str(option.prompt) for option in screen.app.screen.query_one(OptionList).options]
    assert len(offered) == 5
    await is_all_there(screen, offered)


def test_no_dialog_is_forgotten_here() -> None:
    """The rules fill the window and scroll; all others are among those above."""
    known: set[type] = {type(dialog) for dialog, _texts in all_dialogs()} | {RulesScreen}
    made: set[type] = set()
    left: list[type] = [filled.FilledModal]
    while left:
        kinds: list[type] = left.pop().__subclasses__()
        left += kinds
        made |= {kind for kind in kinds if not kind.__subclasses__()}
    assert made == known


async def test_a_dialog_higher_than_the_window_can_be_read_on(house: House) -> None:
    """The answers are seen at once, and the question by a page or the wheel."""
    screen = await house.screen(size=(40, 5))
    await opened(screen, dialogs.stop_question("forfeit"))
    await screen.shows("Yes (y)")
    await screen.press("pageup")
    await screen.shows("Give this race up?")
    await screen.press("pagedown")
    await screen.shows("Yes (y)")
    await screen.press("y")
    assert not isinstance(screen.app.screen, YesNo)
