"""What files a project brings, and a digest of them: by what they are, not only by what they are called."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

READ = 64 << 20
"""Bytes that are read of all files together. Of what is more, size and times tell whether it is another one."""
FARTHEST = 2_000
"""Places that are looked at behind links that lead out of the project, which may be the whole disk."""


def digest(wanted: Iterable[tuple[Path, Path]], within: Path) -> bytes:
    """Of files and directories, each with the directory that its name counts from. `within` is the project."""
    found, left = hashlib.blake2b(digest_size=16), READ
    for path, base in wanted:
        for file, is_near in below(path, within):
            found.update(f"\0{os.path.relpath(file, base)}\0".encode(errors="surrogateescape"))
            with contextlib.suppress(OSError):
                content = _content(file, left if is_near else 0)
                left -= len(content)
                found.update(hashlib.blake2b(content).digest())
    return found.digest()


def below(path: Path, within: Path) -> list[tuple[Path, bool]]:
    """The files of a directory in a fixed order, those behind links too, and whether each lies in a directory of the
    project. A file is itself.
    """
    if not os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises where it may not look
        return [(path, True)]
    return sorted(_walked(path, os.path.realpath(within)))


def _walked(top: Path, own: str) -> Iterator[tuple[Path, bool]]:
    seen: set[str] = set()
    far = 0
    for place, directories, files in os.walk(top, followlinks=True):
        real = os.path.realpath(place)
        is_near = real == own or real.startswith(own.rstrip("/") + "/")
        far += 0 if is_near else 1 + len(files)
        if real in seen or far > FARTHEST:
            directories.clear()
            continue
        seen.add(real)
        directories.sort()
        for name in files:
            file = Path(place, name)
            if os.path.isfile(file):  # noqa: PTH113 - as above
                yield file, is_near


def _content(file: Path, left: int) -> bytes:
    """At most so many bytes, or what tells another file from it. Raises OSError."""
    held = file.stat()
    if not stat.S_ISREG(held.st_mode):
        return b""
    if held.st_size > left:
        return f"{held.st_size} {held.st_mtime_ns} {held.st_ctime_ns}".encode()
    with file.open("rb") as opened:
        return opened.read(held.st_size)
