"""The line client in Ukrainian and Russian as its users meet it: a whole race through a pipe, on a real server."""

from __future__ import annotations

import re

import pytest

from tests.story.test_client_lines import environment, run, solution_of, url

__all__ = ["environment", "url"]  # Fixtures of the same story in English.

KEPT = {"six", "help", "join", "list", "open", "fly"}
"""The game's id, and what is typed: the only Latin words that remain."""

RACES: dict[str, list[str]] = {
    "uk": [
        "Ви — Ann. Наберіть help, щоб дізнатися, що можна набирати.",
        "fly — не команда й не хід; наберіть help.",
        "Ви не берете участі в перегонах; наберіть list, join або open.",
        "Перегони на відомій роздачі ніколи не рейтингові.",
        "Перегони почалися: Шість на шість, роздача 1.",
        "Роздача саме та, до якої сервер зобов’язався перед стартом.",
        "1a — неможливо. Ця комірка вже зайнята.",
        "Жодного ходу з цього рядка не зроблено.",
        "Хід скасовано.",
        "Ви граєте далі.",
    ],
    "ru": [
        "Вы — Ann. Наберите help, чтобы узнать, что можно набирать.",
        "fly — не команда и не ход; наберите help.",
        "Вы не участвуете в гонке; наберите list, join или open.",
        "Гонка на известной раздаче никогда не бывает рейтинговой.",
        "Гонка началась: Шесть на шесть, раздача 1.",
        "Раздача именно та, к которой сервер обязался перед стартом.",
        "1a — невозможно. Эта ячейка уже занята.",
        "Ни один ход из этой строки не сделан.",
        "Ход отменён.",
        "Вы играете дальше.",
    ],
}
BEGINNINGS: dict[str, tuple[str, ...]] = {
    "uk": ("Перегони почнуться за ", "Ви перемогли за ", "1-ше місце: Ann (ви) — перемога за "),
    "ru": ("Гонка начнётся через ", "Вы победили за ", "1-е место: Ann (вы) — победа за "),
}


@pytest.mark.parametrize("lang", ["uk", "ru"])
async def test_a_whole_race_is_told_in_one_language(lang: str, url: str, environment: dict[str, str]) -> None:
    """Refusals, the start, the board, moves, a question, the win and the standings; --lang goes before the locale."""
    typed = (
        "fly\n26\nopen six-by-six seats=1 deal=1 countdown=0 ranked=yes\n"
        "open six-by-six seats=1 deal=1 countdown=1\nready\nwait\n1a 1a\n1a\nundo\nforfeit\nno\nlegal\nrace\n"
        f"{solution_of('six-by-six', 1)}\n"
    )
    status, said = await run(
        environment | {"LC_ALL": "ru_RU.UTF-8" if lang == "uk" else "uk_UA.UTF-8"},
        *("play", "--plain", "--server", url, "--name", "Ann", "--lang", lang),
        typed=typed,
    )
    assert status == 1, "something was refused"
    lines = said.splitlines()
    for sentence in RACES[lang]:
        assert sentence in lines, said
    for beginning in BEGINNINGS[lang]:
        assert any(line.startswith(beginning) for line in lines), said
    assert [line for line in lines if strange_words(line)] == []


def strange_words(line: str) -> set[str]:
    """The Latin words of a line that are neither kept nor an id, a salt or a commitment, which are longer."""
    return {word for word in re.findall(r"[A-Za-z0-9]+", line) if re.fullmatch(r"[a-z]{3,11}", word)} - KEPT


@pytest.mark.parametrize(("locale", "said"), [("uk_UA.UTF-8", "Помилка: Сервер "), ("ru_RU.UTF-8", "Ошибка: Сервер ")])
async def test_the_locale_is_spoken_without_being_asked(environment: dict[str, str], locale: str, said: str) -> None:
    """Also where there is no server, and no such locale is installed."""
    status, told = await run(environment | {"LC_ALL": locale}, "play", "--plain", "--server", "ws://127.0.0.1:1/ws")
    assert status == 1
    assert told.startswith(said)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rules", "bakers-game", "--lang", "uk"), "Гра Бейкера (bakers-game)"),
        (("rules", "seahaven", "--lang", "ru"), "Башни Сихейвен (seahaven)"),
        (("deal", "marseille", "5", "--lang", "uk"), "Марсель, роздача 5"),
        (("solve", "one-suit", "1", "--lang", "ru"), "просмотрено состояний"),
        (("check", "--deal", "1", "--lang", "uk"), "Усі ходи дозволені."),
    ],
)
async def test_other_commands_speak_too(environment: dict[str, str], arguments: tuple[str, ...], said: str) -> None:
    """Whatever they print for people."""
    status, told = await run(environment, *arguments)
    assert status == 0
    assert said in told


async def test_a_language_that_is_not_spoken_is_refused(environment: dict[str, str]) -> None:
    """As every wrong option is."""
    status, told = await run(environment, "rules", "--lang", "xx")
    assert status == 2
    assert "'en', 'uk', 'ru'" in told
