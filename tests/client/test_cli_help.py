"""The help of every command, as somebody reads it who has never seen one; and Ctrl-C at a question."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from cellrace_client.cli import main

NARROW = 60


def commands(group: click.Group, *words: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command with the words that lead to it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*words, name), command
        if isinstance(command, click.Group):
            yield from commands(command, *words, name)


ALL = list(commands(main))
every_command = pytest.mark.parametrize(("words", "command"), ALL, ids=[" ".join(words) for words, _command in ALL])


@every_command
def test_help_keeps_to_a_narrow_terminal(words: tuple[str, ...], command: click.Command) -> None:
    """But for examples, which are copied as they stand."""
    told = CliRunner().invoke(main, [*words, "--help"], terminal_width=NARROW)
    assert told.exit_code == 0
    long = [line for line in told.stdout.splitlines() if len(line) > NARROW and "cellrace " not in line]
    assert long == [], command.name


@every_command
def test_options_stand_in_the_same_order_with_the_same_words(words: tuple[str, ...], command: click.Command) -> None:
    """What each does is a sentence; the language comes last; a server is told in one way."""
    options = [param for param in command.params if isinstance(param, click.Option)]
    for option in options:
        assert "." in (option.help or ""), f"{words}: {option.name} is not told in a sentence"
        if option.name == "server":
            assert option.metavar == "ADDRESS"
    names = [option.name for option in options if option.expose_value]
    languages = [option for option in options if "--lang" in option.opts]
    assert options[len(names) :] == languages


def test_lists_of_commands_tell_each_in_a_line() -> None:
    """Nothing is cut off."""
    assert (
        "..."
        not in CliRunner().invoke(main, ["admin", "--help"], terminal_width=NARROW).stdout.partition("Commands:")[2]
    )


def test_ctrl_c_at_a_question_ends_a_command_as_anywhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the status that shells have for it; the end of the input is no such thing."""

    def interrupted(_prompt: str) -> str:
        raise KeyboardInterrupt

    words = ["admin", "delete", "Ann"]
    assert CliRunner().invoke(main, words, input="").exit_code == 1
    with CliRunner().isolation():
        monkeypatch.setattr("click.termui.visible_prompt_func", interrupted)
        with pytest.raises(SystemExit) as ended:
            main(words)
    assert ended.value.code == 130
