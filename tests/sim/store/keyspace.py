"""What the model of the store holds: values by key, and how to take back what its replica does not have."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from copy import copy
from typing import TypeAlias, TypeVar


class Hash(dict[bytes, bytes]):
    """Fields and values."""


class Members(dict[bytes, None]):
    """A set, in the order of coming: a real one has none to rely on."""


class Scores(dict[bytes, float]):
    """A sorted set: members and scores."""

    def ordered(self) -> list[tuple[bytes, float]]:
        """By score, then by member."""
        return sorted(self.items(), key=lambda item: (item[1], item[0]))


class Items(list[bytes]):
    """A list."""


Value: TypeAlias = bytes | Hash | Members | Scores | Items
V = TypeVar("V", Hash, Members, Scores, Items)


class WrongType(Exception):
    """The key holds another kind of value."""


class Keyspace:
    """Values by key. Each write of a command is noted with what was there before."""

    def __init__(self, now: Callable[[], int]) -> None:
        self.now = now
        """The time, ms."""
        self.offset = 0
        """How many commands have written something."""
        self._values: dict[bytes, Value] = {}
        self._expires: dict[bytes, int] = {}
        self._undo: deque[tuple[int, bytes, Value | None, int | None]] = deque()
        self._touched: set[bytes] = set()

    # --- reading

    def find(self, key: bytes, kind: type[V]) -> V:
        """The value of a key as this kind; an empty one where there is none, which is not kept."""
        self._expire(key)
        value = self._values.get(key)
        if value is None:
            return kind()
        if not isinstance(value, kind):
            raise WrongType
        return value

    def text(self, key: bytes) -> bytes | None:
        """The value of a key that holds a string."""
        self._expire(key)
        value = self._values.get(key)
        if value is not None and not isinstance(value, bytes):
            raise WrongType
        return value

    def exists(self, key: bytes) -> bool:
        """Whether there is such a key."""
        self._expire(key)
        return key in self._values

    def names(self) -> list[bytes]:
        """All keys."""
        for key in list(self._expires):
            self._expire(key)
        return list(self._values)

    def expires(self, key: bytes) -> int | None:
        """When a key goes, ms."""
        return self._expires.get(key)

    def _expire(self, key: bytes) -> None:
        at = self._expires.get(key)
        if at is not None and at <= self.now():
            del self._values[key], self._expires[key]

    # --- writing

    def touch(self, key: bytes) -> None:
        """Note what a key holds, before it is written to."""
        if key in self._touched:
            return
        self._touched.add(key)
        self._undo.append((self.offset + 1, key, copy(self._values.get(key)), self._expires.get(key)))

    def edit(self, key: bytes, kind: type[V]) -> V:
        """The value of a key, to be written to; made if there is none."""
        value = self.find(key, kind)
        self.touch(key)
        self._values[key] = value
        return value

    def put(self, key: bytes, value: bytes) -> None:
        """Set a string; an expiry stays."""
        self.touch(key)
        self._values[key] = value

    def expire_at(self, key: bytes, at: int | None) -> None:
        """Let a key go at a time, or stay."""
        self.touch(key)
        if at is None:
            self._expires.pop(key, None)
        else:
            self._expires[key] = at

    def drop(self, key: bytes) -> None:
        """Delete a key."""
        self.touch(key)
        del self._values[key]
        self._expires.pop(key, None)

    def done(self) -> bool:
        """A command has ended: whether it has written. What holds nothing is no more."""
        if not self._touched:
            return False
        for key in self._touched:
            if key in self._values and not self._values[key] and not isinstance(self._values[key], bytes):
                del self._values[key]
                self._expires.pop(key, None)
        self._touched.clear()
        self.offset += 1
        return True

    # --- replication

    def settled(self, offset: int) -> None:
        """What was written up to there is never taken back."""
        while self._undo and self._undo[0][0] <= offset:
            self._undo.popleft()

    def roll_back(self, offset: int) -> None:
        """Be as after so many writes."""
        while self._undo and self._undo[-1][0] > offset:
            _, key, before, expires = self._undo.pop()
            if before is None:
                self._values.pop(key, None)
            else:
                self._values[key] = before
            if expires is None:
                self._expires.pop(key, None)
            else:
                self._expires[key] = expires
        self.offset = min(self.offset, offset)
