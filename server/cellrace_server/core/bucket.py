"""A token bucket: how often something may be asked for or sent."""

from __future__ import annotations

from msgspec import Struct


class Bucket(Struct):
    """Holds up to `burst` tokens, refilled at `per_second`; time is an argument, in seconds.

    The one value here that changes in place: there is one for each connection and each address that asks, touched once
    a message.
    """

    burst: float
    per_second: float
    tokens: float
    at: float

    def take(self, cost: float, now: float) -> float:
        """Take tokens, and say 0; or take none, and say after how many seconds there will be enough."""
        self.tokens = min(self.burst, self.tokens + (now - self.at) * self.per_second)
        self.at = now
        if self.tokens >= cost:
            self.tokens -= cost
            return 0.0
        return (cost - self.tokens) / self.per_second

    def drain(self, cost: float, now: float) -> None:
        """Take tokens for what has already been done, down to none."""
        self.take(0, now)
        self.tokens = max(0.0, self.tokens - cost)


def full_bucket(burst: float, per_second: float, now: float) -> Bucket:
    """A bucket of which nothing has been taken yet."""
    return Bucket(burst, per_second, burst, now)
