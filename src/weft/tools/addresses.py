"""Which addresses are public. Asked after a name was resolved, for every address, on every redirect anew.

An address is public only if it is ordinary global unicast: not private, loopback, link-local, shared (carrier NAT),
multicast, reserved, for documentation, or known to lead to a cloud's own services. An IPv6 address that carries an IPv4
one is judged by what it carries, or refused where the carrier itself is obsolete.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

_CLOSED_V4: Final = tuple(
    (IPv4Network(network), kind)
    for network, kind in (
        ("0.0.0.0/8", "this machine itself"),
        ("10.0.0.0/8", "a private network"),
        ("100.64.0.0/10", "a provider's shared network"),
        ("127.0.0.0/8", "this machine itself"),
        ("168.63.129.16/32", "a cloud's own services"),
        ("169.254.0.0/16", "the local link"),
        ("172.16.0.0/12", "a private network"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "reserved for documentation"),
        ("192.88.99.0/24", "an obsolete relay"),
        ("192.168.0.0/16", "a private network"),
        ("198.18.0.0/15", "reserved for measurements"),
        ("198.51.100.0/24", "reserved for documentation"),
        ("203.0.113.0/24", "reserved for documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)
_OPEN_V6: Final = IPv6Network("2000::/3")
_CLOSED_V6: Final = tuple(
    (IPv6Network(network), kind)
    for network, kind in (
        ("2001::/23", "reserved, or a tunnel"),
        ("2001:db8::/32", "reserved for documentation"),
        ("2002::/16", "a tunnel that may lead anywhere"),
        ("3fff::/20", "reserved for documentation"),
    )
)
_NAMED_V6: Final = tuple(
    (IPv6Network(network), kind)
    for network, kind in (
        ("::/127", "this machine itself"),
        ("64:ff9b:1::/48", "a translator that may lead anywhere"),
        ("fc00::/7", "a private network"),
        ("fe80::/10", "the local link"),
        ("fec0::/10", "a private network"),
        ("ff00::/8", "multicast"),
    )
)
_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_TRANSLATED: Final = IPv6Network("64:ff9b::/96")


def closed_kind(address: str) -> str | None:
    """Why this address is not to be reached, in words; None when it is public."""
    try:
        found = ip_address(address)
    except ValueError:
        return "no address"
    if isinstance(found, IPv4Address):
        return next((kind for network, kind in _CLOSED_V4 if found in network), None)
    if found.scope_id:
        return "the local link"
    if found in _MAPPED or found in _TRANSLATED:
        return closed_kind(str(IPv4Address(int(found) & 0xFFFFFFFF)))
    if found not in _OPEN_V6:
        return next((kind for network, kind in _NAMED_V6 if found in network), "reserved")
    if int(found) >> 32 & 0xFDFFFFFF == 0x5EFE:
        return "a tunnel that may lead anywhere"  # ISATAP: an IPv4 address in the last 32 bits
    return next((kind for network, kind in _CLOSED_V6 if found in network), None)


_METADATA: Final = tuple(
    map(ip_network, ("169.254.0.0/16", "168.63.129.16/32", "100.100.100.200/32", "fd00:ec2::/32", "fe80::/10"))
)


def is_metadata(address: str) -> bool:
    """Where clouds tell a machine its own keys: nothing that a person means to reach is there, whoever names it."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address) and found in _MAPPED:
        found = IPv4Address(int(found) & 0xFFFFFFFF)
    return any(found in network for network in _METADATA)


def is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
