"""The files that a message may name, and what they define: those of the working directory that nothing ignores."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from agent_cli.talk.door import Symbol

MOST = 200_000
LONGEST = 5.0
"""Seconds after which the list ends where it is."""
UNSAID = re.compile("[\n\ud800-\udfff\ufffd]")
"""Line breaks, and what stands for bytes that are no UTF-8: a message cannot name such a file."""
COMMAND = (
    "git",
    "-c",
    "core.fsmonitor=false",
    "ls-files",
    "-z",
    "--cached",
    "--others",
    "--exclude-standard",
)


def files_below(directory: Path) -> list[str]:
    """Paths relative to the directory; git says what it ignores, else our own reading of .gitignore."""
    try:
        done = subprocess.run(
            COMMAND,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=LONGEST,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return list(_walked(directory))
    if done.returncode:
        return list(_walked(directory))
    found = done.stdout.decode("utf-8", "replace").split("\0")
    return [path for path in dict.fromkeys(found) if path and not UNSAID.search(path)][:MOST]


def symbols_below(directory: Path) -> list[Symbol]:
    """What the source files define, by a program that reads them meanwhile; as far as it came where there are many."""
    from agent_cli.tools import outline

    sources = [path for path in files_below(directory) if "\t" not in path and outline.known(path)]
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", outline.__file__],
            cwd=directory,
            input=os.fsencode("\0".join(sources)),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=LONGEST + outline.SECONDS,
            check=False,
        )
    except OSError:
        return []
    except subprocess.TimeoutExpired as late:
        written = late.stdout or b""
    else:
        written = done.stdout
    rows = (line.split("\t") for line in os.fsdecode(written[: written.rfind(b"\n") + 1]).split("\n"))
    return [Symbol(row[2], row[0], int(row[1])) for row in rows if len(row) == 3]


def _walked(directory: Path) -> Iterator[str]:
    from agent_cli.tools.ignore import ignored_below, walk

    end = time.monotonic() + LONGEST
    start = len(str(directory).rstrip("/")) + 1
    for number, path in enumerate(walk(str(directory), ignored_below(str(directory), str(directory)))):
        if number >= MOST or time.monotonic() > end:
            return
        if not UNSAID.search(path):
            yield path[start:]
