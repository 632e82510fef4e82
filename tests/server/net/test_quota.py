"""How often an address may ask over HTTP."""

from __future__ import annotations

import pytest

from cellrace_server.net import quota
from cellrace_server.net.quota import Quota


def test_each_address_has_a_bucket_of_its_own() -> None:
    asked = Quota(2, 1.0)
    assert [asked.take("10.0.0.1", 0.0) for _ in range(3)] == [0, 0, 1]
    assert asked.take("10.0.0.2", 0.0) == 0
    assert asked.take("10.0.0.1", 1.0) == 0


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("10.0.0.1", "::ffff:10.0.0.1", True),
        ("::ffff:10.0.0.1", "::ffff:10.0.0.2", False),
        ("fe80::1%eth0", "fe80::1%eth1", True),
        ("", "", True),
        ("somewhere", "elsewhere", False),
    ],
)
def test_a_subscriber_of_ipv6_is_one_however_many_addresses(one: str, other: str, together: bool) -> None:
    asked = Quota(1, 1.0)
    assert asked.take(one, 0.0) == 0
    assert (asked.take(other, 0.0) > 0) == together


def test_only_the_latest_addresses_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quota, "_ADDRESSES", 2)
    asked = Quota(2, 1.0)
    for address in ("a", "b", "a", "c"):
        assert asked.take(address, 0.0) == 0
    assert asked.take("a", 0.0) > 0, "who asks stays remembered"
    assert [asked.take("b", 0.0) for _ in range(3)] == [0, 0, 1], "who does not, starts anew"
