"""Which addresses are one caller's."""

from __future__ import annotations

import pytest

from cellrace_server.core.addresses import caller_of


@pytest.mark.parametrize("address", ["2001:db8::1", "2001:db8::ffff:1", "2001:db8::1%eth0"])
def test_of_ipv6_it_is_the_network_of_a_subscriber(address: str) -> None:
    assert caller_of(address) == caller_of("2001:db8::")
    assert caller_of(address) != caller_of("2001:db8:0:1::")


@pytest.mark.parametrize("address", ["10.0.0.1", "::ffff:10.0.0.1"])
def test_of_ipv4_it_is_the_address_however_it_is_told(address: str) -> None:
    assert caller_of(address) == "10.0.0.1"


def test_what_is_no_address_stands_for_itself() -> None:
    assert caller_of("somewhere") == "somewhere"
