"""Programs of the system that confine what they start: bubblewrap on Linux, sandbox-exec on macOS. Their words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agent_cli.tools.sandbox.confines import Confines

_DEVICES = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/dtracehelper")


def bubblewrap(program: str, confines: Confines) -> tuple[str, ...]:
    """Everything is there to be read; what is writable is mounted over it, and what stays closed over that."""
    words = [program, "--ro-bind", "/", "/", "--dev", "/dev"]
    if confines.writable and Path("/dev/shm").is_dir():  # noqa: S108  where programs share memory
        words += ["--bind", "/dev/shm", "/dev/shm"]  # noqa: S108
    for path in confines.writable:
        words += ["--bind-try", path, path]
    for path in confines.closed:
        words += ["--ro-bind-try", path, path]
    words += [] if confines.network else ["--unshare-net"]
    return (*words, "--die-with-parent", "--")


def seatbelt(program: str, confines: Confines) -> tuple[str, ...]:
    """The last rule that fits decides. Paths are parameters, so that none has to be quoted."""
    writable = {f"W{at}": path for at, path in enumerate(confines.writable)}
    closed = {f"C{at}": path for at, path in enumerate(confines.closed)}
    values = [
        word for name, path in (*writable.items(), *closed.items()) for word in ("-D", f"{name}={path}")
    ]
    return (program, "-p", "\n".join(_profile(confines, writable, closed)), *values, "--")


def _profile(confines: Confines, writable: dict[str, str], closed: dict[str, str]) -> Iterator[str]:
    yield "(version 1)"
    yield "(allow default)"
    yield "(deny file-write*)"
    for path in _DEVICES:
        yield f'(allow file-write-data (literal "{path}"))'
    yield '(allow file-write-data (regex #"^/dev/fd/"))'
    for name in writable:
        yield f'(allow file-write* (subpath (param "{name}")))'
    for name in closed:
        yield f'(deny file-write* (subpath (param "{name}")))'
    if not confines.network:
        yield "(deny network*)"
