"""Who is meant by an address: what is counted by it is counted by what one caller has."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address


def place_of(address: str) -> str:
    """Who asks: an address, or of IPv6 the network of one subscriber, for whom it is cheap to have many addresses."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    return str(parsed.ipv4_mapped or parsed.packed[:8].hex())
