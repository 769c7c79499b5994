"""The right to write one session: an advisory lock of the operating system, gone when its process is.

The lock belongs to the open file, so that a second lease is refused inside one process as well.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from agent_cli.kernel.errors import SessionLocked, StoreUnwritable
from agent_cli.locking import try_lock


class Lease:
    """Holds the lock until `release`. The file also says, for people, which process holds it."""

    __slots__ = ("_descriptor", "_file")

    def __init__(self, file: Path, descriptor: int) -> None:
        self._file = file
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        """Idempotent."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return
        # First the name, then the lock: whoever opened the old file meanwhile sees that its name is gone.
        # A name that stays is harmless: only the lock counts.
        with contextlib.suppress(OSError):
            self._file.unlink()
        os.close(descriptor)


def take(directory: Path, session: str) -> Lease:
    """Raises SessionLocked naming the process that holds it, and StoreUnwritable."""
    file = directory / f"{session}.lock"
    try:
        directory.mkdir(mode=0o700, exist_ok=True)
        lease = None
        while lease is None:
            lease = _attempt(file, session)
        return lease
    except OSError as problem:
        raise StoreUnwritable(
            f"The session '{session}' could not be claimed: {problem}. Without that, two processes could "
            "write it at once. Make the directory writable, or use --session-db PATH or --ephemeral."
        ) from problem


def holder_of(directory: Path, session: str) -> str:
    """Who writes the session now, as `process 123`; "" for nobody. Nobody's claim is hindered by asking."""
    try:
        descriptor = os.open(directory / f"{session}.lock", os.O_RDWR)
    except OSError:
        return ""  # the file is gone with its lease
    try:
        written = _written(descriptor)
        if not written.isdigit() or not _lives(int(written)) or try_lock(descriptor):
            return ""
        return f"process {written}"
    finally:
        os.close(descriptor)


def _written(descriptor: int) -> str:
    return os.pread(descriptor, 20, 0).decode(errors="replace").strip() if hasattr(os, "pread") else ""


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _attempt(file: Path, session: str) -> Lease | None:
    """None where the previous holder removed the file between our opening and our locking it."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    claimed = False
    try:
        claimed = _claim(file, descriptor, session)
    finally:
        if not claimed:
            os.close(descriptor)
    return Lease(file, descriptor) if claimed else None


def _claim(file: Path, descriptor: int, session: str) -> bool:
    if not try_lock(descriptor):
        raise _refused(session, descriptor)
    try:
        if not os.path.samestat(file.stat(), os.fstat(descriptor)):
            return False
    except FileNotFoundError:
        return False
    os.ftruncate(descriptor, 0)
    os.write(descriptor, str(os.getpid()).encode())
    return True


def _refused(session: str, descriptor: int) -> SessionLocked:
    holder = _written(descriptor)
    by = f"process {holder}" if holder else "another process"
    return SessionLocked(
        f"Session '{session}' is open in {by}. Only one process writes a session, so that none loses what "
        "the other records. Go on there or end it, or start a new session."
    )
