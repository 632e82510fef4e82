"""The words of the line client: what may be typed, and what a typed line asks for. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from cellrace.errors import BadMessage, InvalidText
from cellrace.messages import SettingsRequest
from cellrace.notation import parse_moves


class Word(NamedTuple):
    """A command: how it is written, and what it does."""

    usage: str
    does: str


WORDS: dict[str, Word] = {
    "help": Word("help [COMMAND]", "tells what can be typed"),
    "list": Word("list [VARIANT]", "lists the open races"),
    "open": Word(
        "open [VARIANT] [SETTING=VALUE …]", "opens a race and enters it; settings as in the protocol: seats=3 undo=no"
    ),
    "join": Word("join RACE or CODE", "enters a race"),
    "ready": Word("ready", "says that you are ready to start"),
    "unready": Word("unready", "takes that back"),
    "start": Word("start", "starts the race without those who are not ready, if you are the host"),
    "kick": Word("kick NAME", "removes somebody from the open race, if you are the host"),
    "leave": Word("leave", "leaves the race; once it has begun that is a forfeit"),
    "concede": Word("concede", "stops playing, to be ranked by your cards home"),
    "forfeit": Word("forfeit", "gives the race up"),
    "undo": Word("undo [N] or u", "takes your last moves back"),
    "board": Word("board", "shows your board"),
    "legal": Word("legal", "lists the moves that the rules allow now"),
    "hint": Word("hint", "suggests a move, where the race is not ranked"),
    "rules": Word("rules [VARIANT]", "tells the rules of the game"),
    "standings": Word("standings", "tells how everybody stands"),
    "race": Word("race", "tells which race you are in, its settings and its deal"),
    "wait": Word("wait", "waits until the race starts, or once it runs, until it is over"),
    "rematch": Word("rematch", "opens or enters the race that follows this one"),
    "quit": Word("quit", "ends the program; a race that runs goes on for its grace period"),
}
"""Every command by its first word."""

ALIASES: dict[str, str] = {
    "?": "help",
    "h": "help",
    "create": "open",
    "again": "rematch",
    "who": "standings",
    "exit": "quit",
    "q": "quit",
}


@dataclass(frozen=True, slots=True)
class Command:
    """A command and what follows it."""

    word: str
    rest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Moves:
    """Moves in the field's notation."""

    moves: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """Neither."""

    sentence: str


def read_line(line: str) -> Command | Moves | Unknown | None:
    """What a line asks for; None for an empty line or a comment."""
    words = line.partition("#")[0].split()
    if not words:
        return None
    word = words[0].lower()
    word = ALIASES.get(word, word)
    if word in WORDS:
        return Command(word, tuple(words[1:]))
    try:
        return Moves(tuple(parse_moves(line)))
    except InvalidText:
        return Unknown(f"{words[0]} is neither a command nor a move; type help.")


def help_lines(about: str | None = None) -> list[str]:
    """What can be typed, or how one command is written."""
    if about is not None:
        word = WORDS.get(ALIASES.get(about.lower(), about.lower()))
        return [f"{word.usage}: {word.does}."] if word else [f"There is no command {about}; type help."]
    return [
        "Moves: source and target, several on a line: 26 from column 2 to column 6, 3a to cell a, b5 from cell b,",
        "7h home, 26v3 three cards to an empty column, r4 from the reserve, u takes the last one back.",
        *(f"{word.usage}: {word.does}." for word in WORDS.values()),
    ]


_YES = ("yes", "true", "on", "1")
_NO = ("no", "false", "off", "0")
_TRUTHS = ("private", "undo", "ranked", "bots")
_NUMBERS = ("deal", "seats", "time_limit", "countdown", "grace")


def read_settings(words: tuple[str, ...]) -> SettingsRequest:
    """The settings of `open`: a game first, if any, then SETTING=VALUE. Raises BadMessage."""
    given: dict[str, str | int | bool] = {}
    for i, word in enumerate(words):
        name, equals, value = word.lower().partition("=")
        name = name.replace("-", "_")
        if not equals:
            if i:
                raise BadMessage(f"{word} is no setting; write it as NAME=VALUE.", word)
            name, value = "variant", word.lower()
        given[name] = _setting(name, value)
    return _convert(given)


def _convert(given: Mapping[str, str | int | bool]) -> SettingsRequest:
    try:
        return msgspec.convert(given, SettingsRequest)
    except msgspec.ValidationError as wrong:
        raise BadMessage(f"These settings cannot be used: {str(wrong).partition(' - at')[0].lower()}.") from None


def _setting(name: str, value: str) -> str | int | bool:
    if name in _TRUTHS:
        if value in _YES + _NO:
            return value in _YES
        raise BadMessage(f"{name} is yes or no.", name)
    if name in _NUMBERS:
        if value.isascii() and value.isdigit() and len(value) < 16:
            return int(value)
        raise BadMessage(f"{name} is a number.", name)
    return value
