"""Appends until it is told to stop; see `made.writer`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from agent_cli.kernel.errors import SessionNotFound
from agent_cli.kernel.events import OperatorNote
from agent_cli.store.sqlite import open_store
from tests.store.made import entry


def main(path: str, session: str, count: str, size: str) -> None:
    store = open_store(Path(path))
    try:
        log = store.open(session)
    except SessionNotFound:
        log = store.create(session, "/")
    last = max((held.seq for held in log.read()), default=0)
    for seq in range(last + 1, last + int(count) + 1):
        log.append(entry(seq, OperatorNote(f"note {seq} of {session}" + "x" * int(size)), session))
        os.write(1, b"%d\n" % seq)
    sys.stdin.readline()
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
