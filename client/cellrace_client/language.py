"""What is said to people, in their language: every string that a person reads goes through `_` or `n_`.

Strings are English where they stand; `locale/` holds what they are in other languages (docs/languages.md). The language
is chosen once, at the start of the process, so a module that speaks and does nothing else still calls itself pure.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path

LANGUAGES: dict[str, str] = {"en": "English", "uk": "українська", "ru": "русский"}
"""The languages that are spoken here by their codes, each by its own name."""

LOCALE = Path(__file__).with_name("locale")
DOMAIN = "cellrace"

_SOURCE = "en"
_NONE = ("c", "posix")
"""Locales that ask for no language: what is said is as it stands in the source."""

_spoken: NullTranslations = NullTranslations()
_code = _SOURCE


def language_of(locale: str) -> str | None:
    """The language of a locale or a code, `uk` of `uk_UA.UTF-8`; None where it is not spoken here."""
    name = re.split(r"[_.@-]", locale.strip().lower(), maxsplit=1)[0]
    if name in _NONE:
        return _SOURCE
    return name if name in LANGUAGES else None


def language_wanted(environ: Mapping[str, str]) -> str:
    """The language that an environment asks for, as gettext has it: LANGUAGE, LC_ALL, LC_MESSAGES, LANG.

    LANGUAGE is a list, the one preferred first, and is not looked at in the C locale.
    """
    locale = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := environ.get(name))), "")
    wanted = [locale]
    if re.split(r"[.@]", locale.lower(), maxsplit=1)[0] not in _NONE:
        wanted = [*environ.get("LANGUAGE", "").split(":"), locale]
    return next((code for name in wanted if (code := language_of(name))), _SOURCE)


@cache
def _catalogue(code: str) -> NullTranslations:
    if code == _SOURCE:
        return NullTranslations()
    with (LOCALE / code / "LC_MESSAGES" / f"{DOMAIN}.mo").open("rb") as file:
        return GNUTranslations(file)


def translation(lang: str | None) -> NullTranslations:
    """The catalogue of a language, by its code or locale; English, which needs none, where there is no such catalogue.

    Without a language: the one that the environment asks for.
    """
    return _catalogue(_known(lang))


def speak(lang: str | None) -> None:
    """Chooses the language of this process, at its start: by its code or locale, or as the environment asks."""
    global _spoken, _code
    _code = _known(lang)
    _spoken = _catalogue(_code)


def _known(lang: str | None) -> str:
    return language_wanted(os.environ) if lang is None else language_of(lang) or _SOURCE


def spoken() -> NullTranslations:
    """The language that was chosen."""
    return _spoken


def spoken_code() -> str:
    """The code of the language that was chosen."""
    return _code


def _(message: str) -> str:
    """A message in the language that was chosen."""
    return _spoken.gettext(message) if message else ""


def p_(context: str, message: str) -> str:
    """A message of which English has another with the same words; the context says which is meant."""
    return _spoken.pgettext(context, message)


def n_(one: str, many: str, count: int) -> str:
    """The same for a number of things: the form for `count`."""
    return _spoken.ngettext(one, many, count)
