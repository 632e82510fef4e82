"""Why the store has not taken what was decided: something has come in between."""

from __future__ import annotations

from cellrace_server.core.facts import Stamped


class Behind(Exception):
    """The race has more facts than were decided on: they are `newer`; decide again."""

    def __init__(self, newer: tuple[Stamped, ...]) -> None:
        super().__init__(f"{len(newer)} newer facts")
        self.newer = newer


class Moved(Exception):
    """A log or a connection that the decision rests on has moved on: read the race again."""


class LostTrack(Exception):
    """The store's history is another one than was known here (NODES, 2), or the race is gone: drop what is cached."""


class Superseded(Exception):
    """The connection does not play for its player any more (NODES, 12)."""
