"""A token bucket a little smaller than the server's, so that a polite client is never refused. Pure."""

from __future__ import annotations

_BURST_SHARE = 0.75
_RATE_SHARE = 0.9
"""Of what the server allows: what was sent in a row may arrive in a bunch, so less than all is used."""


class TokenBucket:
    """Says how long to wait before the next message; time is an argument, in seconds."""

    def __init__(self, burst: int, per_second: int, now: float) -> None:
        self._burst = max(1.0, burst * _BURST_SHARE)
        self._rate = max(0.1, per_second * _RATE_SHARE)
        self._tokens = self._burst
        self._filled_at = now

    def take(self, now: float) -> float:
        """Takes a token and returns 0, or takes none and returns the seconds until there is one."""
        self._tokens = min(self._burst, self._tokens + max(0.0, now - self._filled_at) * self._rate)
        self._filled_at = now
        if self._tokens >= 1.0:
            self._tokens -= 1.0
            return 0.0
        return (1.0 - self._tokens) / self._rate
