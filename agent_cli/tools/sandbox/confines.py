"""What a sandbox lets commands do, and how one starts them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from typing import Literal, Protocol, TypeAlias

from agent_cli.kernel.values import Plain

Confinement: TypeAlias = Literal["workspace-write", "read-only"]
Process: TypeAlias = "subprocess.Popen[bytes]"
Make: TypeAlias = Callable[[Sequence[str]], Process]
"""Starts a program, given all of its words."""

_REFUSED = re.compile(
    r"permission denied|read-only file system|operation not permitted|eacces|eperm|erofs|errno 1\]|errno 13\]|errno 30\]"
    r"|network is unreachable|could not resolve|name resolution|name or service not known",
    re.IGNORECASE,
)
_TAIL = 8_000


class Confines(Plain, frozen=True):
    """Paths are absolute and resolved. `writable` is empty for "read-only".

    `closed` are paths inside of writable ones that stay as they are, where the sandbox can do that.
    """

    mode: Confinement
    writable: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    network: bool = True


class Sandbox(Protocol):
    @property
    def name(self) -> str:
        """Of the mechanism, "" where nothing is confined."""
        ...

    def start(self, words: Sequence[str], make: Make, /) -> Process:
        """Has `make` start the program inside. Raises OSError."""
        ...

    def blamed(self, text: str, /) -> str:
        """What to tell the model of a command that failed with this output; "" where it was not the sandbox."""
        ...


class Unconfined:
    """No sandbox."""

    name = ""

    def start(self, words: Sequence[str], make: Make, /) -> Process:
        return make(words)

    def blamed(self, text: str, /) -> str:
        return ""


UNCONFINED = Unconfined()


class Wrapped:
    """A program of the system that starts the command inside: `prefix` are its own words."""

    def __init__(self, name: str, prefix: Sequence[str], confines: Confines) -> None:
        self.name = name
        self._prefix = tuple(prefix)
        self._confines = confines

    def start(self, words: Sequence[str], make: Make, /) -> Process:
        return make((*self._prefix, *words))

    def blamed(self, text: str, /) -> str:
        return blame(text, self._confines)


def blame(text: str, confines: Confines) -> str:
    if not _REFUSED.search(text[-_TAIL:]):
        return ""
    writes = f"only below {', '.join(confines.writable)}" if confines.writable else "nothing"
    reaches = "" if confines.network else " and reach no network"
    return f"commands run in a sandbox: they may write {writes}{reaches}; this may be why it failed"
