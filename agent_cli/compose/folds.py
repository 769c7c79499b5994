"""Where a session's kept fold lies: one file in the state directory, which may be taken away at any time."""

from __future__ import annotations

import contextlib
import hashlib
from functools import cache
from pathlib import Path

from agent_cli import __version__

ROOMS = ("kernel", "context", "guardrails", "engine")
"""Whose code makes folds."""


class FoldFile:
    """Its first line names the program and the digest of the rest: of another program, or damaged, it is none."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / "fold"

    def get(self) -> bytes | None:
        try:
            if not self._path.is_file():  # a pipe or a device would never end
                return None
            head, _, fold = self._path.read_bytes().partition(b"\n")
        except OSError:
            return None
        return fold if head == _head(fold) else None

    def put(self, fold: bytes) -> None:
        """Best effort: without it the next start takes longer, and nothing else changes."""
        unfinished = self._path.with_suffix(".part")
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            unfinished.touch(mode=0o600)
            unfinished.write_bytes(_head(fold) + b"\n" + fold)
            unfinished.replace(self._path)


def _head(fold: bytes) -> bytes:
    return f"{_program()} {hashlib.blake2b(fold, digest_size=16).hexdigest()}".encode()


@cache
def _program() -> str:
    """The version, and the size and time of each file that has a part in it: code changes without its version."""
    root = Path(__file__).resolve().parents[1]
    files = sorted(path for room in ROOMS for path in (root / room).rglob("*.py"))
    stats = [(str(path.relative_to(root)), path.stat()) for path in files]
    said = "".join(f"{name} {stat.st_size} {stat.st_mtime_ns}\n" for name, stat in stats)
    return f"{__version__}-{hashlib.blake2b(said.encode(), digest_size=16).hexdigest()}"
