"""People are spoken to in their language: which one, its plural forms, its numbers, and what refuses them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

import click
import pytest

from cellrace.errors import (
    ERROR_SENTENCES,
    REASON_SENTENCES,
    CellraceError,
    ErrorCode,
    IllegalMove,
    InvalidText,
    Reason,
    Refused,
    UnknownDeal,
    UnknownVariant,
)
from cellrace.messages import CloseCode, CountdownPush, DonePush, EntrantStatus, JoinedPush, LeftPush, LeftReason
from cellrace.rules_text import rules_paragraphs
from cellrace.variants import VARIANTS, Variant
from cellrace_client import language
from cellrace_client.cli import main
from cellrace_client.errors import Closed, Unanswered, Unreachable
from cellrace_client.events import Dropped, Happened
from cellrace_client.hearing import hear
from cellrace_client.language import LANGUAGES, language_wanted, n_, speak, translation
from cellrace_client.terminal.commands import Command, Moves, help_lines, read_line, says_no, says_yes
from cellrace_client.terminal.keyboard import latin_by_place
from cellrace_client.terminal.refusals import refusal_text
from cellrace_client.terminal.sentences import tell_event, tell_race
from cellrace_client.terminal.speech import decimal_text, length_text, listed, ordinal
from cellrace_client.terminal.standings_lines import standings_lines
from tests.client.test_sentences import STANDINGS, TOLD, fact
from tests.client.views import CY, a_view

OTHERS = tuple(code for code in LANGUAGES if code != "en")
CYRILLIC = re.compile(r"[а-яіїєґё]", re.IGNORECASE)


every_other = pytest.mark.parametrize("lang", OTHERS)
every_variant = pytest.mark.parametrize("variant", VARIANTS.values(), ids=lambda variant: variant.id)

WANTED: list[tuple[Mapping[str, str], str]] = [
    ({}, "en"),
    ({"LANG": "uk_UA.UTF-8"}, "uk"),
    ({"LANG": "ru_RU.KOI8-R"}, "ru"),
    ({"LANG": "ru"}, "ru"),
    ({"LANG": "de_DE.UTF-8"}, "en"),
    ({"LANG": "uk_UA.UTF-8", "LC_MESSAGES": "ru_RU.UTF-8"}, "ru"),
    ({"LC_ALL": "uk_UA.UTF-8", "LC_MESSAGES": "ru_RU.UTF-8"}, "uk"),
    ({"LC_ALL": "", "LANG": "uk_UA@euro"}, "uk"),
    ({"LC_ALL": "C", "LANG": "uk_UA.UTF-8"}, "en"),
    ({"LC_ALL": "C.UTF-8", "LANGUAGE": "uk"}, "en"),
    ({"LANG": "POSIX", "LANGUAGE": "uk"}, "en"),
    ({"LANG": "en_GB.UTF-8", "LANGUAGE": "uk:ru"}, "uk"),
    ({"LANG": "uk_UA.UTF-8", "LANGUAGE": "de:ru_RU:uk"}, "ru"),
    ({"LANG": "uk_UA.UTF-8", "LANGUAGE": "de:fr"}, "uk"),
    ({"LANG": "uk_UA.UTF-8", "LANGUAGE": "en"}, "en"),
]


@pytest.mark.parametrize(("environ", "code"), WANTED)
def test_the_locale_chooses_as_gettext_has_it(environ: Mapping[str, str], code: str) -> None:
    assert language_wanted(environ) == code


def test_a_language_is_chosen_by_code_locale_or_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not spoken here is English."""
    for lang, code in (("uk", "uk"), ("ru_RU.UTF-8", "ru"), ("de", "en"), ("en", "en")):
        speak(lang)
        assert language.spoken_code() == code
        assert language.spoken() is translation(lang)
    for name in ("LC_ALL", "LC_MESSAGES", "LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "uk_UA.UTF-8")
    speak(None)
    assert language.spoken_code() == "uk"


CARDS = {
    "uk": {1: "1 карта", 2: "2 карти", 5: "5 карт", 11: "11 карт", 12: "12 карт", 21: "21 карта", 22: "22 карти"},
    "ru": {1: "1 карта", 2: "2 карты", 5: "5 карт", 11: "11 карт", 12: "12 карт", 21: "21 карта", 22: "22 карты"},
}
MOVES = {
    "uk": {0: "0 ходів", 1: "1 хід", 3: "3 ходи", 14: "14 ходів", 101: "101 хід", 111: "111 ходів", 104: "104 ходи"},
    "ru": {0: "0 ходов", 1: "1 ход", 3: "3 хода", 14: "14 ходов", 101: "101 ход", 111: "111 ходов", 104: "104 хода"},
}


@every_other
def test_numbers_of_things_have_three_forms(lang: str) -> None:
    speak(lang)
    for count, told in CARDS[lang].items():
        assert n_("{count} card", "{count} cards", count).format(count=count) == told
    for count, told in MOVES[lang].items():
        assert n_("{count} move", "{count} moves", count).format(count=count) == told


SECONDS = {
    "uk": {1: "1 секунду", 3: "3 секунди", 5: "5 секунд", 11: "11 секунд", 21: "21 секунду"},
    "ru": {1: "1 секунду", 3: "3 секунды", 5: "5 секунд", 11: "11 секунд", 21: "21 секунду"},
}


@every_other
def test_a_countdown_is_told_in_the_right_case(lang: str) -> None:
    speak(lang)
    view = a_view()
    for seconds, told in SECONDS[lang].items():
        push = fact(CountdownPush, start_at=seconds * 1000, commitment="c")
        assert told in tell_event(Happened(push, view, hear(view, push).view), 0)[0]


def test_places_are_neuter() -> None:
    """As «місце» and «место» are."""
    numbers = (1, 2, 3, 4, 7, 8, 11, 12, 17, 21, 23, 40, 47, 102, 140)
    speak("uk")
    assert " ".join(map(ordinal, numbers)) == (
        "1-ше 2-ге 3-тє 4-те 7-ме 8-ме 11-те 12-те 17-те 21-ше 23-тє 40-ве 47-ме 102-ге 140-ве"
    )
    speak("ru")
    assert [ordinal(number) for number in numbers] == [f"{number}-е" for number in numbers]


@every_other
def test_times_have_a_decimal_comma(lang: str) -> None:
    speak(lang)
    assert [length_text(ms) for ms in (83, 83_456, 3_600_001)] == ["0,083 с", "1:23,456", "1:00:00,001"]
    assert decimal_text(2.5) == "2,5"


def test_lists_end_with_and() -> None:
    for lang, told in (("uk", "a, b і c"), ("ru", "a, b и c"), ("en", "a, b and c")):
        speak(lang)
        assert listed(["a", "b", "c"]) == told


def test_every_command_that_talks_to_people_can_be_told_the_language() -> None:
    """All but those of whoever runs a server."""
    silent = []
    for name in main.list_commands(click.Context(main)):
        command = main.get_command(click.Context(main), name)
        if command is not None and not any("--lang" in param.opts for param in command.params):
            silent.append(name)
    assert set(silent) <= {"serve", "admin"}, "decorate it with lang_option"


# --- rules


@every_other
@every_variant
def test_rules_are_whole_sentences_in_each_language(variant: Variant, lang: str) -> None:
    """Nothing stays in English but the game's id and what is typed."""
    said = rules_paragraphs(variant, translation(lang))
    plain = rules_paragraphs(variant)
    assert len(said) == len(plain)
    for (title, text), (english_title, _) in zip(said, plain, strict=True):
        assert CYRILLIC.search(title)
        assert title != english_title
        assert text.endswith(".")
        assert not set("{}") & set(text)
        assert "  " not in text
        left = re.findall(r"[A-Za-z]{2,}", text.replace(f"({variant.id})", ""))
        assert set(left) <= {"FreeCell", "ForeCell", "ah"}, text


@every_other
def test_no_two_games_have_the_same_rules(lang: str) -> None:
    told = [
        "\n".join(text for _, text in rules_paragraphs(variant, translation(lang))) for variant in VARIANTS.values()
    ]
    assert len(set(told)) == len(VARIANTS)


@every_other
@every_variant
def test_numbers_of_the_rules_are_those_of_the_game(variant: Variant, lang: str) -> None:
    """Whatever number, rank or column English names, the other language names too."""
    for (_, english), (_, said) in zip(
        rules_paragraphs(variant), rules_paragraphs(variant, translation(lang)), strict=True
    ):
        numbers = set(re.findall(r"\d+", english)) - {"1"}
        assert numbers <= set(re.findall(r"\d+", said)), (english, said)


# --- what happens


@every_other
@pytest.mark.parametrize("number", range(len(TOLD)))
def test_each_push_is_told_in_each_language(number: int, lang: str) -> None:
    """With the same names in as many sentences, and no English left."""
    push, english = TOLD[number]
    before = a_view()
    event = Happened(push, before, hear(before, push).view)
    speak(lang)
    told = tell_event(event, 0)
    assert len(told) == len(english)
    for sentence, plain in zip(told, english, strict=True):
        assert set(re.findall(r"[A-Za-z]+", sentence)) <= {"Ann", "Bob", "Cy", "r2"} | {"r"}, sentence
        for name in ("Bob", "Cy"):
            assert (name in sentence) == (name in plain)


def test_nobody_is_a_man_or_a_woman_by_default() -> None:
    """Verbs about others stand in the present, which has no gender."""
    view = a_view()
    events = [
        fact(JoinedPush, player=CY),
        fact(LeftPush, player="b", reason=LeftReason.LEFT),
        fact(DonePush, player="b", status=EntrantStatus.WON, home=52, time=5250, place=1),
        fact(DonePush, player="b", status=EntrantStatus.FORFEITED, home=3),
    ]
    told = {}
    for lang in OTHERS:
        speak(lang)
        told[lang] = [tell_event(Happened(push, view, hear(view, push).view), 0)[0] for push in events]
    assert told["uk"] == [
        "Входить Cy; зайнято 3 з 2 місць.",
        "Виходить Bob.",
        "Bob перемагає за 5,250 с, поки що 1-ше місце.",
        "Bob знімається з перегонів: вдома 3 карти.",
    ]
    assert told["ru"] == [
        "Входит Cy; занято 3 из 2 мест.",
        "Выходит Bob.",
        "Bob побеждает за 5,250 с, пока 1-е место.",
        "Bob снимается с гонки: дома 3 карты.",
    ]


def test_standings_are_told_with_their_receipts() -> None:
    speak("uk")
    first, second = standings_lines(STANDINGS, "a")
    assert first == (
        "1-ше місце: Bob (бот) — перемога за 1:23,456 (надійшла через 1:23,470, мінус 14 мс затримки), 90 ходів,"
        " 1 скасування."
    )
    assert second == "2-ге місце: Ann (ви) — гру припинено, вдома 30 карт, 1 хід, 0 скасувань, рейтинг 1000 → 990."
    speak("ru")
    assert standings_lines(STANDINGS, "a")[0] == (
        "1-е место: Bob (бот) — победа за 1:23,456 (пришла через 1:23,470, минус 14 мс задержки), 90 ходов, 1 отмена."
    )


def test_a_game_has_the_name_that_its_players_know() -> None:
    speak("uk")
    assert tell_race(a_view())[0].startswith("Перегони r1 відкрито: FreeCell, зайнято ")
    assert language._("Baker's Game") == "Гра Бейкера"
    speak("ru")
    assert language._("Seahaven Towers") == "Башни Сихейвен"


# --- refusals


@every_other
def test_every_refusal_is_told_by_its_code_and_reason(lang: str) -> None:
    """Whatever sentence of its own the server has written, in whatever words."""
    speak(lang)
    for reason in Reason:
        for error in (
            IllegalMove(reason, "26"),
            Refused(ErrorCode.ILLEGAL_MOVE, "Nope, 26.", reason=reason, move="26"),
        ):
            assert refusal_text(error) == language._(REASON_SENTENCES[reason])
            assert CYRILLIC.search(refusal_text(error))
    for code in ErrorCode:
        for sentence in (None, "Nope, not with 7 seats."):
            assert refusal_text(Refused(code, sentence)) == language._(ERROR_SENTENCES[code])
    assert len({refusal_text(Refused(code)) for code in ErrorCode}) == len(ErrorCode)


def test_a_sentence_of_the_servers_own_is_told_where_it_can_be() -> None:
    """In English as it is; in other languages where it is known, else by its code."""
    known = Refused(ErrorCode.BAD_SETTINGS, "A race on a known deal is never ranked.")
    unknown = Refused(ErrorCode.BAD_SETTINGS, "There are no races of 300.")
    assert [refusal_text(known), refusal_text(unknown)] == [str(known), str(unknown)]
    speak("ru")
    assert refusal_text(known) == "Гонка на известной раздаче никогда не бывает рейтинговой."
    assert refusal_text(unknown) == "С такими настройками гонок не бывает."
    blamed = Refused(ErrorCode.BAD_SETTINGS, "There are no races of 300.", field="seats")
    assert refusal_text(blamed) == "С такими настройками гонок не бывает. (seats)"


def test_who_is_to_wait_is_told_how_long() -> None:
    """In what fits: seconds, or minutes."""
    refused = Refused(ErrorCode.RATE_LIMITED, "Too many wrong codes have come from your address.", retry_after=600_000)
    assert refusal_text(refused) == "Too many wrong codes have come from your address. Try again in 10 minutes."
    soon = Refused(ErrorCode.RATE_LIMITED, retry_after=250)
    assert refusal_text(soon) == "Too many messages; this one was not carried out. Try again in 1 second."
    speak("uk")
    assert (
        refusal_text(refused) == "З вашої адреси надійшло забагато неправильних кодів. Спробуйте знову через 10 хвилин."
    )
    speak("ru")
    assert (
        refusal_text(refused) == "С вашего адреса пришло слишком много неверных кодов. Попробуйте снова через 10 минут."
    )


ERRORS: list[CellraceError] = [
    UnknownVariant("spider", ("freecell",)),
    UnknownVariant("spider", ()),
    UnknownDeal(0),
    Unreachable("ws://here/ws", "nothing listens there"),
    Unreachable("ws://here/ws", "it does not answer"),
    Unanswered("daily.practice"),
    Closed(None, "The connection is closed."),
    *(Closed.by_server(code) for code in CloseCode),
]


@pytest.mark.parametrize("error", ERRORS, ids=str)
def test_the_client_tells_its_own_troubles(error: CellraceError) -> None:
    """In English as the error says, in other languages with the same details."""
    if not isinstance(error, UnknownVariant) or error.known:
        assert refusal_text(error) == str(error)
    for lang in OTHERS:
        speak(lang)
        told = refusal_text(error)
        assert CYRILLIC.search(told)
        for detail in ("ws://here/ws", "daily.practice", "spider", "4100", "1001"):
            assert (detail in told) == (detail in str(error))


@every_other
def test_what_is_not_known_is_told_as_it_is(lang: str) -> None:
    speak(lang)
    assert refusal_text(InvalidText("'XX' is no card.")) == "'XX' is no card."
    assert "4999" in refusal_text(Closed.by_server(4999, "somebody pulled the plug"))
    assert tell_event(Dropped(None, "The connection is cut.", 2.5), 0)[0].endswith(" 2,5 с.")


# --- what is typed


def test_commands_stay_and_what_they_do_is_told() -> None:
    speak("uk")
    assert help_lines("ready") == ["ready: повідомляє, що ви готові до старту."]
    assert help_lines("kick") == ["kick ІМ’Я: вилучає когось із відкритих перегонів, якщо ви організатор."]
    assert all(CYRILLIC.search(line) for line in help_lines())


@pytest.mark.parametrize("word", ["yes", "Y", "так", "Так", "да", "д"])
def test_yes_is_yes_in_each_language(word: str) -> None:
    assert says_yes(word)
    assert not says_no(word)


@pytest.mark.parametrize("word", ["no", "N", "ні", "нет", "н"])
def test_no_is_no_in_each_language(word: str) -> None:
    assert says_no(word)
    assert not says_yes(word)


@pytest.mark.parametrize("word", ["т", "н", "", "maybe"])
def test_the_keys_of_y_and_n_never_mean_yes_on_another_layout(word: str) -> None:
    """«т» lies where n does: what may have been a no gives nothing up."""
    assert not says_yes(word)


TYPED = [
    ("26 3ф И5", Moves(("26", "3a", "b5"))),
    ("7р г", Moves(("7h", "u"))),
    ("26м3", Moves(("26v3",))),
    ("куфвн", Command("ready")),
    ("учше", Command("quit")),
    ("лшсл Оля", Command("kick", ("Оля",))),
]


@pytest.mark.parametrize(("line", "asked"), TYPED)
def test_keys_count_by_their_place_on_a_cyrillic_layout(line: str, asked: object) -> None:
    """Moves and commands need no change of layout; names stay as they are."""
    assert read_line(line) == asked


def test_letters_on_both_cyrillic_layouts_are_those_of_the_same_keys() -> None:
    assert list(map(latin_by_place, ("ы", "і", "Ф", "x1"))) == ["s", "s", "A", "x1"]


def test_a_message_that_is_nothing_stays_nothing() -> None:
    """The empty message is gettext's header."""
    for say in (language._, partial(language.p_, "key")):
        speak("uk")
        assert "Project-Id-Version" not in say("")
