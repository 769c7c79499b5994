"""Advisory locks on open files. The system lets go of them when the process dies, however it dies."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import msvcrt
    import os

    def try_lock(descriptor: int) -> bool:
        """Whether the lock is ours now."""
        os.lseek(descriptor, 0, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def wait_for_lock(descriptor: int) -> None:
        """Returns when the lock is ours. Raises OSError where it does not come within ten seconds."""
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)

else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Whether the lock is ours now."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def wait_for_lock(descriptor: int) -> None:
        """Returns when the lock is ours."""
        fcntl.flock(descriptor, fcntl.LOCK_EX)
