"""How often each address may ask over HTTP or shake hands, where there is no connection yet to count on."""

from __future__ import annotations

from collections import OrderedDict

from cellrace_server.core.addresses import caller_of
from cellrace_server.core.bucket import Bucket, full_bucket

_ADDRESSES = 4_096
"""How many addresses are remembered; the one that has asked least lately gives way, and starts anew."""


class Quota:
    """A token bucket for each address."""

    def __init__(self, burst: float, per_second: float) -> None:
        self._burst = burst
        self._per_second = per_second
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, address: str, now: float) -> float:
        """Let an address ask once more, and say 0; or say after how many seconds it may, by the monotonic clock."""
        caller = caller_of(address)
        bucket = self._buckets.get(caller)
        if bucket is None:
            bucket = self._buckets[caller] = full_bucket(self._burst, self._per_second, now)
            if len(self._buckets) > _ADDRESSES:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(caller)
        return bucket.take(1, now)
