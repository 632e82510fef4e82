"""The form of a new race."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cellrace.messages import Ghost, Settings, SettingsRequest, settle
from cellrace_client.terminal.app.settings_form import NAMES, Part, SettingsForm, part_of
from cellrace_client.terminal.app.settings_words import setting_text, settings_lines
from cellrace_client.terminal.race_settings import setting_name


def test_the_form_has_every_setting_of_the_protocol() -> None:
    """None is forgotten when one is added."""
    assert set(NAMES) == set(SettingsRequest.__struct_fields__)
    assert len({setting_name(name) for name in NAMES}) == len(NAMES)


def test_an_untouched_form_asks_for_nothing_but_the_game() -> None:
    """All else follows from the defaults."""
    assert SettingsForm.new("marseille").request() == SettingsRequest(variant="marseille")


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from([-1, 1, "7", "0", "\b"])), max_size=60))
def test_whatever_is_filled_in_can_be_raced_with(steps: list[tuple[str, int | str]]) -> None:
    """Arrows and digits never lead to settings that the server would refuse."""
    form = SettingsForm.new("freecell")
    for name, what in steps:
        if part_of(name) is Part.TEXT:
            continue
        if isinstance(what, int):
            form.change(name, what)
        else:
            form.type(name, what)
    settings = settle(form.request())
    for name in NAMES:
        if name not in ("deal", "ghosts"):
            assert getattr(settings, name) == form.value(name)


def test_numbers_are_typed_and_taken_back() -> None:
    """The first digit begins anew; a number below the least is brought up."""
    form = SettingsForm.new("freecell")
    for digit in "12":
        form.type("seats", digit)
    assert form.number("seats") == 12
    form.type("seats", "\b")
    assert form.number("seats") == 1
    form.type("time_limit", "5")
    assert form.request().time_limit == 10


def test_ghosts_are_named_by_race_and_player() -> None:
    """As many as are typed."""
    form = SettingsForm.new("freecell")
    for char in "r1/Guest 12 r2/p2":
        form.type("ghosts", char)
    assert form.request().ghosts == (Ghost(race="r1", player="Guest 12"), Ghost(race="r2", player="p2"))


def test_a_race_on_a_known_deal_is_not_ranked_in_the_form_either() -> None:
    """Be the deal given or that of ghosts; what was chosen before comes back with a deal that the server draws."""
    form = SettingsForm.new("freecell")
    assert form.value("ranked") is True
    form.change("deal", 1)
    assert form.value("ranked") is False
    form.change("ranked", 1)
    assert form.value("ranked") is False
    assert form.request().ranked is None
    form.change("deal", -1)
    assert form.value("ranked") is True
    for char in "r/p":
        form.type("ghosts", char)
    assert form.value("ranked") is False
    for _char in "r/p":
        form.type("ghosts", "\b")
    assert form.value("ranked") is True


def test_settings_are_told_in_a_few_lines() -> None:
    """With the reserve where there is one."""
    assert len(settings_lines(Settings())) == 3
    assert len(settings_lines(Settings(variant="marseille", deal=5, ranked=False))) == 4
    assert setting_text(7) == "7"
