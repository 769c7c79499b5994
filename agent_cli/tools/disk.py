"""Files as the tools read and replace them."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

from agent_cli.kernel.errors import ToolError

_MEANING = {
    errno.EACCES: "permission denied: this user may not do that",
    errno.EPERM: "the system does not permit it",
    errno.EROFS: "the disk is mounted read-only (EROFS)",
    errno.ENOSPC: "no space is left on the disk (ENOSPC)",
    errno.EDQUOT: "the disk quota is used up (EDQUOT)",
    errno.EISDIR: "it is a directory",
    errno.ENOTDIR: "a part of the path is a file, not a directory",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ELOOP: "its symbolic links go in a circle",
    errno.EFBIG: "the file would become too large",
    errno.EMFILE: "too many files are open",
    errno.ETXTBSY: "the program is running",
    errno.EIO: "the disk reports an error (EIO)",
}
_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a pipe (FIFO), which would wait for a writer"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a block device"),
)


def flag(*names: str) -> int:
    """Flags of `os.open`, as far as this system has them."""
    return sum({int(getattr(os, name, 0)) for name in names})


_SEALED = flag("O_CLOEXEC", "O_BINARY")
_WALK = getattr(os, "O_PATH", os.O_RDONLY) | flag("O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC")
"""Flags for a directory that is only gone through; a link is none."""


def explain(problem: OSError, doing: str, shown: str) -> ToolError:
    """E.g. `Cannot write src/a.py: no space is left on the disk (ENOSPC).`"""
    meaning = _MEANING.get(problem.errno or 0) or problem.strerror or str(problem)
    return ToolError(f"Cannot {doing} {shown}: {meaning}.")


def kind_of(mode: int) -> str | None:
    """What it is where it is no regular file."""
    return next((name for test, name in _KINDS if test(mode)), None)


def open_file(path: str, shown: str) -> BufferedReader:
    """A regular file for reading, opened without waiting for anybody. Raises ToolError and OSError."""
    _check_kind(Path(path).stat().st_mode, shown)
    descriptor = os.open(path, os.O_RDONLY | flag("O_NONBLOCK") | _SEALED)
    try:
        _check_kind(os.fstat(descriptor).st_mode, shown)
    except BaseException:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def _check_kind(mode: int, shown: str) -> None:
    odd = kind_of(mode)
    if odd is not None:
        hint = " List it instead." if odd == "a directory" else ""
        raise ToolError(f"{shown} is {odd}, not a file.{hint}")


def content_of(path: str) -> bytes | None:
    """All of a regular file, None where there is nothing. Raises OSError."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        return None


def replace(path: str, raw: bytes) -> None:
    """The whole file in one step: readers see the old content or the new one, never a part.

    `path` is resolved: where a link stands in it by now, nothing is written. Keeps mode, owner where the system permits
    it, and extended attributes; makes parents. Raises OSError.
    """
    place = Path(path)
    if os.open not in os.supports_dir_fd:  # Windows
        place.parent.mkdir(parents=True, exist_ok=True)
        _put(staged(path, raw, like=path), place, None)
        return
    parent = _opened(place.parent)
    try:
        _put(staged(path, raw, like=path, parent=parent), place, parent)
    finally:
        os.close(parent)


def _put(beside: Path, place: Path, parent: int | None) -> None:
    new, old = (beside, place) if parent is None else (Path(beside.name), Path(place.name))
    try:
        os.replace(new, old, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(new, dir_fd=parent)
        raise


def _opened(directory: Path) -> int:
    """A descriptor of the directory, reached through no link; it is made where it is missing. Raises OSError."""
    reached = os.open("/", _WALK)
    try:
        for name in directory.parts[1:]:
            further = _step(name, reached)
            os.close(reached)
            reached = further
    except BaseException:
        os.close(reached)
        raise
    return reached


def _step(name: str, directory: int) -> int:
    with contextlib.suppress(FileNotFoundError):
        return os.open(name, _WALK, dir_fd=directory)
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, dir_fd=directory)
    return os.open(name, _WALK, dir_fd=directory)


def staged(path: str, raw: bytes, *, like: str, parent: int | None = None) -> Path:
    """The content in a file beside its place, with mode, owner and attributes of `like` where that exists.

    Its parent exists, and is `parent` where that is open. Raises OSError; nothing is left then.
    """
    old = _facts(Path(like))
    beside = Path(path).parent / f".agent-{os.urandom(6).hex()}.tmp"
    named = beside if parent is None else Path(beside.name)
    flags, mode = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SEALED, 0o666 if old is None else 0o600
    descriptor = os.open(named, flags, mode, dir_fd=parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(raw)
            file.flush()
            if old is not None:
                _keep(file.fileno(), like, old)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(named, dir_fd=parent)
        raise
    return beside


def _facts(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _keep(descriptor: int, path: str, old: os.stat_result) -> None:
    own = os.fstat(descriptor)
    if (own.st_uid, own.st_gid) != (old.st_uid, old.st_gid) and hasattr(os, "fchown"):
        with contextlib.suppress(OSError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            for name in os.listxattr(path):
                os.setxattr(descriptor, name, os.getxattr(path, name))
