"""Why something cannot be done, or a connection has ended, in the language spoken. Pure.

Errors are English sentences; programs know them by code and reason, and so they are found in the catalogue.
"""

from __future__ import annotations

from cellrace.errors import (
    ERROR_SENTENCES,
    REASON_SENTENCES,
    CellraceError,
    ErrorCode,
    IllegalMove,
    Reason,
    Refused,
    UnknownDeal,
    UnknownVariant,
)
from cellrace.messages import CLOSE_SENTENCES, CloseCode
from cellrace_client.errors import Closed, Unanswered, Unreachable
from cellrace_client.language import _, n_, spoken_code
from cellrace_client.terminal.speech import printable

_MINUTE = 60


def refusal_text(error: CellraceError) -> str:
    """What is refused, or has failed, in a sentence."""
    match error:
        case Refused():
            return _refused_text(error)
        case IllegalMove():
            return reason_text(error.reason)
        case UnknownVariant() if error.known:
            return _("There is no game called {name}; there are {games}.").format(
                name=repr(error.variant), games=", ".join(error.known)
            )
        case UnknownVariant():
            return _("There is no game called {name}.").format(name=repr(error.variant))
        case UnknownDeal():
            return _("There is no deal {number}; deals are numbered 1 to 8589934591.").format(number=error.number)
        case Unreachable():
            return _("The server at {url} cannot be reached: {why}.").format(url=error.url, why=_(error.why))
        case Closed():
            return closing_text(error.close_code, str(error))
        case Unanswered():
            return _("The connection dropped before {request} was answered; it may or may not have been done.").format(
                request=error.request
            )
        case _:
            return _(str(error))


def reason_text(reason: Reason) -> str:
    """Why a move is illegal."""
    return _(REASON_SENTENCES[reason])


def _refused_text(refused: Refused) -> str:
    if refused.reason is not None:
        return reason_text(refused.reason)
    told = _told_text(refused)
    if refused.code == ErrorCode.RATE_LIMITED and refused.retry_after is not None:
        told += " " + _again_text(refused.retry_after)
    return told


def _again_text(ms: int) -> str:
    seconds = -(-ms // 1000)
    if seconds <= _MINUTE:
        return n_("Try again in {count} second.", "Try again in {count} seconds.", seconds).format(count=seconds)
    minutes = -(-seconds // _MINUTE)
    return n_("Try again in {count} minute.", "Try again in {count} minutes.", minutes).format(count=minutes)


def _told_text(refused: Refused) -> str:
    sentence = str(refused)
    told = _(sentence)
    if told != sentence or spoken_code() == "en":
        return told
    # A sentence of the server's own, with names or numbers in it: its code says the same less exactly.
    code = next((code for code in ErrorCode if code == refused.code), None)
    if code is None:
        return sentence
    blamed = f" ({printable(refused.field)})" if code is ErrorCode.BAD_SETTINGS and refused.field else ""
    return _(ERROR_SENTENCES[code]) + blamed


def closing_text(code: int | None, sentence: str) -> str:
    """Why a connection has ended, by its close code; `sentence` is what is said of a code that is not known."""
    known = next((known for known in CloseCode if known == code), None)
    if known is None:
        return _(sentence)
    why = _(CLOSE_SENTENCES[known])
    return _("The server has closed the connection ({code}): {why}.").format(code=code, why=why)


def drop_text(code: int | None, sentence: str) -> str:
    """The same of a connection that comes back by itself, in a few words: nothing is asked of its player."""
    match code:
        case CloseCode.GOING_AWAY:
            return _("The server restarts.")
        case CloseCode.TOO_SLOW:
            return _("This program read too slowly.")
        case CloseCode.LOST_TRACK:
            return _("The server lost track.")
        case None:
            return _(sentence)
        case _:
            return _("Closed by the server ({code}).").format(code=code)
