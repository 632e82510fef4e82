"""Seeds that once found something: run with every test, whatever else is.

A seed means what it meant only as long as the simulation draws the same from it; so each bug has a test of its own too.
"""

from __future__ import annotations

SEEDS = (
    282,  # A node that learnt of a win from the answer to its own append showed a won game without its moves.
    485,  # By a clock that had not seen it begin, a race that was won was cancelled.
    1100,  # By such a clock the deal of a race that was over stayed hidden.
    1689,  # A racer of these tests took a race of another game, created twice, for the one that it had just created.
    2046,  # A racer of these tests gave a node less time to be sure of the clock again than a jump of it takes.
    3034,  # Who came back was shown what the node knew from before, for it had not heard that the player was elsewhere.
    20252,  # A racer of these tests took a race that had not begun by one node's clock for one that it need not end.
)
