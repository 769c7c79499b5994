"""Which content of which file the model has seen in this session."""

from __future__ import annotations

import os
from pathlib import Path

LARGEST_HASHED = 64_000_000
"""Larger files are known by size, time and inode instead of by content."""
_REMEMBERED = 500
_CHUNK = 1 << 20


class Seen:
    """Resolved path → digest of the content that the model last read or wrote."""

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}

    def mark(self, path: str, digest: str) -> None:
        self._digests[path] = digest

    def paths(self) -> tuple[str, ...]:
        """The newest last, at most `_REMEMBERED`."""
        return tuple(self._digests)[-_REMEMBERED:]

    def is_known(self, path: str) -> bool:
        """Whether it still holds what the model last saw."""
        known = self._digests.get(path)
        try:
            return known is not None and digest_of_file(path) == known
        except OSError:
            return False

    def digest(self, path: str) -> str | None:
        return self._digests.get(path)


def digest_of(raw: bytes) -> str:
    from hashlib import sha256

    return sha256(raw).hexdigest()


def digest_of_file(path: str) -> str:
    """The same for a file, read in pieces. Raises OSError."""
    from hashlib import sha256

    with Path(path).open("rb") as file:
        facts = os.fstat(file.fileno())
        if facts.st_size > LARGEST_HASHED:
            return f"{facts.st_size}:{facts.st_mtime_ns}:{facts.st_ino}"
        digest = sha256()
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
