"""What can go wrong between a client and its server.

    CellraceError
    ├── Unreachable     no connection could be made
    ├── Closed          the connection has ended for good; `close_code` says why
    ├── Unanswered      a request got no answer, and repeating it could do it twice
    └── Unclear         what was typed does not say what is to be done

A request that the server refuses raises `cellrace.errors.Refused`.
"""

from __future__ import annotations

from enum import StrEnum

from cellrace.errors import CellraceError
from cellrace.messages import CLOSE_SENTENCES, CloseCode


class Obstacle(StrEnum):
    """What keeps a connection from being made, as far as it is known: what can be done follows from it."""

    ABSENT = "absent"
    BUSY = "busy"
    VERSION = "version"
    UNTRUSTED = "untrusted"


class Unreachable(CellraceError):
    """No connection could be made; `final` where trying again is of no use."""

    def __init__(self, url: str, why: str, *, final: bool = False, obstacle: Obstacle = Obstacle.ABSENT) -> None:
        super().__init__(f"The server at {url} cannot be reached: {why}.")
        self.url = url
        self.why = why
        self.final = final
        self.obstacle = obstacle


class Closed(CellraceError):
    """The connection has ended for good."""

    def __init__(self, close_code: int | None, sentence: str) -> None:
        super().__init__(sentence)
        self.close_code = close_code

    @classmethod
    def by_server(cls, close_code: int | None, reason: str = "") -> Closed:
        """The end that a close code tells."""
        known = next((code for code in CloseCode if code == close_code), None)
        why = CLOSE_SENTENCES[known] if known else reason or "no reason given"
        return cls(close_code, f"The server has closed the connection ({close_code}): {why}.")


class Unanswered(CellraceError):
    """The connection dropped before the answer, and asking again could do it twice."""

    def __init__(self, request: str) -> None:
        super().__init__(f"The connection dropped before {request} was answered; it may or may not have been done.")
        self.request = request


class Unclear(CellraceError):
    """A command was typed that does not say all that it must, or asks for what is not there."""
