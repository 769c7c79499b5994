"""Contents by their digest, compressed, each once."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable
from pathlib import Path


class Blobs:
    """`size` is bytes on disk, as far as this process knows them."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._size: int | None = None

    @property
    def size(self) -> int:
        if self._size is None:
            self._size = sum(path.stat().st_size for path in self._directory.glob("*/*"))
        return self._size

    def put(self, data: bytes) -> str:
        """The digest by which `get` finds it. Raises OSError."""
        digest = hashlib.blake2b(data, digest_size=20).hexdigest()
        path = self._path(digest)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            packed = zlib.compress(data, 1)
            unfinished = path.with_suffix(".part")
            unfinished.touch(mode=0o600)
            unfinished.write_bytes(packed)
            unfinished.replace(path)
            self._size = self.size + len(packed) if self._size is not None else None
        return digest

    def get(self, digest: str) -> bytes:
        """Raises LookupError where it is gone or damaged."""
        try:
            return zlib.decompress(self._path(digest).read_bytes())
        except (OSError, zlib.error):
            raise LookupError("what it held was not kept, or was removed since") from None

    def only(self, digests: Iterable[str]) -> None:
        """Takes away all others."""
        wanted = set(digests)
        for path in list(self._directory.glob("*/*")):
            if path.name not in wanted:
                path.unlink(missing_ok=True)
        self._size = None

    def _path(self, digest: str) -> Path:
        return self._directory / digest[:2] / digest
