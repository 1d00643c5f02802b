"""Only ordinary public addresses are public, in whatever form they are written."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.tools.addresses import closed_kind

CLOSED = [
    *("0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.255"),
    *("168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.7", "192.88.99.1"),
    *("192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.9", "224.0.0.1", "239.255.255.250", "240.0.0.1"),
    *("255.255.255.255", "::", "::1", "::2", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1"),
    *("::ffff:169.254.169.254", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::1"),
    *("2002:7f00:1::", "2002:a00:1::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:db8::1"),
    *("2001:10::1", "2001:20::1", "3fff::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1"),
    *("ff02::1", "100::1", "5f00::1", "4000::1", "2a00:1450::5efe:7f00:1", "2a00:1450::200:5efe:7f00:1"),
    *("", "localhost", "127.1", "0x7f.0.0.1", "1.2.3", "1.2.3.4.5", "2607:f8b0::1%2"),
]
OPEN = ["1.1.1.1", "8.8.8.8", "93.184.215.14", "172.15.0.1", "172.32.0.1", "100.63.255.255", "100.128.0.1", "223.5.5.5"]
OPEN_V6 = ["2606:4700::1111", "2a00:1450:4001::200e", "::ffff:8.8.8.8", "64:ff9b::808:808", "2001:4860::8888"]


@pytest.mark.parametrize("address", CLOSED)
def test_what_is_not_public_is_closed(address: str) -> None:
    assert closed_kind(address)


@pytest.mark.parametrize("address", [*OPEN, *OPEN_V6])
def test_what_is_public_is_open(address: str) -> None:
    assert closed_kind(address) is None


@given(st.integers(0, 2**32 - 1))
def test_no_address_that_python_calls_private_is_open(number: int) -> None:
    address = IPv4Address(number)
    if not address.is_global or address.is_multicast:
        assert closed_kind(str(address)), address


@given(st.integers(0, 2**128 - 1))
def test_nor_of_the_longer_kind(number: int) -> None:
    address = IPv6Address(number)
    if not address.is_global and address.ipv4_mapped is None:
        assert closed_kind(str(address)), address


@given(st.integers(0, 2**32 - 1))
def test_a_carried_address_is_no_better_than_itself(number: int) -> None:
    plain = closed_kind(str(IPv4Address(number)))
    assert closed_kind(str(IPv6Address(0xFFFF << 32 | number))) == plain
    assert closed_kind(str(IPv6Address(0x0064FF9B << 96 | number))) == plain
    assert closed_kind(str(IPv6Address(0x2002 << 112 | number << 80)))
