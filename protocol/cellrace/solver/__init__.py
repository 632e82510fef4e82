"""Proves deals winnable: a bounded best-first search, one for all games, told from a game's row.

    position     a position as one bytes key that says nothing of the order of columns and cells
    successors   the positions one step away
    frontier     the best-first search over them, in slices
    line         a path of steps as moves that the board has judged
    search       what is tried in turn: ways of laying out a reserve, ways of weighing positions

    solution = solve(dealt_board(variant, deal(variant, number)))
    if solution is not None:
        print(solution.moves, solution.states)

A bot that must not block takes a `Search` and calls `advance(states)` until it is done.
"""

from __future__ import annotations

from cellrace.solver.line import Solution
from cellrace.solver.search import DEFAULT_STATES, Search, solve

__all__ = ["DEFAULT_STATES", "Search", "Solution", "solve"]
