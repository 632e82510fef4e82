"""One's own moves in sentences. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cellrace.board import Board
from cellrace.cards import NO_CARD, card_name
from cellrace.errors import IllegalMove, Reason
from cellrace.game import Game
from cellrace.notation import CELL_LETTERS, COLUMN_LETTERS, FIRST_CELL, HOME, RESERVE, UNDO, parse_move
from cellrace_client.language import _, n_, p_
from cellrace_client.terminal.refusals import reason_text
from cellrace_client.terminal.speech import listed


def _from_words(pile: int) -> str:
    if pile < FIRST_CELL:
        return _("from column {column}").format(column=COLUMN_LETTERS[pile])
    if pile < HOME:
        return _("from cell {cell}").format(cell=CELL_LETTERS[pile - FIRST_CELL])
    return _("from the reserve")


def _to_words(pile: int) -> str:
    if pile < FIRST_CELL:
        return _("to column {column}").format(column=COLUMN_LETTERS[pile])
    if pile < HOME:
        return _("to cell {cell}").format(cell=CELL_LETTERS[pile - FIRST_CELL])
    return p_("move", "home")


def move_words(board: Board, move: str, name: Callable[[int], str] = card_name) -> str:
    """A legal move in words: `TD from column 2 to cell a`, cards by their `name`. Raises IllegalMove."""
    source, target, _count = parse_move(move)
    count = board.carried(move)
    if source < FIRST_CELL:
        cards = bytes(board.columns[source][-count:])
    elif source == RESERVE:
        cards = board.reserve[:1]
    else:
        cards = board.cells[source - FIRST_CELL : source - FIRST_CELL + 1]
    names = " ".join(map(name, cards))
    return f"{names} {_from_words(source)} {_to_words(target)}"


def why_not(board: Board, illegal: IllegalMove, name: Callable[[int], str] = card_name) -> str:
    """Why a move is not possible: where no card fits, the card is named that it would have to fit on."""
    if illegal.reason is Reason.WRONG_RANK and illegal.move is not None:
        source, target, count = parse_move(illegal.move)
        if not count and target < FIRST_CELL and board.columns[target]:
            under = name(board.columns[target][-1])
            if source < FIRST_CELL:
                return _("Nothing from column {column} fits on {card}.").format(
                    column=COLUMN_LETTERS[source], card=under
                )
            if source < HOME and (moved := board.cells[source - FIRST_CELL]) != NO_CARD:
                return _("{card} does not fit on {under}.").format(card=name(moved), under=under)
    return reason_text(illegal.reason)


def tell_moves(
    before: Game, steps: Sequence[Sequence[str]], name: Callable[[int], str] = card_name
) -> tuple[list[str], Game]:
    """What one's moves did, a sentence each, and the game after them; cards by their `name`. Raises IllegalMove."""
    told = []
    for step in steps:
        move, went_home = step[0], step[1:]
        after, _step = before.play(move)
        if move == UNDO:
            told.append(_("Taken back."))
        else:
            board = before.board.play(move)
            sentence = f"{move_words(before.board, move, name)}."
            if went_home:
                cards = []
                for home in went_home:
                    cards.append(move_words(board, home, name).partition(" ")[0])
                    board = board.play(home)
                sentence += " " + _("By itself went home: {cards}.").format(cards=listed(cards))
            told.append(sentence)
        before = after
    return told, before


def home_words(game: Game) -> str:
    """How far a game has come."""
    home = game.board.cards_home
    return n_("{count} card of {pack} home.", "{count} cards of {pack} home.", home).format(
        count=home, pack=game.board.variant.pack_size
    )
