"""What stands on top of every screen while something is wrong with the connection. Pure."""

from __future__ import annotations

from cellrace_client.events import Back, Dropped, Event, Heard, Renamed, Silent
from cellrace_client.language import _
from cellrace_client.terminal.refusals import drop_text


def trouble_after(event: Event, before: str | None) -> str | None:
    """What is wrong after something has happened, in a sentence; None where nothing is."""
    match event:
        case Dropped(code, sentence, _wait):
            return _("{sentence} Coming back …").format(sentence=drop_text(code, sentence))
        case Silent():
            return _("The server does not answer yet.")
        case Back() | Heard() | Renamed():
            return None
        case _:
            return before
