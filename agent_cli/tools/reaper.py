"""A process that ends what this one started, should this one die without a word."""

from __future__ import annotations

import contextlib
import os
import subprocess
import weakref

from agent_cli.tools.process import MARK

_SCRIPT = """trap '' HUP INT TERM QUIT
while read -r sign group; do
  case $sign in
    +) groups="$groups $group" ;;
    -) kept=; for each in $groups; do [ "$each" = "$group" ] || kept="$kept $each"; done; groups=$kept ;;
    .) calm=yes ;;
  esac
done
for group in $groups; do kill -9 -- "-$group"; done
[ -d /proc/self ] || exit 0
for look in 1 2 3 4 5; do
  for place in $(grep -lsz "^$1=$2\\." /proc/[0-9]*/environ); do
    place=${place#/proc/}; kill -9 "${place%/environ}"
  done
  [ -z "$calm" ] || exit 0
  sleep 0.05
done
"""
"""It looks several times: what is being started shows no environment for a moment, and may start another first."""


class Reaper:
    """Starts with the first group. It learns of the death of this process by the end of a pipe.

    `mark` stands in the environment of everything that is started, so that also what left its group is found.
    """

    def __init__(self) -> None:
        self.mark = os.urandom(8).hex()
        self._process: subprocess.Popen[bytes] | None = None
        self._end: weakref.finalize[[subprocess.Popen[bytes]], Reaper] | None = None

    def begin(self) -> None:
        """To be called before the first program is started: this process may die right after that."""
        self._tell("")

    def watch(self, group: int) -> None:
        self._tell(f"+ {group}\n")

    def forget(self, group: int) -> None:
        self._tell(f"- {group}\n")

    def close(self) -> None:
        """It ends what is left, then itself."""
        self._process = None
        if self._end is not None:
            self._end()

    def _tell(self, line: str) -> None:
        """Without it the program still works; only a violent death would leave something behind."""
        with contextlib.suppress(OSError):
            if self._process is None:
                self._process = _started(self.mark)
                self._end = weakref.finalize(self, _let_go, self._process)
            if self._process.stdin is not None:
                self._process.stdin.write(line.encode())


def _started(mark: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["/bin/sh", "-c", _SCRIPT, "sh", MARK, mark],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        bufsize=0,
        start_new_session=True,
    )


def _let_go(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.write(b".\n")  # nobody died: one look is enough
        with contextlib.suppress(OSError):
            process.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=1)
