"""Who calls from an address: what is counted by address is counted by what one caller has."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address


def caller_of(address: str) -> str:
    """The address itself, or of IPv6 the network of one subscriber, for whom it is cheap to have many addresses."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    return str(parsed.ipv4_mapped or parsed.packed[:8].hex())
