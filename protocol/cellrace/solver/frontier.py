"""The best-first search: positions wait in buckets by their weight, the lightest and newest is looked at next."""

from __future__ import annotations

from array import array
from itertools import pairwise
from typing import NamedTuple

from cellrace.solver.position import SEPARATOR, SEPARATOR_BYTE, Rules, settle, split_key
from cellrace.solver.successors import ANYTHING, NOTHING_EXPOSED, successors

_LAST_BUCKET = 4095
"""The heaviest weight that is told from the next: what is heavier is hardly ever looked at."""
_NOT_WON = -1
_HOMES_SIZE = 5  # The four home counts and the separator before them.


class Weights(NamedTuple):
    """What makes a position look bad, each with its weight.

    `out`: cards not home. `blocking`: cards that lie on one of their column which goes home before them. `breaks`:
    neighbours in a column that are no run. `held`: cards in cells. `filled`: columns that are not empty. `covering`:
    cards on those that go home next, twice when no cell and no column is free. `steps`: the way that led here, which
    keeps solutions short and the search from getting lost in the depth.
    """

    out: int
    blocking: int
    breaks: int
    held: int
    filled: int
    covering: int
    steps: int


class _ColumnFacts(NamedTuple):
    run: int
    blocking: int
    breaks: int


class Frontier:
    """A search from one position, which goes on for as many states as it is given."""

    def __init__(self, rules: Rules, start: bytes, weights: Weights) -> None:
        self._rules = rules
        self._weights = weights
        self._facts: dict[bytes, _ColumnFacts] = {}
        self._keys = [start]
        self._known = {start}
        # Plain ints by the million would take most of the memory.
        self._parents = array("I", (0,))
        self._steps = array("I", (0,))
        self._depths = array("I", (0,))
        self._buckets: list[list[int]] = [[] for _ in range(_LAST_BUCKET + 1)]
        self._buckets[0].append(0)
        self._lightest = 0
        won = sum(split_key(start)[2]) == rules.pack_size
        self._won = 0 if won else _NOT_WON

    @property
    def states(self) -> int:
        """How many different positions were found."""
        return len(self._keys)

    @property
    def won(self) -> bool:
        """Whether one of them is won."""
        return self._won != _NOT_WON

    def advance(self, limit: int) -> bool:
        """Search until about `limit` states are known. False when the search is over: won, or nothing is left."""
        rules, keys, known = self._rules, self._keys, self._known
        parents, steps, depths, buckets = self._parents, self._steps, self._depths, self._buckets
        facts, facts_of = self._facts, self._facts_of
        home_index, next_home, suits, cell_count = rules.home_index, rules.next_home, rules.suits, rules.cells
        pack_size, width = rules.pack_size, rules.width
        out, blocking, breaks, held, filled, covering, step_weight = self._weights
        lightest = self._lightest
        while self._won == _NOT_WON and len(keys) < limit:
            while lightest <= _LAST_BUCKET and not buckets[lightest]:
                lightest += 1
            if lightest > _LAST_BUCKET:
                break
            index = buckets[lightest].pop()
            depth = depths[index] + 1
            columns, cells, homes = split_key(keys[index])
            if columns and not columns[0]:
                columns = []
            run_lengths = [(facts.get(column) or facts_of(column))[0] for column in columns]
            for left, in_cells, counts, step, under in successors(rules, columns, cells, homes, run_lengths):
                if under != NOTHING_EXPOSED and (under == ANYTHING or home_index[under] == homes[under & 3]):
                    left, in_cells, counts = settle(rules, left, in_cells, counts)
                left.sort()
                key = SEPARATOR_BYTE.join((*left, bytes(sorted(in_cells)), counts))
                if key in known:
                    continue
                known.add(key)
                home = sum(counts)
                child = len(keys)
                keys.append(key)
                parents.append(index)
                steps.append(step)
                depths.append(depth)
                if home == pack_size:
                    self._won = child
                    return False
                weight = out * (pack_size - home) + held * len(in_cells) + filled * len(left) + step_weight * depth
                for column in left:
                    fact = facts.get(column) or facts_of(column)
                    weight += blocking * fact[1] + breaks * fact[2]
                end = len(key) - _HOMES_SIZE - len(in_cells)
                covered = 0
                for suit in suits:
                    at = key.find(next_home[suit][counts[suit]], 0, end)
                    if at >= 0:
                        covered += key.find(SEPARATOR, at) - at - 1
                stuck = len(in_cells) == cell_count and len(left) == width
                weight += covering * covered << stuck
                if weight > _LAST_BUCKET:
                    weight = _LAST_BUCKET
                buckets[weight].append(child)
                if weight < lightest:
                    lightest = weight
        self._lightest = lightest
        return self._won == _NOT_WON and lightest <= _LAST_BUCKET

    def path(self) -> list[int]:
        """The steps from the start to the won position."""
        path: list[int] = []
        index = self._won
        while index > 0:
            path.append(self._steps[index])
            index = self._parents[index]
        path.reverse()
        return path

    def _facts_of(self, column: bytes) -> _ColumnFacts:
        """What is always true of a column, remembered, since few columns make up many positions."""
        rules = self._rules
        fits, home_index = rules.fits, rules.home_index
        run = 1
        while run < len(column) and column[-run] * 64 + column[-run - 1] in fits:
            run += 1
        blocking = breaks = 0
        first_home = home_index[column[0]]
        for under, card in pairwise(column):
            if home_index[card] > first_home:
                blocking += 1
            else:
                first_home = home_index[card]
            if card * 64 + under not in fits:
                breaks += 1
        facts = _ColumnFacts(run, blocking, breaks)
        self._facts[column] = facts
        return facts
