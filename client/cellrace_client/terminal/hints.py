"""Hints: the first move of a way to win that the solver finds, where one may be given."""

from __future__ import annotations

from collections.abc import Callable

from cellrace.autoplay import Autoplay
from cellrace.board import Board
from cellrace.cards import card_name
from cellrace.game import Game
from cellrace.messages import RaceKind
from cellrace_client.language import _
from cellrace_client.race_view import RaceView
from cellrace_client.terminal.move_words import move_words
from cellrace_client.thinker import Thinker

STATES = 100_000
"""Positions that are looked at: a few seconds at most."""


def why_no_hint(view: RaceView) -> str | None:
    """Why the solver may not be asked in a race: a rating is at stake, or the one attempt that everybody has."""
    if view.kind is RaceKind.DAILY:
        return _("There are no hints in a daily challenge.")
    return _("There are no hints in a ranked race.") if view.settings.ranked else None


async def find_hint(thinker: Thinker, game: Game) -> str | None:
    """A move that leads to a win; None where none was found."""
    solution = await thinker.solve(game.board, STATES)
    if solution is None:
        return None
    moves = solution.safe_moves if game.autoplay is Autoplay.SAFE else solution.moves
    return next(iter(moves), None)


def tell_hint(board: Board, move: str | None, name: Callable[[int], str] = card_name) -> str:
    """The hint in a sentence, cards by their `name`."""
    if move is None:
        return _("I found no way to win from here; taking moves back may help.")
    return _("Try {move}: {words}.").format(move=move, words=move_words(board, move, name))
