"""The table of commands and states in words, for the protocol page."""

from __future__ import annotations

from cellrace.messages import (
    RaceConcede,
    RaceForfeit,
    RaceJoin,
    RaceKick,
    RaceLeave,
    RaceReady,
    RaceRematch,
    RaceStart,
    RaceState,
    Request,
)
from cellrace.messages.base import wire_name
from cellrace.protocol_page import table
from cellrace_server.core.commands import (
    ALLOWED,
    Command,
    Concede,
    Forfeit,
    Join,
    Kick,
    Leave,
    Rematch,
    SetReady,
    Start,
)

REQUESTS: dict[type[Command], type[Request]] = {
    Join: RaceJoin,
    Leave: RaceLeave,
    SetReady: RaceReady,
    Start: RaceStart,
    Kick: RaceKick,
    Concede: RaceConcede,
    Forfeit: RaceForfeit,
    Rematch: RaceRematch,
}
"""The commands that a client can ask for; the others come from the server itself."""

_INTRODUCTION = (
    "Which request is carried out in which state, or the code that refuses it there. What only an entrant or the host\n"
    "may ask is first refused with `not_entrant` or `not_host`; `race.join` of an entrant always succeeds.\n"
)


def requests_by_state() -> str:
    """What a client should know, as a section of the protocol page."""
    rows = [(f"`{wire_name(request)}`", *answers(command)) for command, request in REQUESTS.items()]
    return f"{_INTRODUCTION}\n{table(('request', *RaceState), rows)}"


def answers(command: type[Command]) -> list[str]:
    """What a command gets in each state: yes, or the code that refuses it."""
    return ["yes" if code is None else f"`{code}`" for code in ALLOWED[command].values()]
