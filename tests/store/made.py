"""Entries for the tests of the store, and a process of its own that writes them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent_cli.kernel.events import Entry, OperatorNote, Recorded, SessionStarted

ROOT = Path(__file__).resolve().parents[2]


def entry(seq: int, event: Recorded | None = None, session: str = "s-1", turn: int = 0) -> Entry:
    return Entry(session, seq, 1000.0 + seq, turn, 0, event or OperatorNote(f"note {seq} of {session}"))


def started(cwd: str = "/home/me", model: str = "m-1") -> SessionStarted:
    return SessionStarted(cwd, "0.1.0", "linux", "2026-01-01", "p-1", model, "ask")


@contextmanager
def writer(
    path: Path, session: str, count: int = 1_000_000, size: int = 0
) -> Iterator[subprocess.Popen[str]]:
    """A process that appends to `session` and prints each seq once append() has returned for it."""
    command = [sys.executable, "-m", "tests.store.writer", str(path), session, str(count), str(size)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()
