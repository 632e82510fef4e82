"""Who calls: the address behind a proxy that is trusted, and how many connections one address may have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from cellrace_server.config import Bounds
from cellrace_server.core.addresses import caller_of
from cellrace_server.net.quota import Quota

FULL = 10.0
"""What an address that has all the connections it may have is told to wait, in seconds."""


class Callers:
    """Counts the connections of each address; this machine's own are not counted: bots, tests, a proxy."""

    def __init__(self, bounds: Bounds, proxies: Sequence[str] = ()) -> None:
        self._most = bounds.connections
        self._proxies = [ip_network(proxy, strict=False) for proxy in proxies]
        self._handshakes = Quota(bounds.handshakes, bounds.handshakes_per_second)
        # As many entries as there are addresses that are connected, or have asked for nothing yet.
        self._connected: Counter[str] = Counter()
        self._silent: Counter[str] = Counter()
        self._most_silent = bounds.handshakes

    def address(self, peer: str, forwarded: Sequence[str]) -> str:
        """The caller's address, given the values of `X-Forwarded-For`, which only trusted proxies are believed."""
        address = peer
        hops = [hop for value in forwarded for hop in value.split(",")]
        # From the nearest on: what stands before the first that is not trusted may be anybody's invention.
        while self._trusts(address) and hops:
            told = _parsed(hops.pop())
            if told is None:
                break
            address = str(told)
        return address

    def _trusts(self, address: str) -> bool:
        parsed = _parsed(address)
        return parsed is not None and any(parsed in network for network in self._proxies)

    def begin(self, peer: str) -> bool:
        """Whether another connection of an address may be waited for, until `end`, to ask for something.

        Before it has, nobody knows for whom a proxy connects.
        """
        if self._silent[caller_of(peer)] >= self._most_silent and not (_is_here(peer) or self._trusts(peer)):
            return False
        self._silent[caller_of(peer)] += 1
        return True

    def end(self, peer: str) -> None:
        """It has asked, or is gone."""
        _take_from(self._silent, caller_of(peer))

    def knock(self, address: str, now: float) -> float:
        """Let an address shake hands, and say 0; or say after how many seconds it may, by the monotonic clock."""
        if _is_here(address):
            return 0.0
        if self._connected[caller_of(address)] >= self._most:
            return FULL
        return self._handshakes.take(address, now)

    def enter(self, address: str) -> None:
        """An address has one connection more."""
        self._connected[caller_of(address)] += 1

    def leave(self, address: str) -> None:
        """An address has one connection less."""
        _take_from(self._connected, caller_of(address))


def _take_from(counter: Counter[str], caller: str) -> None:
    counter[caller] -= 1
    if counter[caller] <= 0:
        del counter[caller]


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    """An address as proxies write it, also with a port; IPv4 told as IPv6 is IPv4."""
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        parsed = ip_address(text)
    except ValueError:
        return None
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        return parsed.ipv4_mapped
    return parsed


def _is_here(address: str) -> bool:
    parsed = _parsed(address)
    return parsed is not None and parsed.is_loopback
