"""Which addresses of the network a fetch may connect to, whatever name led there."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import NamedTuple, TypeAlias

from agent_cli.guardrails.breaker import Breakers

Address: TypeAlias = IPv4Address | IPv6Address

_METADATA = frozenset(
    map(
        ip_address, ("169.254.169.254", "fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192")
    )
)  # fmt: skip
"""Where clouds hand out credentials to whoever asks."""
_NAME = re.compile(r"(?!-)[a-z0-9._-]{1,253}", re.ASCII)
_NAT64 = ip_network("64:ff9b::/96")


def _everything(host: str) -> bool:
    return True


def _nothing(host: str) -> bool:
    return False


class Reach(NamedTuple):
    """What the operator's rules say of hosts, asked again at every redirect.

    `allowed`: whether the host may be fetched from. `private`: whether this host, named exactly, may lie in a
    private network or on this machine. `breakers` know which hosts fail now; None asks every one.
    """

    allowed: Callable[[str], bool] = _everything
    private: Callable[[str], bool] = _nothing
    breakers: Breakers | None = None


def refusal(address: str, *, private: bool) -> str:
    """Why nobody connects there, "" where it is allowed. Addresses inside others are looked at, too."""
    found = _innermost(ip_address(address.partition("%")[0]))
    if found in _METADATA or found.is_link_local:
        return "a link-local or cloud metadata address"
    if found.is_multicast or found.is_unspecified or (found.is_reserved and not found.is_loopback):
        return "no address of a host"
    if not found.is_global and not private:
        return "this machine itself" if found.is_loopback else "an address of a private network"
    return ""


def _innermost(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for, where it does."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    if address.teredo is not None:
        return address.teredo[1]
    return address.ipv4_mapped or address.sixtofour or _compatible(address) or address


def _compatible(address: IPv6Address) -> IPv4Address | None:
    return IPv4Address(int(address)) if 1 < int(address) <= 0xFFFF_FFFF else None


def plain_host(host: str) -> str:
    """One spelling for each host: lower case, no final dot, ASCII, numbers as a dotted address. Raises ValueError."""
    name = host.lower().rstrip(".")
    if not name.isascii():
        name = name.encode("idna").decode("ascii")
    try:
        return str(ip_address(name))
    except ValueError:
        pass
    try:
        return socket.inet_ntoa(socket.inet_aton(name))  # 127.1, 0x7f000001 and 2130706433 are 127.0.0.1
    except OSError:
        pass
    if not _NAME.fullmatch(name):
        raise ValueError(f"{host!r} is no name of a host")
    return name
