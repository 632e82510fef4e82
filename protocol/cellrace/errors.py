"""Everything that cellrace refuses, as one small tree.

    CellraceError
    ├── InvalidText             a card, move, board or number that cannot be read       bad_message
    ├── UnknownVariant          there is no such game                                    not_found
    ├── UnknownDeal             the number names no deal                                 bad_message
    ├── IllegalMove             the rules of the game say no                             illegal_move
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
    Reason.WRONG_RANK: "The ranks do not follow: the target asks for another card or another number of cards.",
    Reason.NOT_A_RUN: "Those cards are not an ordered run.",
    Reason.WRONG_SUIT: "Columns build in one suit in this game.",
    Reason.WRONG_COLOR: "Columns build in alternating colours in this game.",
    Reason.TOO_MANY_CARDS: "There is not enough free room to carry so many cards.",
}


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
        super().__init__(f"There is no game called {variant!r}; there are {', '.join(known)}.")
        self.variant = variant


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
