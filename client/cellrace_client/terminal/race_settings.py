"""The settings of a new race in lines: what may be typed, what it asks for, and what it is called. Pure.

What a setting may be is read off the message types, so that none is forgotten when one is added.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum

import msgspec
from msgspec import inspect

from cellrace.messages import Ghost, Settings, SettingsRequest
from cellrace_client.errors import Unclear
from cellrace_client.language import _
from cellrace_client.terminal.competing import table

YES = ("yes", "y", "так", "да", "д")  # Not «т»: it lies where n does.
NO = ("no", "n", "ні", "нет", "н")
_ON = (*YES, "true", "on", "1")
_OFF = (*NO, "false", "off", "0")

_SECONDS = ("time_limit", "countdown", "grace")
_GHOSTS = re.compile(r"[\s,]+(?=[^\s,/]+/)")
"""What stands between two ghosts: their players' names may have spaces."""

Setting = str | int | bool | Enum | tuple[Ghost, ...]


def setting_name(name: str) -> str:
    """What a setting is called."""
    return {
        "variant": _("Game"),
        "deal": _("Deal"),
        "seats": _("Seats"),
        "private": _("By code only"),
        "time_limit": _("Time limit"),
        "countdown": _("Countdown"),
        "grace": _("Grace when offline"),
        "undo": _("Undo"),
        "autoplay": _("Cards go home by themselves"),
        "placement": _("The reserve is laid out"),
        "ends": _("Ends with"),
        "ranked": _("Ranked"),
        "spectate": _("Others see moves"),
        "bots": _("Bots may enter"),
        "ghosts": _("Ghosts"),
    }[name]


def _plain(kind: inspect.Type) -> inspect.Type:
    """The type itself of a field that may be absent, and of one that is described."""
    match kind:
        case inspect.Metadata(type=inner):
            return _plain(inner)
        case inspect.UnionType(types=types):
            return next(_plain(one) for one in types if not isinstance(one, inspect.NoneType))
        case _:
            return kind


def _types(settings: inspect.Type) -> dict[str, inspect.Type]:
    assert isinstance(settings, inspect.StructType), "settings are a message type"
    return {field.name: _plain(field.type) for field in settings.fields}


_TYPES = _types(inspect.type_info(SettingsRequest))


def settings_table() -> list[str]:
    """Every setting but the game, which stands before them: its values, its default, what it is called."""
    rows = [(_("Setting"), _("Values"), _("Default"), "")]
    rows += [(name, _values(name), _default(name), setting_name(name)) for name in _TYPES if name != "variant"]
    return table(rows)


def _values(name: str) -> str:
    match _TYPES[name]:
        case inspect.BoolType():
            return f"{_('yes')}, {_('no')}"
        case inspect.IntType(ge=least, le=greatest):
            return _counted(name, f"{least}–{greatest}")
        case inspect.EnumType(cls=choices):
            return ", ".join(str(choice.value) for choice in choices)
        case _:
            return _("RACE/PLAYER, …")


def _default(name: str) -> str:
    match getattr(Settings(), name):
        case None:
            return _("drawn")
        case bool() as true:
            return _("yes") if true else _("no")
        case int() as number:
            return _counted(name, str(number))
        case Enum(value=value):
            return str(value)
        case _:
            return "–"


def _counted(name: str, number: str) -> str:
    return _("{seconds} s").format(seconds=number) if name in _SECONDS else number


def read_settings(words: tuple[str, ...]) -> SettingsRequest:
    """The settings of `open`: a game first, if any, then SETTING=VALUE. Raises Unclear."""
    typed: dict[str, str] = {}
    name = ""
    for i, word in enumerate(words):
        before, equals, value = word.lower().partition("=")
        if equals:
            name = before.replace("-", "_")
            typed[name] = value
        elif name == "ghosts":
            typed[name] += f" {before}"
        elif i:
            raise Unclear(_("{word} is no setting; write it as NAME=VALUE.").format(word=word))
        else:
            typed["variant"] = before
    return _convert({name: _setting(name, value) for name, value in typed.items()})


def _convert(given: Mapping[str, Setting]) -> SettingsRequest:
    try:
        return msgspec.convert(given, SettingsRequest)
    except msgspec.ValidationError as wrong:
        why = str(wrong).partition(" - at")[0].lower()
        raise Unclear(_("These settings cannot be used: {why}.").format(why=why)) from None


def _setting(name: str, value: str) -> Setting:
    match _TYPES.get(name):
        case None:
            raise Unclear(_("There is no setting {name}; help open names them all.").format(name=name))
        case inspect.BoolType():
            if value not in _ON + _OFF:
                raise Unclear(_("{name} is yes or no.").format(name=name))
            return value in _ON
        case inspect.IntType(ge=least, le=greatest):
            number = int(value) if value.isascii() and value.isdigit() and len(value) < 16 else -1
            if least is None or greatest is None or not least <= number <= greatest:
                told = _("{name} is a number from {least} to {greatest}.")
                raise Unclear(told.format(name=name, least=least, greatest=greatest))
            return number
        case inspect.EnumType(cls=choices):
            if value not in [choice.value for choice in choices]:
                raise Unclear(_("{name} is one of these: {values}.").format(name=name, values=_values(name)))
            return choices(value)
        case inspect.VarTupleType():
            return read_ghosts(value)
        case _:
            return value


def read_ghosts(text: str) -> tuple[Ghost, ...]:
    """The ghosts that are written as RACE/PLAYER, with commas or spaces between them. Raises Unclear."""
    return tuple(map(_ghost, _GHOSTS.split(text.strip(" ,")))) if text.strip(" ,") else ()


def _ghost(word: str) -> Ghost:
    race, slash, player = word.partition("/")
    if not (race and slash and player):
        raise Unclear(_("A ghost is written as RACE/PLAYER, several with commas between them."))
    return Ghost(race=race, player=player)
