"""Where a request comes from: which names the server answers to, which pages may ask, whose program it is."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
"""Of the system: every connection with the user whose program it belongs to."""


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_of(header: str) -> str:
    """The name in a Host header or an address, without its port, in lower case; "" where there is none."""
    try:
        return (urlsplit(f"//{header}").hostname or "").lower()
    except ValueError:
        return ""


def is_served(header: str, listening: str, others: Iterable[str]) -> bool:
    """Whether the Host header names this server. A name that somebody else's DNS points here does not."""
    host = host_of(header)
    if not host:
        return False
    if host in {name.lower() for name in others} or host == listening.lower():
        return True
    if host == "localhost" or is_loopback(host):
        return is_loopback(listening) or is_any(listening)
    return is_any(listening) and _is_address(host)


def is_any(host: str) -> bool:
    """Whether it stands for every address of the machine."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def may_ask(origin: str, scheme: str, header: str, others: Iterable[str]) -> bool:
    """Whether a page of that origin may ask; programs have none. Its own pages are those of the Host header."""
    return origin.lower() in {f"{scheme}://{header}".lower(), *(name.lower().rstrip("/") for name in others)}


def user_of(client: tuple[str, int], server: tuple[str, int]) -> int | None:
    """The user whose program is at the other end of a connection on this machine. None where the system does not tell."""
    found: int | None = None
    for table in TABLES:
        try:
            rows = Path(table).read_text("ascii").splitlines()[1:]
        except (OSError, UnicodeDecodeError):
            continue
        found = -1 if found is None else found
        for row in rows:
            words = row.split()
            if len(words) > 7 and _is(words[1], client) and _is(words[2], server):
                return int(words[7])
    return found


def is_own_user(client: tuple[str, int], server: tuple[str, int]) -> bool | None:
    """Whether it is ours (or the administrator's). None where the system does not tell."""
    user = user_of(client, server)
    return None if user is None else user in (os.getuid(), 0)


def tells_users() -> bool:
    return any(os.access(table, os.R_OK) for table in TABLES)


def _is(written: str, address: tuple[str, int]) -> bool:
    """`written` is hex, each four bytes of the address in the order of this machine."""
    host, _, port = written.partition(":")
    if int(port, 16) != address[1]:
        return False
    raw = b"".join(bytes.fromhex(host[at : at + 8])[::-1] for at in range(0, len(host), 8))
    found, wanted = ipaddress.ip_address(raw), ipaddress.ip_address(address[0].partition("%")[0])
    return _plain(found) == _plain(wanted)


def _plain(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> object:
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
