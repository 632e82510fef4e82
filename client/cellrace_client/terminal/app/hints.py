"""A hint: the first move of a way to win that the solver finds."""

from __future__ import annotations

from typing import NamedTuple

from cellrace.autoplay import Autoplay
from cellrace.cards import card_name, card_symbol
from cellrace.game import Game
from cellrace.notation import FIRST_CELL, parse_move
from cellrace_client.language import _
from cellrace_client.terminal.app.held import Held
from cellrace_client.terminal.move_words import move_words
from cellrace_client.thinker import Thinker

STATES = 100_000
"""Positions that are looked at: a few seconds at most."""


class Hint(NamedTuple):
    """What is suggested: a sentence, and what is marked on the board."""

    sentence: str
    marks: tuple[Held, int] | None


async def hint_for(thinker: Thinker, game: Game, *, letters: bool) -> Hint:
    """A move that leads to a win, or that none was found; cards as they are on the board."""
    solution = await thinker.solve(game.board, STATES)
    moves: tuple[str, ...] = ()
    if solution is not None:
        moves = solution.safe_moves if game.autoplay is Autoplay.SAFE else solution.moves
    if not moves:
        return Hint(_("I found no way to win from here; taking moves back may help."), None)
    source, target, _count = parse_move(moves[0])
    cards = game.board.carried(moves[0]) if source < FIRST_CELL else 1
    words = move_words(game.board, moves[0], card_name if letters else card_symbol)
    return Hint(_("Try {move}: {words}.").format(move=moves[0], words=words), (Held(source, cards), target))
