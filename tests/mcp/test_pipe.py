"""A server's process: nobody looks after it while nothing moves, and its end is told at once."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from agent_cli.mcp.journal import Journal
from agent_cli.mcp.pipe import connected
from agent_cli.mcp.servers import Stdio


def launch(tmp_path: Path, program: str) -> Stdio:
    return Stdio(sys.executable, ("-c", program), dict(os.environ), str(tmp_path))


def timers() -> list[Any]:
    loop: Any = asyncio.get_running_loop()
    return [timer for timer in loop._scheduled if not timer.cancelled()]


async def test_no_timer_runs_while_a_server_says_nothing(tmp_path: Path) -> None:
    ended = asyncio.Queue[str]()
    before = timers()
    program = "import os, sys; print(os.getpid(), file=sys.stderr, flush=True); sys.stdin.read()"
    journal = Journal(str(tmp_path / "journal"))
    async with connected(launch(tmp_path, program), journal, ended.put_nowait, None):
        while not journal.last:  # noqa: ASYNC110 - a journal tells nobody
            await asyncio.sleep(0.005)
        for _ in range(5):
            await asyncio.sleep(0)
        assert timers() == before
        os.kill(int(journal.last), signal.SIGTERM)
        assert await asyncio.wait_for(ended.get(), 10) == "it was killed by signal 15"


async def test_an_end_is_told_while_a_child_of_the_server_still_holds_its_output(tmp_path: Path) -> None:
    ended = asyncio.Queue[str]()
    program = "import subprocess, sys; subprocess.Popen(['sleep', '60']); sys.exit(3)"
    async with connected(
        launch(tmp_path, program), Journal(str(tmp_path / "journal")), ended.put_nowait, None
    ):
        assert await asyncio.wait_for(ended.get(), 10) == "it ended with exit code 3"
