"""Seeds that once found something: run again with every test, whatever else is.

A seed means what it meant only as long as the simulation draws the same from it; so each bug has a test of its own too.
"""

from __future__ import annotations

SEEDS = (
    282,  # A won game was shown without its moves by a node that learnt of the win from the answer to its own append.
)
