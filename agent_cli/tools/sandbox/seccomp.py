"""A filter of system calls by which a thread, and what it starts, reaches nothing but sockets of this machine's files."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct

_SET_SECCOMP, _FILTER = 22, 2
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000 | errno.EPERM
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_UNIX = 1
_IO_URING_SETUP = 425
"""It opens sockets without a system call that could be looked at."""
_OTHER_WORDS = 0x40000000
"""From here on, calls of x86-64 with 32-bit pointers."""

_MACHINES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
"""The audit number of the architecture, and its number of socket()."""


def machine() -> str:
    return platform.machine()


def known() -> bool:
    return machine() in _MACHINES


def program() -> bytes:
    """For this machine: sockets only of the kind of files, and nothing of any other architecture."""
    architecture, socket = _MACHINES[machine()]
    steps = (
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 0, 7, architecture),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 5, 0, _OTHER_WORDS),
        (_EQUAL, 4, 0, _IO_URING_SETUP),
        (_EQUAL, 0, 2, socket),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_EQUAL, 0, 1, _UNIX),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    )
    return b"".join(struct.pack("=HBBI", code, yes, no, value) for code, yes, no, value in steps)


def take_network() -> None:
    """From the thread that calls it, for good. It has to have forgone new privileges before. Raises OSError."""
    steps = program()
    held = ctypes.create_string_buffer(steps, len(steps))
    filters = struct.pack("@HP", len(steps) // 8, ctypes.addressof(held))
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(_SET_SECCOMP, ctypes.c_ulong(_FILTER), filters, ctypes.c_ulong(0), ctypes.c_ulong(0)):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
