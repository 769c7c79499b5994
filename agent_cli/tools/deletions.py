"""How many bytes a call deletes: those of the files that it names, and of all that lies in directories that it names."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice

MOST = 5_000
"""Files; what lies beyond is not counted."""


def bytes_of(paths: Iterable[str]) -> int:
    """Links count as what they are themselves. What is not there, or cannot be looked at, counts as nothing."""
    total, waiting, looked = 0, list(dict.fromkeys(paths)), 0
    while waiting and looked < MOST:
        path = waiting.pop()
        with suppress(OSError, ValueError):
            found = os.lstat(path)
            if stat.S_ISDIR(found.st_mode):
                waiting += _inside(path)
            else:
                total += found.st_size
                looked += 1
    return total


def _inside(directory: str) -> list[str]:
    with os.scandir(directory) as entries:
        return [entry.path for entry in islice(entries, MOST)]
