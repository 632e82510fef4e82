"""The positions one step away from a position: the solver's hot path, so written without calls."""

from __future__ import annotations

from cellrace.solver.position import TO_CELL, TO_EMPTY, TO_HOME, UNBOUNDED, Rules
from cellrace.variants import Run

# What a step has exposed where that is no card.
NOTHING_EXPOSED = -1
ANYTHING = -2

Successor = tuple[list[bytes], bytes, bytes, int, int]
"""Filled columns, cells and homes, unsorted and not settled; the step; the card it exposed (or NOTHING_EXPOSED), and
ANYTHING after a card went home, which can make any other safe."""

_ONE_CARD = tuple(bytes((card,)) for card in range(64))


def successors(
    rules: Rules, columns: list[bytes], cells: bytes, homes: bytes, run_lengths: list[int]
) -> list[Successor]:
    """All that differ: of several empty columns or cells one stands for all, and none is swapped for another.

    `columns` are the filled ones; `run_lengths` tell how long the run at the end of each is.
    """
    home_index, parents, openers = rules.home_index, rules.parents, rules.openers
    empty = rules.width - len(columns)
    free = rules.cells - len(cells)
    capacity, opening = _capacities(rules, free, empty)
    exposed = {column[-1]: c for c, column in enumerate(columns)}
    found: list[Successor] = []
    for c, column in enumerate(columns):
        size = len(column)
        card = column[-1]
        run = run_lengths[c]
        if free:
            left = columns[:]
            if size > 1:
                left[c] = column[:-1]
                under = column[-2]
            else:
                del left[c]
                under = NOTHING_EXPOSED
            found.append((left, cells + _ONE_CARD[card], homes, card << 12 | 1 << 6 | TO_CELL, under))
        for count in range(1, min(run, opening, size - 1) + 1):
            head = column[-count]
            if head in openers:
                left = columns[:]
                left[c] = column[:-count]
                left.append(column[-count:])
                found.append((left, cells, homes, head << 12 | count << 6 | TO_EMPTY, column[-count - 1]))
        for count in range(1, (run if run < capacity else capacity) + 1):
            head = column[-count]
            for parent in parents[head]:
                target = exposed.get(parent)
                if target is None:
                    continue
                left = columns[:]
                left[target] += column[-count:]
                if count < size:
                    left[c] = column[:-count]
                    under = column[-count - 1]
                else:
                    del left[c]
                    under = NOTHING_EXPOSED
                found.append((left, cells, homes, head << 12 | count << 6 | parent, under))
        if home_index[card] == homes[card & 3]:
            left = columns[:]
            if size > 1:
                left[c] = column[:-1]
            else:
                del left[c]
            found.append((left, cells, _one_more(homes, card & 3), card << 12 | 1 << 6 | TO_HOME, ANYTHING))
    for card in cells:
        others = cells.replace(_ONE_CARD[card], b"")
        for parent in parents[card]:
            target = exposed.get(parent)
            if target is not None:
                left = columns[:]
                left[target] += _ONE_CARD[card]
                found.append((left, others, homes, card << 12 | 1 << 6 | parent, NOTHING_EXPOSED))
        if empty and card in openers:
            found.append(([*columns, _ONE_CARD[card]], others, homes, card << 12 | 1 << 6 | TO_EMPTY, NOTHING_EXPOSED))
        if home_index[card] == homes[card & 3]:
            found.append((columns, others, _one_more(homes, card & 3), card << 12 | 1 << 6 | TO_HOME, ANYTHING))
    return found


def _one_more(homes: bytes, suit: int) -> bytes:
    return homes[:suit] + _ONE_CARD[homes[suit] + 1] + homes[suit + 1 :]


def _capacities(rules: Rules, free: int, empty: int) -> tuple[int, int]:
    """How many cards may go to a filled column, and to an empty one."""
    match rules.run:
        case Run.SINGLE:
            return 1, 1 if empty else 0
        case Run.UNLIMITED:
            return UNBOUNDED, UNBOUNDED if empty else 0
        case Run.LIMITED:
            if not empty:
                return free + 1, 0
            if not rules.stepping_stones:
                return free + 1, free + 1
            return (free + 1) << empty, (free + 1) << (empty - 1)
