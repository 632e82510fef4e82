"""Everything that cellrace refuses, as one small tree.

    CellraceError
    ├── InvalidText             a card, move, board or number that cannot be read       bad_message
    ├── UnknownVariant          there is no such game                                    not_found
    ├── UnknownDeal             the number names no deal                                 bad_message
    ├── IllegalMove             the rules of the game say no                             illegal_move
    ├── BadMessage              a frame that is no message                               bad_message
    └── Refused                 a request that cannot be carried out                     its own `code`

Each error's text is a sentence for a person; programs use `code` and the fields.
"""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """Why a move is illegal, in the order in which the reasons are looked for (protocol, section 5)."""

    ALREADY_WON = "already_won"
    LOG_FULL = "log_full"
    BAD_NOTATION = "bad_notation"
    UNDO_OFF = "undo_off"
    NOTHING_TO_UNDO = "nothing_to_undo"
    NO_SUCH_PILE = "no_such_pile"
    RESERVE_FIRST = "reserve_first"
    SAME_PILE = "same_pile"
    EMPTY_SOURCE = "empty_source"
    CELL_FULL = "cell_full"
    FOUNDATION_ORDER = "foundation_order"
    EMPTY_COLUMN_RULE = "empty_column_rule"
    WRONG_RANK = "wrong_rank"
    NOT_A_RUN = "not_a_run"
    WRONG_SUIT = "wrong_suit"
    WRONG_COLOR = "wrong_color"
    TOO_MANY_CARDS = "too_many_cards"


REASON_SENTENCES: dict[Reason, str] = {
    Reason.ALREADY_WON: "The game is already won; no move can follow.",
    Reason.LOG_FULL: "The log of this game is full; concede or forfeit.",
    Reason.BAD_NOTATION: "That is no move; write a source and a target, as 26, 3a, b5 or 7h.",
    Reason.UNDO_OFF: "Undo is switched off in this race.",
    Reason.NOTHING_TO_UNDO: "There is no move left to take back.",
    Reason.NO_SUCH_PILE: "This game has no such column, cell or reserve.",
    Reason.RESERVE_FIRST: "Lay out the reserve first: r and a column.",
    Reason.SAME_PILE: "Source and target are the same pile.",
    Reason.EMPTY_SOURCE: "There is no card to move.",
    Reason.CELL_FULL: "That cell already holds a card.",
    Reason.FOUNDATION_ORDER: "The card before this one of its suit is not home yet.",
    Reason.EMPTY_COLUMN_RULE: "Only a king may go to an empty column in this game.",
    Reason.WRONG_RANK: "The ranks do not follow, or the card count is wrong.",
    Reason.NOT_A_RUN: "Those cards are not an ordered run.",
    Reason.WRONG_SUIT: "Columns build in one suit in this game.",
    Reason.WRONG_COLOR: "Columns build in alternating colours in this game.",
    Reason.TOO_MANY_CARDS: "There is not enough free room to carry so many cards.",
}


_QUOTED = 40
"""How much of an unknown word an error repeats, characters."""


class CellraceError(Exception):
    """The root of everything that cellrace refuses."""

    code = "internal"


class InvalidText(CellraceError):
    """A card, move, board or layout that cannot be read."""

    code = "bad_message"


class UnknownVariant(CellraceError):
    """There is no game of this name."""

    code = "not_found"

    def __init__(self, variant: str, known: tuple[str, ...]) -> None:
        super().__init__(f"There is no game called {variant[:_QUOTED]!r}; there are {', '.join(known)}.")
        self.variant = variant
        self.known = known


class UnknownDeal(CellraceError):
    """The number names no deal: deals are 1 to 8,589,934,591."""

    code = "bad_message"

    def __init__(self, number: int) -> None:
        super().__init__(f"There is no deal {number}; deals are numbered 1 to 8589934591.")
        self.number = number


class IllegalMove(CellraceError):
    """The rules of the game forbid `move`, the entry at `index` of those that were sent."""

    code = "illegal_move"

    def __init__(self, reason: Reason, move: str, index: int = 0) -> None:
        super().__init__(REASON_SENTENCES[reason])
        self.reason = reason
        self.move = move
        self.index = index


class ErrorCode(StrEnum):
    """What an `error` says, for programs (protocol, sections 1 to 6)."""

    HELLO_FIRST = "hello_first"
    BAD_MESSAGE = "bad_message"
    RATE_LIMITED = "rate_limited"
    RETRY_LATER = "retry_later"
    NO_SUCH_RACE = "no_such_race"
    NOT_FOUND = "not_found"
    BAD_NAME = "bad_name"
    NAME_TAKEN = "name_taken"
    BAD_TOKEN = "bad_token"  # noqa: S105 - a code, no secret
    BANNED = "banned"
    ALREADY_HELLO = "already_hello"
    BAD_SETTINGS = "bad_settings"
    RACE_FULL = "race_full"
    ALREADY_STARTED = "already_started"
    BOTS_NOT_ALLOWED = "bots_not_allowed"
    NOT_ENTRANT = "not_entrant"
    NOT_HOST = "not_host"
    TOO_FEW = "too_few"
    NOT_STARTED = "not_started"
    NOT_RUNNING = "not_running"
    ALREADY_DONE = "already_done"
    NOT_ALLOWED = "not_allowed"
    NOT_OVER = "not_over"
    ALREADY_QUEUED = "already_queued"
    STALE = "stale"
    ILLEGAL_MOVE = "illegal_move"
    ALREADY_ATTEMPTED = "already_attempted"
    TOO_EARLY = "too_early"
    INTERNAL = "internal"


ERROR_SENTENCES: dict[ErrorCode, str] = {
    ErrorCode.HELLO_FIRST: "Say hello first; it is the first message of each connection.",
    ErrorCode.BAD_MESSAGE: "That is no message of this protocol.",
    ErrorCode.RATE_LIMITED: "Too many messages; this one was not carried out.",
    ErrorCode.RETRY_LATER: "The store is in trouble and the outcome is unknown; repeat this request unchanged.",
    ErrorCode.NO_SUCH_RACE: "There is no such race.",
    ErrorCode.NOT_FOUND: "There is no such game, board, date or player.",
    ErrorCode.BAD_NAME: "A name has 2 to 20 characters, without control, bidirectional or invisible ones.",
    ErrorCode.NAME_TAKEN: "Another player has this name.",
    ErrorCode.BAD_TOKEN: "This token belongs to no player.",
    ErrorCode.BANNED: "This player is banned.",
    ErrorCode.ALREADY_HELLO: "This connection has said hello already.",
    ErrorCode.BAD_SETTINGS: "These settings cannot be raced with.",
    ErrorCode.RACE_FULL: "The race has no free seat.",
    ErrorCode.ALREADY_STARTED: "The race is not open any more.",
    ErrorCode.BOTS_NOT_ALLOWED: "This race is for people only.",
    ErrorCode.NOT_ENTRANT: "That player is no entrant of this race.",
    ErrorCode.NOT_HOST: "Only the host of the race may do this.",
    ErrorCode.TOO_FEW: "Too few entrants are ready.",
    ErrorCode.NOT_STARTED: "The race has not started yet.",
    ErrorCode.NOT_RUNNING: "The race is not running any more.",
    ErrorCode.ALREADY_DONE: "Your game in this race is done.",
    ErrorCode.NOT_ALLOWED: "You may not do or see this at present.",
    ErrorCode.NOT_OVER: "The race is not over yet.",
    ErrorCode.ALREADY_QUEUED: "You are waiting in a queue already.",
    ErrorCode.STALE: "The game has another number of log entries than you said; sync and try again.",
    ErrorCode.ILLEGAL_MOVE: "The rules of the game forbid this move.",
    ErrorCode.ALREADY_ATTEMPTED: "You have used today's attempt.",
    ErrorCode.TOO_EARLY: "This is still a secret; ask again later.",
    ErrorCode.INTERNAL: "The server made a mistake; it is not your fault.",
}


class BadMessage(CellraceError):
    """A frame that is no message: it does not decode, or its type or one of its fields is not as it must be.

    `field` is the top-level field to blame, where there is one; `re` the request's id, where it could be read.
    """

    code = "bad_message"

    def __init__(self, sentence: str, field: str | None = None, re: str | int | None = None) -> None:
        super().__init__(sentence)
        self.field = field
        self.re = re


class Refused(CellraceError):
    """A request that is understood and not carried out; the fields are those of the wire's `error`."""

    def __init__(
        self,
        code: ErrorCode,
        sentence: str | None = None,
        *,
        field: str | None = None,
        retry_after: int | None = None,
        index: int | None = None,
        move: str | None = None,
        reason: Reason | None = None,
        seq: int | None = None,
        race: str | None = None,
    ) -> None:
        super().__init__(sentence or (REASON_SENTENCES[reason] if reason else ERROR_SENTENCES[code]))
        self.code: str = code
        self.field = field
        self.retry_after = retry_after
        self.index = index
        self.move = move
        self.reason = reason
        self.seq = seq
        self.race = race
