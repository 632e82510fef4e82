"""How a friend comes into a race, and its settings, as lines."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from cellrace.messages import EntrantStatus, Ghost, Player, RaceKind, RaceState, Settings, Summary
from cellrace_client.language import speak
from cellrace_client.terminal.race_lines import invitation, rematch_sentence, settings_sentences, summary_line
from cellrace_client.terminal.standings_lines import entrant_text
from cellrace_server.core.standins import NAMELESS
from tests.client.views import ANN, BOB, CY, a_view, entrant

CODE = "ABCD2345"
ALONE = {"entrants": (entrant(ANN),), "code": CODE}


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("ws://192.168.1.5:8765/ws", ("A friend types:", f"cellrace play --server 192.168.1.5 --code {CODE}")),
        ("wss://races.example/ws", ("A friend types:", f"cellrace play --server wss://races.example --code {CODE}")),
        ("ws://[fe80::1]:8765/ws", ("A friend types:", f"cellrace play --server '[fe80::1]' --code {CODE}")),
        (
            "ws://localhost:8765/ws",
            (
                "A friend on this machine types:",
                f"cellrace play --server localhost --code {CODE} --profile friend",
            ),
        ),
    ],
)
def test_a_friend_is_told_the_whole_command(url: str, told: tuple[str, str]) -> None:
    """As a shell takes it; on the same machine as another player of it."""
    assert invitation(a_view(**ALONE), url) == told


@pytest.mark.parametrize(
    ("lang", "line"),
    [
        ("en", "r1: Baker's Game, 1 of 2 seats taken: Deleted player."),
        ("uk", "r1: Гра Бейкера, зайнято 1 з 2 місць: Видалений гравець."),
        ("ru", "r1: Игра Бейкера, занято 1 из 2 мест: Удалённый игрок."),
    ],
)
def test_a_race_in_a_list_is_told_with_its_games_name_in_the_language_spoken(lang: str, line: str) -> None:
    """And with what stands for the name of somebody who has been deleted."""
    speak(lang)
    there = entrant(Player(id="gone-1", name=NAMELESS, bot=False))
    gone = entrant(BOB, EntrantStatus.FORFEITED)
    summary = Summary(
        race="r1",
        kind=RaceKind.RACE,
        variant="bakers-game",
        state=RaceState.OPEN,
        seats=2,
        host="gone-1",
        created_at=1,
        entrants=(there, replace(gone, ghost=True)),
    )
    assert summary_line(summary) == line
    assert entrant_text(there, "a") == line.rpartition(": ")[2].rstrip(".")


def test_nobody_is_invited_where_nobody_can_come_in() -> None:
    """Once all seats are taken or the race has begun, or where its code is not known; ghosts take no seat."""
    url = "ws://localhost:8765/ws"
    assert invitation(a_view(code=CODE), url) is None
    assert invitation(a_view(**ALONE | {"state": RaceState.COUNTDOWN}), url) is None
    assert invitation(a_view(**ALONE | {"code": None}), url) is None
    ghosts = (entrant(ANN), entrant(BOB, ghost=True), entrant(CY, ghost=True))
    assert invitation(a_view(entrants=ghosts, code=CODE), url) is not None


def test_all_settings_are_told() -> None:
    """Each in a word or two, and the commitment as soon as there is one."""
    settings = Settings(undo=False, ranked=False, time_limit=900)
    assert settings_sentences(a_view(settings=settings, commitment="c0ffee")) == [
        "Time limit 900 s, countdown 5 s, grace 120 s; undo off, autoplay safe, ends with the last player, not ranked.",
        "Commitment c0ffee.",
    ]


def test_who_wants_a_rematch_is_told_that_it_has_no_ghosts() -> None:
    """The others know what they had: the same settings, and another deal."""
    ghosts = Settings(ghosts=(Ghost(race="r0", player="p"),), deal=617, ranked=False)
    assert rematch_sentence(a_view()) is None
    assert rematch_sentence(a_view(settings=ghosts)) == "A rematch is on a new deal, and without ghosts."
