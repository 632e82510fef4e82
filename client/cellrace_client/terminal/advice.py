"""What a player can do when there is no connection, or none any more. Pure."""

from __future__ import annotations

import ssl

from cellrace.errors import CellraceError, ErrorCode, Refused
from cellrace.messages import CloseCode
from cellrace_client.errors import Closed, Unreachable
from cellrace_client.language import _


def what_to_do(error: CellraceError) -> str:
    """What a player can do about the end of a connection, or where none comes about."""
    if isinstance(error, Unreachable):
        if "HTTP 426" in error.why:
            return _("Install the version of cellrace that the server speaks, or name another server with --server.")
        if "HTTP 503" in error.why or "HTTP 429" in error.why:
            return _("The server is full or too busy: try again in a minute.")
        if isinstance(error.__cause__, ssl.SSLCertVerificationError):
            return _("Ask who runs the server; SSL_CERT_FILE=FILE trusts the certificate in a file.")
        return _("Start a server with: cellrace serve, or name another one with --server.")
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


def what_to_do_again(error: CellraceError) -> str:
    """The same where a key connects again."""
    if not isinstance(error, Refused):
        return what_to_do(error)
    match error.code:
        case ErrorCode.BAD_TOKEN:
            return _("The server knows you no longer, or it is another one. Connect again to play as somebody new.")
        case ErrorCode.BANNED:
            return _("Ask who runs the server.")
        case _:
            return _("Try again; if it happens again, ask who runs the server.")
