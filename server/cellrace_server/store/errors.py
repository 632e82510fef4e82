"""What can go wrong between a server and its store, as one small tree.

    CellraceError
    └── StoreError
        ├── StoreUnavailable        it does not answer: whether a write took place is unknown
        │   └── StoreUnreplicated   it has written, and no replica says that it has it too
        └── StoreUnfit              it answers, and cannot be used as it is set up

Each error's text is a sentence for the person who runs the server, and says what to do.
"""

from __future__ import annotations

from redis.exceptions import RedisError

from cellrace.errors import CellraceError

FAILURES = (RedisError, OSError)
"""What a client of the store raises when there is no answer."""


class StoreError(CellraceError):
    """The root of what the store makes impossible."""


class StoreUnavailable(StoreError):
    """The store does not answer.

    A write that ends so may have taken place: repeat it unchanged, do not undo it.
    """


class StoreUnreplicated(StoreUnavailable):
    """The store has written, but for too long too few of its replicas say that they have it: a failover may undo it."""


class StoreUnfit(StoreError):
    """The store answers, but its version or its settings would lose what it is given."""
