"""The shell: results, limits, the directory it keeps, and that nothing outlives a call."""

import asyncio
import contextlib
import gc
import os
import subprocess
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import Shown, as_text
from agent_cli.tools import bash as shell
from agent_cli.tools import process
from agent_cli.tools.capture import Capture, Live, plain
from agent_cli.tools.process import Child
from agent_cli.tools.wants import wants_a_screen
from tests.fakes.pace import slowness
from tests.tools.bench import Bench


@pytest.fixture(autouse=True)
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not end when asked is ended after a fifth of a second."""
    monkeypatch.setattr(process, "GRACE", 0.2)


def running(marker: str) -> bool:
    """Whether a process runs whose command line holds the marker."""
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes().decode(errors="replace")
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except (OSError, IndexError):
            continue
        if marker in line and state != "Z":
            return True
    return False


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def until(holds: Callable[[], bool]) -> None:
    for _ in range(3_000):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come to that")


async def until_gone(marker: str) -> None:
    await until(lambda: not running(marker))


async def until_there(marker: str) -> None:
    await until(lambda: running(marker))


@pytest.mark.parametrize(
    ("command", "text", "ok"),
    (
        ("echo hello", "hello\n[exit code 0]", True),
        ("true", "[exit code 0]", True),
        ("exit 3", "[exit code 3]", False),
        ("echo out; echo err >&2", "out\nerr\n[exit code 0]", True),
        ("printf 'no newline'", "no newline\n[exit code 0]", True),
        ("cat", "[exit code 0]", True),
        ("read x; echo $?", "1\n[exit code 0]", True),
        ("kill -9 $$", "[ended by SIGKILL]", False),
        ("printf '\\033[31mred\\033[0m \\033]0;title\\007x'", "red x\n[exit code 0]", True),
        ("printf 'a\\377b'", "a\ufffdb\n[exit code 0]", True),
        ("printf '10%%\\r50%%\\r100%%\\nnext'", "100%\nnext\n[exit code 0]", True),
        ("nonsense_command_x", "nonsense_command_x: command not found\n[exit code 127]", False),
        ("[[ a == a ]] && echo bash", "bash\n[exit code 0]", True),
        ("test -t 0 || test -t 1 || echo none", "none\n[exit code 0]", True),
    ),
)
async def test_results(bench: Bench, command: str, text: str, *, ok: bool) -> None:
    output = await bench.call("bash", command=command)
    assert as_text(output).removeprefix("/bin/bash: line 1: ").removeprefix("/usr/bin/bash: line 1: ") == text
    assert output.ok is ok


@pytest.mark.parametrize(
    ("command", "ok"),
    (
        ("grep absent a.txt", True),
        ("ls && grep absent a.txt", True),
        ("cat a.txt | grep -c absent", True),
        ("diff a.txt b.txt", True),
        ("test -f absent", True),
        ("[ -f absent ]", True),
        ("cmp -s a.txt b.txt", True),
        ("git diff --no-index a.txt b.txt", True),
        ("cd . && grep absent a.txt > /dev/null", True),
        ("grep absent missing.txt", False),
        ("diff a.txt missing.txt", False),
        ("grep absent a.txt && true", False),
        ("sh -c 'exit 1'", False),
        ("false", False),
        ("ls absent", False),
    ),
)
async def test_exit_code_one_is_an_answer_of_programs_that_say_no(
    bench: Bench, command: str, *, ok: bool
) -> None:
    bench.put("a.txt", "one\n")
    bench.put("b.txt", "two\n")
    assert (await bench.call("bash", command=command)).ok is ok


async def test_the_directory_is_kept_inside_the_project(bench: Bench) -> None:
    (bench.root / "sub" / "deep").mkdir(parents=True)
    assert await bench.text("bash", command="cd sub && pwd") == f"{bench.root}/sub\n[exit code 0]"
    assert await bench.text("bash", command="pwd") == f"{bench.root}/sub\n[exit code 0]"
    assert "[exit code 4]" in await bench.text("bash", command="cd deep; exit 4")
    assert await bench.text("bash", command="pwd") == f"{bench.root}/sub/deep\n[exit code 0]"
    told = await bench.text("bash", command="cd /tmp")
    assert f"[/tmp is outside the project: the next command starts in {bench.root}/sub/deep again]" in told
    assert "[exit code 0]" in await bench.text(
        "bash", command="(cd /tmp); pushd .. >/dev/null; popd >/dev/null"
    )
    assert bench.workspace.cwd == f"{bench.root}/sub/deep"
    (bench.root / "sub/deep").rmdir()
    told = await bench.text("bash", command="pwd")
    assert f"{bench.root}/sub/deep is gone; this ran in {bench.root}" in told
    assert "syntax error" in await bench.text("bash", command="cd sub; if")


@pytest.mark.parametrize(
    ("command", "said"),
    (
        ("git commit", "empty commit message"),
        ("git rm -q --cached f; git rebase -i HEAD~1", "editor 'false'"),
        ("git clone -q https://127.0.0.1:1/x y", "unable to access"),
        ("$EDITOR file", ""),
        ("sudo -k true < /dev/tty", "/dev/tty"),
    ),
)
async def test_programs_that_want_a_person_fail_fast(bench: Bench, command: str, said: str) -> None:
    setup = f"cd '{bench.root}' && git init -q . && git config user.email a@b.c && git config user.name n && git commit -q --allow-empty -m 1 && "
    setup += "git commit -q --allow-empty -m 2 && touch f && git add f"
    await asyncio.to_thread(subprocess.run, ["bash", "-c", setup], check=True, stdin=subprocess.DEVNULL)
    begun = time.monotonic()
    output = await bench.call("bash", command=command, timeout=20)
    assert not output.ok
    assert said in as_text(output)
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize(
    "command",
    ("vim a.txt", "cd . && /usr/bin/vi a.txt", "sudo vim a.txt", "nvim", "GIT_EDITOR=vim vimdiff a b"),
)
async def test_an_editor_that_would_wait_for_keys_is_not_started(bench: Bench, command: str) -> None:
    assert "nobody to type" in await bench.refused("bash", command=command)


@pytest.mark.parametrize(
    "command",
    (
        "vim -es a.txt -c wq",
        "vim --version",
        "echo vim",
        "which vim",
        "git config core.editor vim",
        "nvim --headless +q",
        "sudo apt-get install vim",
        "make vi",
        "ls | grep vim",
    ),
)
def test_an_editor_that_ends_by_itself_is(command: str) -> None:
    assert wants_a_screen(command) == ""


async def test_the_time_limit_ends_everything_and_keeps_what_was_said(bench: Bench) -> None:
    command = "echo before; (trap '' TERM; sleep 61.25; echo after) & sleep 61.25; echo after"
    output = await bench.call("bash", command=command, timeout=1)
    assert as_text(output) == (
        "before\n[timed out after 1 s and was ended; the output may be partial]"
        "\n[what it still waited for: 'sleep 61.25', 'sleep 61.25']"
    )
    assert not output.ok
    await until_gone("61.25")


@pytest.mark.parametrize(
    ("command", "told"),
    (
        ("cat pipe", "'cat pipe'"),
        ("true; cat pipe | wc -l", "'cat pipe', 'wc -l'"),
        ("echo x > pipe", "echo x > pipe"),
        ("tail -f a.txt", "'tail -f a.txt'"),
        ("printf 'Overwrite? [y/N] '; sleep 63.25", "a question ('Overwrite? [y/N]')"),
    ),
)
async def test_the_model_is_told_what_a_line_waited_for(bench: Bench, command: str, told: str) -> None:
    os.mkfifo(bench.root / "pipe")
    bench.put("a.txt", "")
    assert told in await bench.text("bash", command=command, timeout=1)


@pytest.mark.parametrize(
    "command",
    (
        "sleep 62.25",
        "echo started; sleep 62.25 | cat",
        "trap '' TERM INT HUP; while true; do sleep 62.25; done",
        "sleep 62.25 & sleep 62.25 & wait",
        "setsid sleep 62.25",
        "setsid setsid sleep 62.25 & sleep 62.25",
        "nohup sleep 62.25 >/dev/null 2>&1 & sleep 62.25",
        "(setsid bash -c 'trap \"\" TERM; sleep 62.25' >/dev/null 2>&1 &) ; sleep 62.25",
        "python3 -c 'import os,time\nif os.fork() == 0:\n os.setsid()\n if os.fork() == 0: time.sleep(62.25)\ntime.sleep(62.25)'",
    ),
)
async def test_nothing_outlives_a_cancelled_call(bench: Bench, command: str) -> None:
    task = asyncio.create_task(bench.call("bash", command=command))
    await until_there("62.25")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until_gone("62.25")


async def test_a_cancelled_call_hands_over_what_it_had(bench: Bench) -> None:
    heard = asyncio.Event()
    tool, args = bench.tools["bash"], bench.args("bash", command="echo so far; sleep 63.25")
    task = asyncio.create_task(tool.run(args, lambda text: heard.set()))
    await heard.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    assert caught.value.args == ("so far\n",)
    await until_gone("63.25")


async def test_cancelling_twice_ends_at_once(bench: Bench) -> None:
    task = asyncio.create_task(bench.call("bash", command="trap '' TERM; sleep 64.25; sleep 64.25"))
    await until_there("64.25")
    task.cancel()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until_gone("64.25")


@pytest.mark.parametrize(
    ("command", "left"),
    (
        ("sleep 65.25 & echo done", True),
        ("sleep 65.25 >/dev/null 2>&1 & echo done", True),
        ("(sleep 65.25 &) ; echo done", True),
        ("sleep 0.01 & wait; echo done", False),
    ),
)
async def test_what_is_left_in_the_background_ends_with_the_call(
    bench: Bench, command: str, *, left: bool
) -> None:
    begun = time.monotonic()
    text = await bench.text("bash", command=command)
    assert time.monotonic() - begun < 5 * slowness()
    assert text.startswith("done\n")
    assert ("[processes left in the background were ended with the call]" in text) is left
    await until_gone("65.25")


async def test_output_is_shown_while_it_comes(bench: Bench) -> None:
    release = bench.root / "go"
    heard = asyncio.Event()
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        heard.set()

    tool = bench.tools["bash"]
    args = bench.args("bash", command="echo first; while [ ! -e go ]; do sleep 0.01; done; echo second")
    task = asyncio.create_task(tool.run(args, say))
    await heard.wait()
    assert "".join(said) == "first\n"
    release.touch()
    assert as_text(await task) == "first\nsecond\n[exit code 0]"
    assert "".join(said) == "first\nsecond\n"


async def test_a_flood_stays_in_bounds(bench: Bench) -> None:
    output = await bench.call("bash", command="echo head; yes 0123456789abcdef | head -c 60000000; echo tail")
    text = as_text(output)
    assert len(text) < 10_000_000
    assert text.startswith("head\n0123456789abcdef\n")
    assert text.endswith("tail\n[exit code 0]")
    assert "bytes left out here …]" in text
    assert sum(map(len, bench.said)) < 1_000_000


async def test_wrong_commands_are_named(bench: Bench) -> None:
    assert "empty" in await bench.refused("bash", command="  ")
    assert "NUL" in await bench.refused("bash", command="echo \0")
    assert "too long" in await bench.refused("bash", command="echo " + "x" * 200_000)


async def test_the_time_limit_has_bounds(bench: Bench) -> None:
    assert shell.MOST_SECONDS == 600
    assert shell.DEFAULT_SECONDS == 120
    assert (await bench.call("bash", command="true", timeout=-5)).ok
    assert (await bench.call("bash", command="true", timeout=100_000)).ok


async def test_no_descriptor_is_left_open(bench: Bench) -> None:
    await bench.call("bash", command="cd .")
    gc.collect()  # what earlier tests left to the collector would be closed in between
    before = descriptors()
    for command in ("true", "cd . && true", "sleep 66.25 & true", "exit 1"):
        await bench.call("bash", command=command)
    await bench.call("bash", command="sleep 66.25", timeout=1)
    assert descriptors() == before


def test_the_preview_is_the_command(bench: Bench) -> None:
    assert bench.tools["bash"].preview(bench.args("bash", command="rm -rf x")) == Shown("rm -rf x")
    touches = bench.touches("bash", command="rm -rf x")
    assert (touches.effect, touches.subject, touches.command) == ("execute", "rm -rf x", "rm -rf x")


async def test_it_works_without_descriptors_of_processes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    assert await bench.text("bash", command="echo x") == "x\n[exit code 0]"
    assert "timed out" in await bench.text("bash", command="sleep 67.25", timeout=1)
    await until_gone("67.25")


async def test_streams_can_be_kept_apart(tmp_path: Path) -> None:
    out, err = bytearray(), bytearray()
    child = Child(
        ("sh", "-c", "echo out; echo err >&2"),
        cwd=str(tmp_path),
        env=os.environ,
        on_output=out.extend,
        on_error=err.extend,
    )
    await child.exited()
    assert await child.silent(1)
    assert not await child.leave()
    assert (bytes(out), bytes(err), child.code) == (b"out\n", b"err\n", 0)


@pytest.mark.parametrize(
    "pieces", ((b"0123456789",), (b"0123", b"456789"), tuple(bytes([c]) for c in b"0123456789"))
)
def test_a_capture_keeps_head_and_tail(pieces: tuple[bytes, ...]) -> None:
    def captured(kept: int) -> str:
        capture = Capture(kept)
        for piece in pieces:
            capture.add(piece)
        return capture.text()

    assert captured(5) == "0123456789"
    assert captured(3) == "012\n[… 4 of 10 bytes left out here …]\n789"


def test_a_capture_keeps_what_is_beyond_head_and_tail_in_a_file_and_not_in_memory() -> None:
    piece = b"0123456789" * 10_000
    with contextlib.closing(Capture(20_000, beyond=9_000_000)) as capture:
        tracemalloc.start()
        for _ in range(80):
            capture.add(piece)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 1_000_000
        assert capture.text() == (piece * 80).decode()
        assert capture.text() == (piece * 80).decode(), "it may be read again"


def test_beyond_the_bound_of_a_capture_its_head_and_tail_are_left() -> None:
    with contextlib.closing(Capture(3, beyond=4)) as capture:
        for at in range(0, 100, 4):
            capture.add(bytes(48 + (at + n) % 10 for n in range(4)))
        assert capture.text() == "0123456\n[… 90 of 100 bytes left out here …]\n789"


def test_where_no_file_can_be_written_head_and_tail_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> object:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with contextlib.closing(Capture(3, beyond=100)) as capture:
        for digit in b"0123456789":
            capture.add(bytes([digit]))
        assert capture.text() == "012\n[… 4 of 10 bytes left out here …]\n789"


@pytest.mark.parametrize(
    ("raw", "text"),
    (
        ("\x1b[1;32mok\x1b[m", "ok"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\x1b[2K\rb", "b"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("x\ry\rz\n", "z\n"),
        ("bell\x07\x08tab\tend", "belltab\tend"),
        ("\x1b", ""),
        ("\x1bPq#0\x1b\\sixel", "sixel"),
    ),
)
def test_terminal_codes_are_taken_out(raw: str, text: str) -> None:
    assert plain(raw) == text


async def test_live_output_is_throttled() -> None:
    said: list[str] = []
    live = Live(said.append)
    for _ in range(1_000):
        live.add(b"0123456789" * 100)
    assert len(said) == 1
    live.close()
    assert len(said) == 2
    assert len(said[1]) <= 8_000


async def test_a_line_judged_once_is_checked_each_time_it_runs(bench: Bench, tmp_path_factory: Any) -> None:
    """Two equal calls of one batch are judged before either runs."""
    outside = tmp_path_factory.mktemp("outside")
    bench.put("d/x", "inside\n")
    args = bench.args("bash", command="cat d/x")
    tool = bench.tools["bash"]
    tool.touches(args)
    tool.touches(args)
    (outside / "x").write_text("outside\n")
    (bench.root / "d" / "x").unlink()
    (bench.root / "d").rmdir()
    (bench.root / "d").symlink_to(outside)
    for _ in range(2):
        with pytest.raises(ToolError, match="changed in between"):
            await tool.run(args, bench.said.append)


async def test_it_says_that_the_project_is_gone(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    bench = Bench(tmp_path / "p")
    (tmp_path / "p").rmdir()
    before = descriptors()
    for command in ("echo hi", "cd . && pwd"):
        assert "is gone" in await bench.refused("bash", command=command)
    assert descriptors() == before


def test_a_line_of_very_many_words_counts_as_outside(bench: Bench) -> None:
    touches = bench.touches("bash", command="true " + " ".join(map(str, range(100_000))))
    assert "more than 5,000 words" in touches.unresolved
