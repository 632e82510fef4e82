"""How long to wait before coming back after a drop, and which closings are for good. Pure."""

from __future__ import annotations

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import CloseCode
from cellrace_client.errors import Unreachable

FIRST_WAIT = 0.25
"""Seconds, at most, before the first attempt; twice as many before each further one."""
LONGEST_WAIT = 8.0
"""Seconds. Short of the least `grace` of a race, 15 s, so that a player who dropped is back before it ends."""
RESTART_SPREAD = 5.0
"""Seconds, as the protocol asks for after 1001: all clients of a server that restarts come back within them."""
STEADY_AFTER = 5.0
"""A connection that lasted so many seconds was a good one: the next drop begins with the shortest wait."""

LONGEST_TRY = 60.0
"""A wait and a try take fewer seconds: in the rest nobody tried, as the machine slept or the program was stopped."""

NEVER = float("inf")
"""Seconds, where another attempt would be of no use."""

_OUR_FAULT = frozenset((1002, 1003, 1007, 1008, 1009, 1010))
"""WebSocket's own codes for what a client did wrong: it would do it again."""


class Trying:
    """For how many seconds somebody has tried in vain to come back; time is an argument."""

    def __init__(self, now: float) -> None:
        self._seconds = 0.0
        self._looked_at = now

    def failed(self, now: float) -> float:
        """Counts a try that failed by now: the seconds in all."""
        self._seconds += min(max(0.0, now - self._looked_at), LONGEST_TRY)
        self._looked_at = now
        return self._seconds


def wait_before_return(attempt: int, close_code: int | None, draw: float) -> float:
    """Seconds to wait before attempt 0, 1, 2 …; `draw` is random in [0, 1).

    Exponential with full jitter, so that the clients of one server do not come back in step.
    """
    if attempt == 0 and close_code == CloseCode.GOING_AWAY:
        return draw * RESTART_SPREAD
    return draw * min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(attempt, 16))


def wait_after(failed: Unreachable | Refused, attempt: int, draw: float) -> float:
    """Seconds to wait after attempt 0, 1, 2 … has failed; `draw` as above."""
    if isinstance(failed, Unreachable):
        return NEVER if failed.final else wait_before_return(attempt, None, draw)
    if failed.code == ErrorCode.RATE_LIMITED and failed.retry_after is not None:
        return failed.retry_after / 1000.0
    return NEVER


def comes_back(close_code: int | None) -> bool:
    """Whether a client comes back by itself after this closing; None is a connection that was cut.

    41xx says no, also with codes of later versions; so does what a client did wrong, as it would do it again.
    """
    if close_code is None:
        return True
    return not (4100 <= close_code < 4200 or close_code in _OUR_FAULT)
