"""Runs a shell line: no terminal, no input, everything it started ends with the call."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from functools import cache
from pathlib import Path
from typing import Annotated

from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import Output, Shown
from agent_cli.kernel.messages import Text
from agent_cli.kernel.wire import Arguments, describe
from agent_cli.permissions.secrets import looks_secret
from agent_cli.permissions.shell import scan, verb_of
from agent_cli.ports import PathUse, Say, Touches
from agent_cli.tools.capture import Capture, Live
from agent_cli.tools.command_paths import paths_of
from agent_cli.tools.disk import explain
from agent_cli.tools.process import Child
from agent_cli.tools.prose import spec_of
from agent_cli.tools.workspace import Workspace

DEFAULT_SECONDS = 120
MOST_SECONDS = 600
LINGER = 0.5
"""Seconds for the last output after the shell is gone; what holds the output longer is ended."""

_ENVIRONMENT = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "EDITOR": "false",
    "VISUAL": "false",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "false",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "SSH_ASKPASS_REQUIRE": "never",
    "SUDO_ASKPASS": "/bin/false",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    "PYTHONUNBUFFERED": "1",
}
"""Programs that would wait for a person fail at once; git takes its own default messages."""
_DROPPED = ("BASH_ENV", "ENV", "CDPATH", "PROMPT_COMMAND", "RIPGREP_CONFIG_PATH")
_MOVES = re.compile(r"\b(cd|pushd|popd)\b")
_SAYS_NO = frozenset({
    "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "diff", "cmp", "test", "[", "[[", "which", "type", "pgrep", "expr",
})  # fmt: skip


class BashArguments(Arguments, frozen=True):
    command: Annotated[str, describe("the shell line, run by bash")]
    timeout: Annotated[float, describe("seconds, at most 600")] = DEFAULT_SECONDS


class Bash:
    arguments = BashArguments
    read_only = False
    bounded = False

    def __init__(self, workspace: Workspace, registered: frozenset[str] = frozenset()) -> None:
        self.spec = spec_of("bash", BashArguments, registered)
        self._workspace = workspace
        self._judged: dict[str, frozenset[PathUse]] = {}

    def touches(self, args: BashArguments, /) -> Touches:
        found = paths_of(args.command, self._workspace.cwd)
        self._judged[args.command] = frozenset(found.uses)
        return Touches("execute", args.command, found.uses, args.command, unresolved=found.unresolved)

    def preview(self, args: BashArguments, /) -> Shown:
        return Shown(args.command)

    async def run(self, args: BashArguments, say: Say, /) -> Output:
        """On cancellation the error carries the output so far as its argument."""
        if not args.command.strip() or "\0" in args.command:
            raise ToolError("The command is empty or holds a NUL character.")
        self._check_judged(args.command)
        seconds = min(max(args.timeout, 1.0), MOST_SECONDS) if args.timeout > 0 else DEFAULT_SECONDS
        running = _Running(self._workspace, _shell(), args.command, say)
        try:
            timed_out = not await running.finish(seconds)
        except asyncio.CancelledError as cut:
            cut.args = (running.output.text(),)
            raise
        finally:
            running.close()
        return running.result(seconds if timed_out else None)

    def _check_judged(self, command: str) -> None:
        """Refuses a line that would touch other files than when it was allowed, such as after a `cd` before it."""
        judged = self._judged.get(command)
        if judged is None:
            return
        for use in paths_of(command, self._workspace.cwd).uses:
            inside = self._workspace.holds(use.path) and not looks_secret(use.path)
            if use not in judged and (use.access == "w" or not inside or self._workspace.closed(use.path)):
                raise ToolError(
                    f"This would touch {self._workspace.shown(use.path)}, which was not so when the call was allowed: "
                    "the working directory or a link changed in between. Nothing was run; call again."
                )


class _Running:
    """One call: the shell, its output, and the directory that it ended in."""

    def __init__(self, workspace: Workspace, shell: str, command: str, say: Say) -> None:
        self.output = Capture()
        self.notes: list[str] = []
        self._workspace = workspace
        self._command = command
        self._live = Live(say)
        self._directory, told = os.pipe() if _MOVES.search(command) else (None, None)
        try:
            self._child = Child(
                _argv(shell, command, told),
                cwd=self._start(),
                env=_environment(),
                on_output=self._heard,
                pass_fds=() if told is None else (told,),
            )
        except OSError as problem:
            self._close_directory()
            if problem.errno == 7:  # E2BIG
                raise ToolError(
                    "The command is too long for the system: put it into a file and run that."
                ) from None
            raise explain(problem, "run", shell) from None
        except ToolError:
            self._close_directory()
            raise
        finally:
            if told is not None:
                os.close(told)

    async def finish(self, seconds: float) -> bool:
        """Waits for the shell, then ends what it left; False when the time was up. Cancelling ends everything."""
        in_time = False
        try:
            async with asyncio.timeout(seconds):
                await self._child.exited()
            in_time = True
        except TimeoutError:
            pass
        finally:
            if not in_time:
                await self._child.end()
        await self._child.silent(LINGER)
        if await self._child.leave():
            self.notes.append("processes left in the background were ended with the call")
        self._keep_directory()
        return in_time

    def result(self, timed_out: float | None) -> Output:
        code = self._child.code
        if timed_out is not None:
            self.notes.append(f"timed out after {timed_out:g} s and was ended; the output may be partial")
        elif code is not None and code < 0:
            self.notes.append(f"ended by {_signal_name(-code)}")
        else:
            self.notes.append(f"exit code {code}")
        text = self.output.text().rstrip()
        shown = "\n".join(filter(None, (text, *(f"[{note}]" for note in self.notes))))
        ok = timed_out is None and (code == 0 or (code == 1 and _says_no(self._command)))
        return Output((Text(shown),), ok=ok)

    def close(self) -> None:
        self._live.close()
        self._child.kill()
        self._close_directory()

    def _heard(self, chunk: bytes) -> None:
        self.output.add(chunk)
        self._live.add(chunk)

    def _start(self) -> str:
        if Path(self._workspace.cwd).is_dir():
            return self._workspace.cwd
        if not Path(self._workspace.root).is_dir():
            raise ToolError(
                f"The directory of the project, {self._workspace.root}, is gone. Nothing was run."
            )
        self.notes.append(f"{self._workspace.cwd} is gone; this ran in {self._workspace.root}")
        self._workspace.move(self._workspace.root)
        return self._workspace.root

    def _keep_directory(self) -> None:
        if self._directory is None:
            return
        os.set_blocking(self._directory, False)
        try:
            told = os.read(self._directory, 8_192).decode(errors="surrogateescape").strip("\n")
        except BlockingIOError:
            return
        if told and not self._workspace.move(told):
            start = self._workspace.cwd
            self.notes.append(f"{told} is outside the project: the next command starts in {start} again")

    def _close_directory(self) -> None:
        if self._directory is not None:
            os.close(self._directory)
            self._directory = None


@cache
def _shell() -> str:
    for place in ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"):
        if Path(place).is_file():
            return place
    import shutil

    return shutil.which("bash") or "/bin/sh"


def _argv(shell: str, command: str, told: int | None) -> list[str]:
    if told is None:
        return [shell, "-c", command]
    script = f"trap '{{ pwd -P >&{told}; }} 2>/dev/null' EXIT; eval \"$1\""
    return [shell, "-c", script, shell, command]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _DROPPED}
    kept.setdefault("GIT_SSH_COMMAND", "ssh -oBatchMode=yes")
    return kept | _ENVIRONMENT


def _says_no(command: str) -> bool:
    """Whether exit code 1 of this line is an answer: its last command is one that says "no" by it."""
    found = scan(command).found
    words = found[-1].words if found else ()
    return bool(words) and (
        verb_of(words) in _SAYS_NO or words[:2] in (("git", "diff"), ("git", "grep"), ("command", "-v"))
    )
