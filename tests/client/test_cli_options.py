"""What several commands show in the same way: what a terminal can take, and where its lines end."""

from __future__ import annotations

import io

import pytest

from cellrace_client.cli.options import can_be_drawn_on, say, shows


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Yes."""
        return True


@pytest.mark.parametrize(("encoding", "shown"), [("utf-8", True), ("ascii", False), ("koi8-u", False)])
def test_signs_are_shown_where_a_locale_has_them(monkeypatch: pytest.MonkeyPatch, encoding: str, shown: bool) -> None:
    """Else a yes and a no would be the same question mark."""
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    assert shows("✓✗") is shown


@pytest.mark.parametrize(("term", "drawn_on"), [("xterm", True), ("dumb", False), (None, False)])
def test_a_dumb_terminal_is_not_drawn_on(monkeypatch: pytest.MonkeyPatch, term: str | None, drawn_on: bool) -> None:
    """Nor is what says nothing of itself, nor a pipe."""
    if term is None:
        monkeypatch.delenv("TERM", raising=False)
    else:
        monkeypatch.setenv("TERM", term)
    monkeypatch.setattr("sys.stdout", Terminal())
    assert can_be_drawn_on() is drawn_on
    monkeypatch.setattr("sys.stdout", io.StringIO())
    assert not can_be_drawn_on()


def test_lines_end_where_the_terminal_does(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Between words, and with nothing that it would obey; in a pipe they are as long as they are."""
    sentence = "One of you starts a server\x1b[2J that the network can reach."
    for width in (30, None):
        monkeypatch.setattr("cellrace_client.terminal.typed_lines.terminal_width", lambda width=width: width)
        say(sentence, "")
        told = capsys.readouterr().out.splitlines()
        assert max(map(len, told)) <= (width or len(sentence))
        assert (len(told) > 2) == (width is not None)
        assert told[-1] == ""
        assert "\x1b" not in "".join(told)
