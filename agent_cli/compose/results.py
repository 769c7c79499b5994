"""Whole results that outlived their session are taken away, in the background and not at once."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path

DELAY = 20.0
"""Seconds after the start; what is over sooner takes nothing away."""
KEPT_DAYS = 30.0
DAY = 86_400.0
_SESSION = re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}")


def sweep_later(results: Path, known: Callable[[], frozenset[str]]) -> Callable[[], None]:
    """Sweeps once, in a thread of its own. Gives what calls it off.

    `known` gives the ids of all sessions that there are; it is asked only where something is old.
    """
    timer = threading.Timer(DELAY, _sweep, (results, known))
    timer.daemon = True
    timer.start()
    return timer.cancel


def _sweep(results: Path, known: Callable[[], frozenset[str]]) -> None:
    try:
        sweep(results, known, time.time())
    except Exception:
        logging.getLogger("agent_cli.compose").exception("old results could not be taken away")


def sweep(results: Path, known: Callable[[], frozenset[str]], now: float) -> int:
    """Removes directories whose session is gone and in which nothing was written for 30 days; how many went.

    Raises OSError and StoreError where nobody can say what there is.
    """
    old = _old(results, now - KEPT_DAYS * DAY)
    orphans = old - known() if old else frozenset[str]()
    for name in orphans:
        import shutil  # only a session that ends with old results needs it

        shutil.rmtree(results / name, ignore_errors=True)
    return len(orphans)


def _old(results: Path, before: float) -> frozenset[str]:
    """Directories with the name of a session, never what a link leads to."""
    found: set[str] = set()
    with contextlib.suppress(FileNotFoundError), os.scandir(results) as entries:
        for entry in entries:
            named = _SESSION.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            if named and entry.stat(follow_symlinks=False).st_mtime < before:
                found.add(entry.name)
    return frozenset(found)
