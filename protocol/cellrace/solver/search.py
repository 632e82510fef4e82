"""What the solver tries in turn, in slices that the caller chooses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from cellrace.board import Board
from cellrace.notation import RESERVE, move_text
from cellrace.solver.frontier import Frontier, Weights
from cellrace.solver.line import Solution, tell
from cellrace.solver.position import key_of, rules_of

DEFAULT_STATES = 400_000
"""How many positions a search may find before it gives up: about 60 MB, and 3 to 10 seconds."""

_GREEDY = Weights(out=4, blocking=8, breaks=4, held=10, filled=12, covering=1, steps=4)
_CAREFUL = Weights(out=4, blocking=8, breaks=4, held=8, filled=12, covering=1, steps=9)


class _Attempt(NamedTuple):
    """One search to try: the reserve laid on these columns, positions weighed this way, so many states at most."""

    placement: tuple[int, ...]
    weights: Weights
    states: int


class Search:
    """A search for a way to win from a board, which runs only while it is told to.

    It is bounded by the states found, never by the clock: the same board always gets the same answer. `solution` is
    what was found; `lost` says that every position which can follow was looked at in vain; `done` that there is no
    more to do. A reserve is laid in the ways that promise most, or only on the columns of `placement`.
    """

    def __init__(
        self, board: Board, max_states: int = DEFAULT_STATES, placement: tuple[int, ...] | None = None
    ) -> None:
        self.solution: Solution | None = None
        self.lost = False
        self.done = False
        self._board = board
        self._max_states = max_states
        self._placement = placement if board.reserve else ()
        self._goal = 0
        self._searched = 0
        self._work = self._run()

    @property
    def states(self) -> int:
        """How many positions were found so far."""
        return self._searched

    def advance(self, states: int) -> bool:
        """Find about that many more positions. True while there is more to do."""
        self._goal = self._searched + states
        self.done = next(self._work, True)
        return not self.done

    def _run(self) -> Iterator[bool]:
        """Try one attempt after the other; yield False whenever the goal is reached."""
        rules = rules_of(self._board.variant)
        for attempt in _attempts(self._board, self._max_states, self._placement):
            board = self._board
            for column in attempt.placement:
                board = board.play(move_text(RESERVE, column))
            frontier = Frontier(rules, key_of(rules, board), attempt.weights)
            before = self._searched
            self._searched += frontier.states
            bound = min(attempt.states, self._max_states - before)
            unfinished = not frontier.won
            while unfinished and frontier.states < bound:
                unfinished = frontier.advance(min(bound, self._goal - before))
                self._searched = before + frontier.states
                if unfinished and self._searched >= self._goal:
                    yield False
            if frontier.won:
                self.solution = tell(self._board, attempt.placement, frontier.path(), self._searched)
                return
            if not unfinished and attempt.placement == self._placement:
                self.lost = True
                return
            if self._searched >= self._max_states:
                return


def _attempts(board: Board, max_states: int, placement: tuple[int, ...] | None) -> Iterator[_Attempt]:
    """Two ways of weighing where the placement is given; else the reserve on columns 1, 2, 3, then elsewhere."""
    if placement is not None:
        yield _Attempt(placement, _GREEDY, max_states // 2)
        yield _Attempt(placement, _CAREFUL, max_states)
        return
    left = len(board.reserve)
    first = board.variant.reserve - left
    fixed = tuple(range(first, first + left))
    yield _Attempt(fixed, _GREEDY, max_states // 4)
    for placement in sorted(product(range(len(board.columns)), repeat=left), key=lambda way: -_runs_on(board, way)):
        if placement != fixed:
            yield _Attempt(placement, _GREEDY, max_states // 16)


def _runs_on(board: Board, placement: tuple[int, ...]) -> int:
    """How many cards of the reserve go on with the run of their column."""
    fits = board.variant.fits
    exposed = [column[-1] if column else None for column in board.columns]
    count = 0
    for card, column in zip(board.reserve, placement, strict=True):
        under = exposed[column]
        count += under is not None and card * 64 + under in fits
        exposed[column] = card
    return count


def solve(board: Board, max_states: int = DEFAULT_STATES, placement: tuple[int, ...] | None = None) -> Solution | None:
    """A way to win from a board, or None when none was found within so many states."""
    search = Search(board, max_states, placement)
    while search.advance(max_states):
        pass
    return search.solution
