"""Commands in the background: started, listed, read, ended; nothing of them outlives the session."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_cli.tools import bash as shell
from agent_cli.tools import process, shells
from agent_cli.tools.shells import Shells
from tests.tools.bench import Bench
from tests.tools.test_bash import running, until_gone, until_there


@pytest.fixture(autouse=True)
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRACE", 0.2)
    monkeypatch.setattr(shell, "MOMENT", 0.2)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    found = Bench(tmp_path)
    yield found
    found.workspace.shells.close()


def marker() -> str:
    """A number of seconds that no other process sleeps."""
    return f"{int.from_bytes(os.urandom(3)) + 100_000}.5"


async def test_a_command_runs_on_and_is_read_in_pieces(bench: Bench) -> None:
    text = await bench.text("bash", command="echo one; read x < go; echo two; exit 4 ", background=True)
    assert "[b1: exit code 4" in text  # there is no such file yet
    os.mkfifo(bench.root / "go")
    text = await bench.text("bash", command="echo one; read x < go; echo got $x; exit 4", background=True)
    assert text.startswith("one\n[b2: running for 0 s")
    assert "(nothing new)" in await bench.text("bash_output", id="b2")
    waiting = asyncio.create_task(bench.text("bash_output", id="b2", wait=20))
    await asyncio.to_thread((bench.root / "go").write_text, "it\n")
    assert "got it" in await waiting
    assert "[b2: exit code 4 after" in await bench.text("bash_output", id="b2", wait=20)
    assert "(nothing new)\n[b2: exit code 4" in await bench.text("bash_output", id="b2")


async def test_what_fails_at_once_is_told_at_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "MOMENT", 20)
    text = await bench.text("bash", command="nonsense_command_x", background=True)
    assert "command not found" in text
    assert "[b1: exit code 127" in text


async def test_they_are_listed(bench: Bench) -> None:
    assert await bench.text("bash_output") == "No command was started in the background."
    await bench.call("bash", command="sleep 1000", background=True)
    assert "b1: running for 0 s: sleep 1000" in await bench.text("bash_output")
    assert "There is no background command 'b7'. b1: running" in await bench.refused("bash_output", id="b7")


async def test_ending_ends_everything_that_it_started(bench: Bench) -> None:
    mark = marker()
    await bench.call(
        "bash", command=f"trap '' TERM; sleep {mark} & setsid sleep {mark} & echo up; wait", background=True
    )
    await until_there(mark)
    output = await bench.text("bash_kill", id="b1")
    assert "[b1: ended after" in output
    assert not running(mark)
    again = await bench.call("bash_kill", id="b1")
    assert again.no_op


async def test_the_end_of_the_session_ends_them(bench: Bench) -> None:
    mark = marker()
    command = f"(setsid bash -c 'sleep {mark}; :' &) ; nohup sleep {mark} & sleep {mark}"
    await bench.call("bash", command=command, background=True)
    await until_there(mark)
    bench.workspace.shells.close()
    await until_gone(mark)
    bench.workspace.shells.close()


async def test_what_it_leaves_when_it_ends_by_itself_is_ended(bench: Bench) -> None:
    mark = marker()
    text = await bench.text("bash", command=f"sleep {mark} & echo left", background=True)
    assert "left" in text
    await until_gone(mark)
    assert "what it left in the background was ended" in await bench.text("bash_output", id="b1", wait=20)


async def test_a_time_limit_holds_where_one_is_given(bench: Bench) -> None:
    await bench.call("bash", command="sleep 1000", background=True, timeout=0.3)
    assert "[b1: ended, its 0.3 s were up, after" in await bench.text("bash_output", id="b1", wait=20)


async def test_so_many_at_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shells, "MOST", 2)
    monkeypatch.setattr(shell, "MOMENT", 0.01)
    for _ in range(2):
        await bench.call("bash", command="sleep 1000", background=True)
    told = await bench.refused("bash", command="sleep 1000", background=True)
    assert "2 commands run in the background already (b1, b2)" in told
    await bench.call("bash_kill", id="b1")
    await bench.call("bash", command="sleep 1000", background=True)


async def test_a_flood_is_bounded_in_memory_and_ended(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shells, "FLOOD", 200_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    await bench.call("bash", command="printf 'x\\0\\033[31m'; yes", background=True)
    await bench.workspace.shells.find("b1").ended.wait()
    text = await bench.text("bash_output", id="b1")
    assert "ended because it wrote more than 200,000,000 bytes" in text
    assert "\0" not in text
    assert "\x1b" not in text
    assert len(text) < 3 * shells.UNREAD
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


async def test_the_ended_ones_are_forgotten_in_time(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shells, "KEPT", 1)
    monkeypatch.setattr(shell, "MOMENT", 20)
    for _ in range(4):
        await bench.call("bash", command="true", background=True)
    assert (await bench.text("bash_output")).count("exit code 0") == 2


DIES = """
import asyncio, os, signal, sys
from pathlib import Path
from agent_cli.tools.builtin import builtin
from agent_cli.tools.workspace import Workspace
from agent_cli.kernel import wire

async def main():
    tools = {tool.spec.name: tool for tool in builtin(Workspace(Path(sys.argv[1])))}
    async def call(**given):
        await tools["bash"].run(wire.arguments(tools["bash"].arguments, given), lambda text: None)
    await call(command=f"sleep {sys.argv[2]} & setsid sleep {sys.argv[2]} & wait", background=True)
    print("up", flush=True)
    await call(command=f"setsid sleep {sys.argv[3]} & sleep {sys.argv[3]}")

asyncio.run(main())
"""


async def test_nothing_outlives_a_process_that_is_killed(tmp_path: Path) -> None:
    """Neither the background nor the running call, nor what left its group."""
    behind, before = marker(), marker()
    words = ("-c", DIES, str(tmp_path), behind, before)
    dying = await asyncio.create_subprocess_exec(sys.executable, *words, stdout=asyncio.subprocess.PIPE)
    assert dying.stdout is not None
    assert await dying.stdout.readline() == b"up\n"
    await until_there(behind)
    await until_there(before)
    dying.send_signal(signal.SIGKILL)
    await dying.wait()
    await until_gone(behind)
    await until_gone(before)


async def test_the_reaper_ends_with_the_session() -> None:
    found = Shells()
    found.reaper.watch(2**22 - 1)
    found.reaper.forget(2**22 - 1)
    process = found.reaper._process
    assert process is not None
    found.close()
    assert process.returncode == 0
