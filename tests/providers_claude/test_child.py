"""The program dies with us, however we die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.providers_claude.delegated import is_running, until

OURS = """
import asyncio, os, sys
from agent_cli.providers.claude.child import Child

async def main():
    child = Child(["/bin/sh", "-c", "sleep 60 & echo $! ; exec sleep 60"], "/", dict(os.environ))
    async for line in child.lines():
        print(child.pid, line.decode(), flush=True)

asyncio.run(main())
"""


async def test_a_kill_of_us_ends_the_program_and_what_it_started(tmp_path: Path) -> None:
    ours = subprocess.Popen(  # noqa: ASYNC220 - it is killed from outside, as the system does it
        [sys.executable, "-c", OURS], stdout=subprocess.PIPE, text=True
    )
    assert ours.stdout is not None
    with ours.stdout as told:
        pids = [int(word) for word in told.readline().split()]
    assert len(pids) == 2
    assert all(map(is_running, pids))
    os.kill(ours.pid, signal.SIGKILL)
    ours.wait(10)
    await until(lambda: not any(map(is_running, pids)))
