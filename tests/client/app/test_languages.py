"""The full screen in Ukrainian and Russian: all of it, and with room for it at 80 columns."""

from __future__ import annotations

import re

import pytest

from cellrace.messages import EntrantStatus, RaceState, SettingsRequest
from cellrace_client.language import speak
from cellrace_client.terminal.app.screens.base import DeskScreen
from tests.client.app.conftest import PATIENCE, House, Screen, alone
from tests.story.solved_games import golden_game
from tests.waiting import eventually

SOLVED = golden_game("freecell", 617, "safe")
KEPT = {"Ann", "Bob", "FreeCell", "freecell", "cellrace", "PORT", "CODECODE", "Esc", "Enter", "Tab", "Ctrl"}
"""Names, a game's id, and what stands on keys: the only Latin words that remain."""


def english_left(text: str) -> set[str]:
    """The Latin words of a screen that should not be there; cards and moves are shorter, commands are the same."""
    return set(re.findall(r"[A-Za-z]{3,}", re.sub("cellrace play .*", "", text))) - KEPT


def keys_without_room(screen: Screen) -> list[str]:
    """The keys of a screen that do not fit into its line."""
    base = screen.app.screen
    assert isinstance(base, DeskScreen)
    line = screen.text.splitlines()[-1]
    keys = base.keys()
    told = [f"{key.shown} {key.does}" for key in keys]
    return [key for key in told if key not in line]


async def is_translated(screen: Screen, golden: str | None = None) -> None:
    """All that stands on the screen, and all keys have room; as the golden screen, where there is one."""
    await screen.pause()
    if golden is not None:
        await screen.is_as(golden)
    assert english_left(screen.text) == set(), screen.text
    if isinstance(screen.app.screen, DeskScreen):
        try:
            await eventually(lambda: not keys_without_room(screen), PATIENCE)
        except AssertionError:
            raise AssertionError(f"{keys_without_room(screen)} have no room:\n{screen.text}") from None


WORDS = {
    "uk": {
        "lobby": ("ви — Ann", "Що далі?", "Перегони", "відкриті"),
        "form": ("Нові перегони", "Зворотний відлік"),
        "waiting": ("Зайнято 3 з 4 місць", "організатор", "чекає на старт"),
        "countdown": ("Перегони почнуться за",),
        "watching": ("Перегляд: FreeCell", "Ходи видно із запізненням"),
        "play": ("роздача 617", "ходів", "вдома"),
        "refusal": ("неможливо",),
        "rules": ("Клавіші й правила", "Мета"),
        "menu": ("Грати далі", "Знятися з перегонів"),
        "standings": ("Перегони завершено", "Гравець", "Ви: гру припинено."),
    },
    "ru": {
        "lobby": ("вы — Ann", "Что дальше?", "Гонки", "открыта"),
        "form": ("Новая гонка", "Обратный отсчёт"),
        "waiting": ("Занято 3 из 4 мест", "организатор", "ждёт старта"),
        "countdown": ("Гонка начнётся через",),
        "watching": ("Просмотр: FreeCell", "Ходы видны с опозданием"),
        "play": ("раздача 617", "ходов", "дома"),
        "refusal": ("невозможно",),
        "rules": ("Клавиши и правила", "Цель"),
        "menu": ("Играть дальше", "Сняться с гонки"),
        "standings": ("Гонка окончена", "Игрок", "Вы: игра прекращена."),
    },
}


@pytest.mark.parametrize("lang", WORDS)
async def test_the_way_into_a_race_is_told_in_one_language(house: House, lang: str) -> None:
    """Lobby, form, waiting for the start as the host, and the countdown."""
    speak(lang)
    words = WORDS[lang]
    bob, cy = await house.player("Bob", bot=True), await house.player("Cy")
    await cy.create(SettingsRequest(variant="eight-off", seats=2))
    screen = await house.screen()
    await screen.shows(*words["lobby"])
    await is_translated(screen, f"lobby-{lang}")
    await screen.press("n")
    await screen.shows(*words["form"])
    await is_translated(screen, f"form-{lang}")
    await screen.press("down", "down", "right", "right", "enter")
    view = await screen.until(lambda view: view.host == view.player and view.state is RaceState.OPEN)
    await bob.join(code=view.code)
    await cy.join(code=view.code)
    await bob.ready(view.race)
    await screen.shows(*words["waiting"])
    await is_translated(screen, f"waiting-{lang}")
    await screen.press("space")
    await screen.until(lambda view: sum(one.status is EntrantStatus.READY for one in view.entrants) == 2)
    await is_translated(screen)
    await cy.ready(view.race)
    await screen.shows(*words["countdown"])
    await is_translated(screen)


@pytest.mark.parametrize("lang", WORDS)
async def test_boards_are_watched_in_one_language(house: House, lang: str) -> None:
    """Late and live, while the race runs and after it."""
    speak(lang)
    bob = await house.player("Bob", bot=True)
    race = (await bob.create(alone(seats=1, spectate="delayed"))).race
    screen = await house.screen()
    await screen.connection.watch(race)
    await screen.go(race)
    await screen.shows(*WORDS[lang]["watching"])
    await is_translated(screen, f"watching-{lang}")
    await bob.ready(race)
    await screen.until(lambda view: view.state is RaceState.RUNNING)
    await is_translated(screen)
    await bob.concede(race)
    await screen.until(lambda view: view.ended)
    await is_translated(screen)


@pytest.mark.parametrize("lang", WORDS)
async def test_a_race_is_told_in_one_language(house: House, lang: str) -> None:
    """The board, a refusal, the rules, the menu and its question, the standings."""
    speak(lang)
    words = WORDS[lang]
    bob = await house.player("Bob", bot=True)
    screen = await house.at_play(alone(seats=2), bob)
    race = next(iter(screen.connection.races))
    await screen.type(" ".join(SOLVED[:20]))
    await screen.shows(*words["play"])
    await is_translated(screen, f"race-{lang}")
    await screen.type("ah")
    await screen.type("1h")
    await screen.shows(*words["refusal"])
    await is_translated(screen)
    await screen.press("f1")
    await screen.shows(*words["rules"])
    await is_translated(screen, f"rules-{lang}")
    await screen.press("escape", "escape")
    await screen.shows(*words["menu"])
    await is_translated(screen)
    await screen.press("escape")
    await bob.move(race, *SOLVED)
    await screen.connection.concede(race)
    await screen.shows(*words["standings"])
    await is_translated(screen, f"standings-{lang}")


async def test_keys_count_by_their_place_on_a_cyrillic_layout(house: House) -> None:
    """In the lobby, in play and at a question; where text is typed letters are what they are."""
    screen = await house.screen()
    await screen.press("т")
    await screen.shows("A new race")
    await screen.press("escape", "с", "Я")
    await screen.shows("The code of the race:", "Я")
    await screen.press("escape", "з")
    view = await screen.until(lambda view: view.playing)
    assert view.settings.seats == 1
    await screen.type("1ф")
    await screen.until(lambda view: view.log == ("1a",))
    await screen.type("г")
    await screen.until(lambda view: view.log == ("1a", "u"))
