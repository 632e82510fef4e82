"""The table of commands and states: as it was agreed on, on the protocol page, and what `decide` goes by."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from cellrace.errors import Refused
from cellrace.messages import EXCHANGES, CancelReason, EntrantStatus, RaceState
from cellrace.protocol_page import read_sections, table
from cellrace_server.core.commands import (
    ALLOWED,
    Begin,
    Command,
    Concede,
    Delay,
    Forfeit,
    Join,
    Kick,
    Leave,
    Rematch,
    SetReady,
    Start,
    Wake,
    decide,
)
from cellrace_server.core.commands_table import REQUESTS, answers, requests_by_state
from cellrace_server.core.facts import Cancelled, Over, Tally
from cellrace_server.core.race import Race, standings
from cellrace_server.protocol_docs import main, whole_page
from tests.server.races import ANN, BEN, CAT, DAN, START, after, begun, done, open_race

ROOT = Path(__file__).parent.parent.parent.parent
PAGE = ROOT / "docs" / "protocol.md"

_RUN = begun(ANN, BEN, CAT)
_FINISHED = done(done(done(_RUN, "ann", EntrantStatus.WON), "ben", EntrantStatus.CONCEDED), "cat", EntrantStatus.WON)

RACES: dict[RaceState, tuple[Race, int]] = {
    RaceState.OPEN: (open_race(ANN, BEN, CAT, ready=True), START - 9_000),
    RaceState.COUNTDOWN: (_RUN, START - 1),
    RaceState.RUNNING: (_RUN, START),
    RaceState.OVER: (after(_FINISHED, Over(standings(_FINISHED))), START + 70_000),
    RaceState.CANCELLED: (after(open_race(ANN, BEN, CAT), Cancelled(CancelReason.UNCHANGED)), START),
}
"""A race in each state, Ann its host, and an instant in that state."""

COMMANDS: dict[type[Command], Command] = {
    Join: Join(DAN),
    Leave: Leave("ben"),
    SetReady: SetReady("ben", True),
    Start: Start("ann", "c"),
    Kick: Kick("ann", "ben"),
    Concede: Concede("ben", Tally()),
    Forfeit: Forfeit("ben", Tally()),
    Begin: Begin("c"),
    Delay: Delay(),
    Rematch: Rematch("ben", "s"),
    Wake: Wake({}, {}),
}
"""Each command from somebody who may give it, so that only the state can refuse it."""


def test_the_table_is_the_one_that_was_agreed_on() -> None:
    shown = table(("command", *RaceState), [(command.__name__, *answers(command)) for command in ALLOWED])
    assert shown == (ROOT / "tests" / "golden" / "commands_by_state.md").read_text("utf-8")


def test_every_command_and_every_state_is_in_the_table() -> None:
    assert set(ALLOWED) == set(get_args(Command)) == set(COMMANDS)
    assert all(list(row) == list(RaceState) for row in ALLOWED.values())


@pytest.mark.parametrize("state", RaceState)
@pytest.mark.parametrize("kind", ALLOWED, ids=lambda kind: kind.__name__)
def test_decide_goes_by_the_table(kind: type[Command], state: RaceState) -> None:
    race, now = RACES[state]
    assert race.state(now) is state
    code = ALLOWED[kind][state]
    if code is None:
        decide(race, COMMANDS[kind], now)
    else:
        with pytest.raises(Refused) as refused:
            decide(race, COMMANDS[kind], now)
        assert refused.value.code == code


def test_every_code_of_the_table_is_one_that_its_request_tells_of() -> None:
    for command, request in REQUESTS.items():
        assert {code for code in ALLOWED[command].values() if code is not None} <= {*EXCHANGES[request].refusals}, (
            command
        )


def test_the_protocol_page_shows_the_table() -> None:
    page = PAGE.read_text("utf-8")
    assert read_sections(page)["commands-by-state"] == requests_by_state().strip(), (
        "run: python -m cellrace_server.protocol_docs docs/protocol.md"
    )
    assert whole_page(page) == page


def test_the_command_writes_the_page_and_keeps_what_others_wrote(tmp_path: Path) -> None:
    page = tmp_path / "protocol.md"
    page.write_text(PAGE.read_text("utf-8").replace("| `race.kick` |", "| `race.throw_out` |"), "utf-8")
    main(str(page))
    assert page.read_text("utf-8") == PAGE.read_text("utf-8")
