"""Linux without any helper: Landlock for files, a seccomp filter for the network.

Both are properties of a thread, and what a thread starts inherits them. So one thread confines itself and starts every
command from then on; the program around it stays free, and a command costs no launcher.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from agent_cli.tools.sandbox import seccomp
from agent_cli.tools.sandbox.confines import Confines, Make, Process, blame

LEAST = 3
"""The version of Landlock from which on a file cannot be emptied unseen: Linux 6.2."""
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""The same on every architecture."""
_VERSION = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVS = 38

_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
_REMOVE = 1 << 4 | 1 << 5
_MAKE = sum(1 << bit for bit in range(6, 13))
_REFER = 1 << 13
_OF_FILES = _WRITE_FILE | _TRUNCATE
_ALL = _OF_FILES | _REMOVE | _MAKE | _REFER
_SCOPES_FROM = 6
_SCOPE_SOCKETS, _SCOPE_SIGNALS = 1, 2

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm")  # noqa: S108  a device directory, where programs share memory


class Landlocked:
    """Construction raises OSError where the kernel refuses."""

    name = "Landlock"

    def __init__(self, confines: Confines) -> None:
        self._confines = confines
        self._thread = ThreadPoolExecutor(1, "confined")
        self._thread.submit(_confine, confines, version()).result()

    def start(self, words: Sequence[str], make: Make, /) -> Process:
        return self._thread.submit(make, words).result()

    def blamed(self, text: str, /) -> str:
        return blame(text, self._confines)


def version() -> int:
    """Of the kernel's Landlock, 0 where there is none."""
    try:
        return max(_call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION)), 0)
    except (OSError, AttributeError):
        return 0


def why_not(confines: Confines) -> str:
    """What is missing on this machine, "" where it can be used."""
    found = version()
    if found == 0:
        return "this kernel has no Landlock, or it is switched off (boot option lsm=…,landlock)"
    if found < LEAST:
        return f"Landlock of this kernel is version {found}, and {LEAST} is needed (Linux 6.2)"
    if not confines.network and not seccomp.known():
        return f"no way is known to take the network away on {seccomp.machine()}"
    return ""


def _confine(confines: Confines, found: int) -> None:
    """Of the thread that calls it, for good."""
    ruleset = _ruleset(confines, found)
    try:
        for path in confines.writable:
            _allow(ruleset, path)
        for path in DEVICES if confines.writable else DEVICES[:5]:
            _allow(ruleset, path)
        _forgo_privileges()
        _call(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)
    if not confines.network:
        seccomp.take_network()


def _ruleset(confines: Confines, found: int) -> int:
    scopes = _SCOPE_SIGNALS | (0 if confines.network else _SCOPE_SOCKETS)
    attributes = struct.pack("=Q", _ALL)
    if found >= _SCOPES_FROM:
        attributes = struct.pack("=QQQ", _ALL, 0, scopes)
    return _call(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))


def _allow(ruleset: int, path: str) -> None:
    """What does not exist cannot be allowed, and needs not be."""
    if not Path(path).exists():
        return
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rights = _ALL if stat.S_ISDIR(os.fstat(descriptor).st_mode) else _OF_FILES
        rule = struct.pack("=Qi", rights, descriptor)
        _call(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint32(0))
    finally:
        os.close(descriptor)


def _forgo_privileges() -> None:
    """Nothing that is started gains rights by being set-uid."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(
        _NO_NEW_PRIVS, ctypes.c_ulong(1), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)
    ):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _call(number: int, *values: object) -> int:
    """Raises OSError."""
    library = ctypes.CDLL(None, use_errno=True)
    found: int = library.syscall(ctypes.c_long(number), *values)
    if found < 0:
        problem = ctypes.get_errno()
        raise OSError(problem, os.strerror(problem))
    return found
