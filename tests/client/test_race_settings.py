"""The settings of a new race as they are typed in lines."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellrace.autoplay import Autoplay
from cellrace.messages import Ends, Ghost, Settings, SettingsRequest, settle
from cellrace_client.errors import Unclear
from cellrace_client.language import speak
from cellrace_client.terminal.race_settings import read_ghosts, read_settings, setting_name, settings_table


def test_settings_are_read_as_the_protocol_names_them() -> None:
    """A game first, then NAME=VALUE, in words."""
    words = ("Two-Suit", "seats=3", "undo=no", "time-limit=60", "autoplay=none", "ends=first_win", "deal=7")
    assert read_settings(words) == SettingsRequest(
        variant="two-suit",
        seats=3,
        undo=False,
        time_limit=60,
        autoplay=Autoplay.NONE,
        ends=Ends.FIRST_WIN,
        deal=7,
    )
    assert read_settings(()) == SettingsRequest()
    assert read_settings(("variant=one-suit",)) == SettingsRequest(variant="one-suit")


def test_ghosts_are_named_by_their_race_and_player_whose_name_may_have_spaces() -> None:
    ghosts = (Ghost(race="r1", player="p1"), Ghost(race="r2", player="guest 12"), Ghost(race="r3", player="p3"))
    words = ("freecell", "ghosts=r1/p1,R2/Guest", "12,", "r3/p3", "seats=2")
    assert read_settings(words) == SettingsRequest(variant="freecell", ghosts=ghosts, seats=2)
    assert read_ghosts("r1/p1 r2/guest 12, r3/p3 ") == ghosts
    assert read_ghosts(" ") == ()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("freecell", "seats"), "seats is no setting; write it as NAME=VALUE."),
        (("seats=many",), "seats is a number from 1 to 250."),
        (("seats=0",), "seats is a number from 1 to 250."),
        (("seats=9e9",), "seats is a number from 1 to 250."),
        (("undo=maybe",), "undo is yes or no."),
        (("colour=red",), "There is no setting colour; help open names them all."),
        (("autoplay=banana",), "autoplay is one of these: safe, none."),
        (("ghosts=r1",), "A ghost is written as RACE/PLAYER, several with commas between them."),
        (("ghosts=" + ",".join(f"r{n}/p" for n in range(9)),), "These settings cannot be used:"),
    ],
)
def test_settings_that_are_none_are_refused_by_name_and_with_what_they_may_be(
    words: tuple[str, ...], told: str
) -> None:
    with pytest.raises(Unclear) as unclear:
        read_settings(words)
    assert str(unclear.value).startswith(told)


def test_every_setting_stands_in_the_table_with_its_values_its_default_and_its_name() -> None:
    rows = settings_table()
    assert rows[0].split() == ["Setting", "Values", "Default"]
    assert [row.split()[0] for row in rows[1:]] == list(SettingsRequest.__struct_fields__[1:])
    assert "time_limit  10–86400 s            1800 s   Time limit" in rows
    assert "autoplay    safe, none            safe     Cards go home by themselves" in rows


@pytest.mark.parametrize("lang", ["en", "uk", "ru"])
def test_what_the_table_says_may_be_typed(lang: str) -> None:
    """In each language; and what it calls the default is what the server takes."""
    speak(lang)
    assert all(len(row) <= 80 for row in settings_table())
    for name in SettingsRequest.__struct_fields__:
        assert setting_name(name)
    for name in ("private", "undo", "ranked", "bots"):
        row = next(row for row in settings_table() if row.startswith(name))
        yes, no, default = row.replace(",", "").split()[1:4]
        assert getattr(read_settings((f"{name}={yes}",)), name) is True
        assert getattr(read_settings((f"{name}={no}",)), name) is False
        assert getattr(read_settings((f"{name}={default}",)), name) is getattr(Settings(), name)


@given(st.lists(st.text(max_size=20), max_size=4))
def test_whatever_is_typed_is_settings_or_a_sentence(words: list[str]) -> None:
    with suppress(Unclear):
        assert isinstance(read_settings(tuple(words)), SettingsRequest)


def test_an_empty_line_asks_for_what_a_race_has_anyway() -> None:
    assert settle(read_settings(())) == Settings()
