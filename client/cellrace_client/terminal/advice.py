"""What a player can do when there is no connection, or none any more. Pure."""

from __future__ import annotations

from typing import assert_never

from cellrace.errors import CellraceError, ErrorCode, Refused
from cellrace.messages import CloseCode
from cellrace_client.errors import Closed, Obstacle, Unreachable
from cellrace_client.language import _


def what_to_do(error: CellraceError) -> str:
    """What a player can do about the end of a connection, or where none comes about."""
    if isinstance(error, Unreachable):
        return _what_to_do_there(error.obstacle)
    if isinstance(error, Closed):
        match error.close_code:
            case CloseCode.TAKEN_OVER:
                return _(
                    "You play on elsewhere. Take the game back here, or leave it there. "
                    "Somebody else on this machine needs a --profile of their own."
                )
            case CloseCode.BAD_TOKEN:
                return _("Play as somebody new with --profile and a name that you choose.")
            case CloseCode.BANNED:
                return _("Ask who runs the server.")
            case _:
                return _("Try again; if it happens again, ask who runs the server.")
    return ""


def _what_to_do_there(obstacle: Obstacle) -> str:
    match obstacle:
        case Obstacle.VERSION:
            return _("Install the version of cellrace that the server speaks, or name another server with --server.")
        case Obstacle.BUSY:
            return _("Try again in a minute.")
        case Obstacle.UNTRUSTED:
            return _("Ask who runs the server; SSL_CERT_FILE=FILE trusts the certificate in a file.")
        case Obstacle.ABSENT:
            return _("Start a server with: cellrace serve, or name another one with --server.")
        case never:
            assert_never(never)


def what_to_do_again(error: CellraceError) -> str:
    """The same where a key connects again."""
    if not isinstance(error, Refused):
        return what_to_do(error)
    match error.code:
        case ErrorCode.BAD_TOKEN:
            return _("The server knows you no longer, or it is another one. Connect again to play as somebody new.")
        case ErrorCode.RATE_LIMITED if error.retry_after is not None:
            # How long to wait is told with it.
            return ""
        case ErrorCode.BANNED:
            return _("Ask who runs the server.")
        case _:
            return _("Try again; if it happens again, ask who runs the server.")
