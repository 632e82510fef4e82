"""The settings of a new race, as a form that arrows and digits fill in. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from cellrace.autoplay import Autoplay
from cellrace.deals import LAST_DEAL
from cellrace.messages import Ends, Placement, Settings, SettingsRequest, Spectate
from cellrace.variants import VARIANTS
from cellrace_client.terminal.race_settings import read_ghosts

_CHOICES: dict[str, tuple[object, ...]] = {
    "variant": tuple(VARIANTS),
    "private": (False, True),
    "undo": (True, False),
    "autoplay": tuple(Autoplay),
    "placement": tuple(Placement),
    "ends": tuple(Ends),
    "ranked": (True, False),
    "spectate": tuple(Spectate),
    "bots": (True, False),
}
_NUMBERS: dict[str, tuple[int, int, int]] = {
    "deal": (0, LAST_DEAL, 1),
    "seats": (1, 250, 1),
    "time_limit": (10, 86_400, 60),
    "countdown": (0, 60, 1),
    "grace": (15, 3600, 15),
}
"""For each number the least, the greatest, and how far an arrow goes; deal 0 is one that the server draws."""

NAMES: tuple[str, ...] = (
    *("variant", "deal", "seats", "private", "time_limit", "countdown", "grace"),
    *("undo", "autoplay", "placement", "ends", "ranked", "spectate", "bots", "ghosts"),
)

FOLLOWING: tuple[str, ...] = ("ranked",)
"""Those that may follow from others."""


class Part(Enum):
    """How a setting is filled in."""

    CHOICE = "choice"
    NUMBER = "number"
    TEXT = "text"


def part_of(name: str) -> Part:
    """How a setting is filled in."""
    if name in _CHOICES:
        return Part.CHOICE
    return Part.NUMBER if name in _NUMBERS else Part.TEXT


@dataclass
class SettingsForm:
    """What is filled in: values by the names of the settings, ghosts as `RACE/PLAYER` words."""

    values: dict[str, object]
    typing: str | None = None

    @classmethod
    def new(cls, variant: str) -> SettingsForm:
        """A form with the settings that a race has where nothing else is said."""
        settings = Settings(variant=variant)
        values: dict[str, object] = {name: getattr(settings, name) for name in NAMES}
        return cls(values | {"deal": 0, "ghosts": ""})

    @property
    def deal_is_known(self) -> bool:
        """Whether a deal is given, or is that of ghosts: such a race is never ranked."""
        return bool(self.values["deal"]) or bool(str(self.values["ghosts"]).strip())

    def follows(self, name: str) -> bool:
        """Whether a setting follows from others, and cannot be chosen."""
        return name in FOLLOWING and self.deal_is_known

    def value(self, name: str) -> object:
        """A setting as the race will have it."""
        return False if self.follows(name) else self.values[name]

    def change(self, name: str, by: int) -> None:
        """The next value, or the one before; nothing where it follows from others."""
        self.typing = None
        if self.follows(name):
            return
        if name in _CHOICES:
            choices = _CHOICES[name]
            self.values[name] = choices[(choices.index(self.values[name]) + by) % len(choices)]
        elif name in _NUMBERS:
            least, greatest, step = _NUMBERS[name]
            number = self.number(name) + by * step
            # From an odd number to the next round one.
            number -= number % step if number > least and step > 1 else 0
            self.values[name] = max(least, min(greatest, number))

    def number(self, name: str) -> int:
        """The value of a setting that is a number."""
        value = self.values[name]
        return value if isinstance(value, int) else 0

    def type(self, name: str, character: str) -> None:
        """A character typed on a setting: the digits of a number, or text; `\\b` takes the last one away."""
        if name == "ghosts":
            text = str(self.values[name])
            self.values[name] = text[:-1] if character == "\b" else (text + character)[:600]
        elif name in _NUMBERS:
            typed = "" if self.typing != name else str(self.values[name])
            typed = str(self.values[name])[:-1] if character == "\b" else typed + character
            if typed == "" or typed.isdecimal():
                self.typing = name
                self.values[name] = min(_NUMBERS[name][1], int(typed or "0"))

    def settle(self) -> None:
        """Brings what was typed up to the least that is allowed."""
        self.typing = None
        for name, (least, _greatest, _step) in _NUMBERS.items():
            self.values[name] = max(least, self.number(name))

    def request(self) -> SettingsRequest:
        """The settings asked for: only those that are not as they are anyway, so that what follows from others may.

        Raises Unclear.
        """
        self.settle()
        plain = Settings()
        given: dict[str, object] = {
            name: value
            for name, value in self.values.items()
            if name not in ("deal", "ghosts") and (name == "variant" or value != getattr(plain, name))
        }
        if self.values["deal"]:
            given["deal"] = self.values["deal"]
        ghosts = read_ghosts(str(self.values["ghosts"]))
        if ghosts:
            given["ghosts"] = ghosts
        return SettingsRequest(**given)  # type: ignore[arg-type] # each value came from Settings
