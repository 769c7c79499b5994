"""How servers are reached, as values."""

from __future__ import annotations

import re
from typing import TypeAlias

import msgspec

from agent_cli.kernel.values import Plain

START_SECONDS = 30.0
CALL_SECONDS = 120.0
INHERITED = (
    "HOME", "LOGNAME", "USER", "PATH", "SHELL", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
    # what programs on Windows cannot do without
    "APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE", "SYSTEMDRIVE", "SYSTEMROOT",
    "TEMP", "TMP", "USERNAME", "USERPROFILE", "PROGRAMFILES", "COMSPEC",
)  # fmt: skip
"""Variables that every server gets. Others, keys among them, only where its entry names them."""


class Stdio(Plain, frozen=True):
    """A program. `env` is the whole of its environment."""

    command: str
    args: tuple[str, ...]
    env: dict[str, str]
    cwd: str


class Http(Plain, frozen=True):
    url: str
    headers: dict[str, str] = msgspec.field(default_factory=dict[str, str])


Reached: TypeAlias = Stdio | Http


class Server(Plain, frozen=True):
    """`allow` (none: all) and `deny` are globs over the names of its tools, as it names them. Times are seconds.

    `trusts_hints` says that a tool which calls itself read-only runs without asking. `refused` says why it is not
    reached at all, "" where it is. `tokens` is the file of what a login gave, "" for none.
    """

    name: str
    reached: Reached
    origin: str = ""
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    timeout: float = CALL_SECONDS
    start_timeout: float = START_SECONDS
    trusts_hints: bool = False
    refused: str = ""
    log: str = ""
    tokens: str = ""

    @property
    def where(self) -> str:
        """For people; what may be secret in an address is left out."""
        if isinstance(self.reached, Http):
            return re.sub(r"//[^/@]*@", "//", self.reached.url.partition("?")[0])
        return " ".join((self.reached.command, *self.reached.args))

    @property
    def host(self) -> str:
        """The host of its address, "" for a program."""
        if not isinstance(self.reached, Http):
            return ""
        from urllib.parse import urlsplit

        return urlsplit(self.reached.url).hostname or ""
