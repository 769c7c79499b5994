"""Runs a shell line: no terminal, no input, everything it started ends with the call."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import Output, Shown
from agent_cli.kernel.messages import Text
from agent_cli.kernel.wire import Arguments, for_people
from agent_cli.permissions.rules import allows_line
from agent_cli.permissions.secrets import looks_secret
from agent_cli.permissions.shell import scan, verb_of
from agent_cli.ports import PathUse, Say, Touches
from agent_cli.tools.bash_output import told
from agent_cli.tools.capture import KEPT, WHOLE, Capture, Live
from agent_cli.tools.changes import changed_since, moment
from agent_cli.tools.command_paths import paths_of
from agent_cli.tools.deletions import bytes_of
from agent_cli.tools.disk import explain
from agent_cli.tools.process import Child
from agent_cli.tools.programs import programs_of
from agent_cli.tools.prose import spec_of
from agent_cli.tools.shell_start import environment, shell_program, shell_words
from agent_cli.tools.shells import Shells
from agent_cli.tools.wants import refused_for, waited_for, wants_a_screen
from agent_cli.tools.workspace import Workspace, open_to_all

DEFAULT_SECONDS = 120
MOST_SECONDS = 600
LINGER = 0.5
"""Seconds for the last output after the shell is gone; what holds the output longer is ended."""
MOMENT = 0.5
"""Seconds that a background command is watched before the call returns."""

_MOVES = re.compile(r"\b(cd|pushd|popd)\b")
_SAYS_NO = frozenset({
    "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "diff", "cmp", "test", "[", "[[", "which", "type", "pgrep", "expr",
})  # fmt: skip


class BashArguments(Arguments, frozen=True):
    command: Annotated[str, for_people("the shell line, run by bash")]
    timeout: Annotated[float, for_people("seconds, at most 600")] = 0


class ShellArguments(BashArguments, frozen=True):
    background: Annotated[bool, for_people("return at once, let it run on")] = False


class Bash:
    read_only = False
    bounded = False

    def __init__(
        self, workspace: Workspace, registered: frozenset[str] = frozenset(), shells: Shells | None = None
    ) -> None:
        self.arguments: type[BashArguments] = ShellArguments if "bash_output" in registered else BashArguments
        self.spec = spec_of("bash", self.arguments, registered)
        self._workspace = workspace
        self._shells = shells or workspace.shells
        self._judged: dict[str, frozenset[PathUse]] = {}

    def touches(self, args: BashArguments, /) -> Touches:
        closed = self._workspace.closed
        found = paths_of(args.command, self._workspace.cwd, closed=None if closed is open_to_all else closed)
        self._judged[args.command] = frozenset(found.uses)
        return Touches(
            "execute",
            args.command,
            found.uses,
            args.command,
            unresolved=found.unresolved,
            programs=programs_of(args.command, self._workspace.cwd),
            deletes=None if found.deleted is None else bytes_of(found.deleted),
        )

    def preview(self, args: BashArguments, /) -> Shown:
        return Shown(args.command)

    async def run(self, args: BashArguments, say: Say, /) -> Output:
        """On cancellation the error carries the output so far as its argument."""
        if not args.command.strip() or "\0" in args.command:
            raise ToolError("The command is empty or holds a NUL character.")
        editor = wants_a_screen(args.command)
        if editor:
            raise ToolError(
                f"Nothing was run: {editor} would wait for keys, and there is no terminal and nobody to type. Change files "
                f"with a tool for that, or give {editor} its commands as options and an end (-es -c … -c wq)."
            )
        self._check_judged(args.command)
        if isinstance(args, ShellArguments) and args.background:
            return await self._in_background(args)
        seconds = min(max(args.timeout, 1.0), MOST_SECONDS) if args.timeout > 0 else DEFAULT_SECONDS
        running = _Running(self._workspace, self._shells, args.command, say)
        with contextlib.closing(running.output):
            try:
                timed_out = not await running.finish(seconds)
            except asyncio.CancelledError as cut:
                cut.args = (running.output.text(),)
                raise
            finally:
                running.close()
            return running.result(seconds if timed_out else None)

    async def _in_background(self, args: ShellArguments) -> Output:
        """Waits a moment, so that what fails at once is told at once."""
        words = shell_words(shell_program(), args.command, None)

        def start(heard: Callable[[bytes], None]) -> Child:
            env, mark = environment(args.command), self._shells.mark()
            child = Child(
                words,
                cwd=self._workspace.cwd,
                env=env,
                on_output=heard,
                mark=mark,
                sandbox=self._shells.sandbox,
            )
            self._shells.reaper.watch(child.group)
            return child

        try:
            shell = self._shells.start(args.command, start, args.timeout if args.timeout > 0 else None)
        except OSError as problem:
            raise explain(problem, "run", words[0]) from None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(MOMENT):
                await shell.ended.wait()
        return told(shell)

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

    def __init__(self, workspace: Workspace, shells: Shells, command: str, say: Say) -> None:
        self.output = Capture(beyond=WHOLE - 2 * KEPT)
        self.notes: list[str] = []
        self._workspace = workspace
        self._reaper = shells.reaper
        self._sandbox = shells.sandbox
        self._command = command
        self._live = Live(say)
        self._ran_on: tuple[str, ...] = ()
        workspace.restless.look(workspace.seen.is_known)
        self._begun = moment()
        shell = shell_program()
        self._directory, told = os.pipe() if _MOVES.search(command) else (None, None)
        try:
            self._child = Child(
                shell_words(shell, command, told),
                cwd=self._start(),
                env=environment(command),
                on_output=self._heard,
                pass_fds=() if told is None else (told,),
                mark=shells.mark(),
                sandbox=shells.sandbox,
            )
            self._reaper.watch(self._child.group)
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
                self._ran_on = self._child.still_running()
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
        whole = self.output.text()
        text = whole.rstrip()
        ok = timed_out is None and (code == 0 or (code == 1 and _says_no(self._command)))
        wanted = "" if ok else waited_for(whole, self._ran_on) if timed_out is not None else refused_for(text)
        blamed = "" if ok else self._sandbox.blamed(whole)
        self.notes += [note for note in (wanted, blamed) if note]
        shown = "\n".join(filter(None, (text, *(f"[{note}]" for note in self.notes))))
        changed = self._changed()
        restless = self._workspace.restless.among(changed)
        return Output((Text(shown),), ok=ok, changed=changed, empty=ok and not text, restless=restless)

    def _changed(self) -> tuple[str, ...]:
        """Files that are different now; a line that only reads is not looked after."""
        if allows_line((), self._command) is not None:
            return ()
        space = self._workspace
        named = (use.path for use in paths_of(self._command, space.cwd).uses)
        return changed_since(
            self._begun,
            space.root,
            space.cwd,
            dict.fromkeys((*named, *space.seen.paths())),
            space.seen.is_known,
        )

    def close(self) -> None:
        self._live.close()
        self._child.kill()
        self._reaper.forget(self._child.group)
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


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _says_no(command: str) -> bool:
    """Whether exit code 1 of this line is an answer: its last command is one that says "no" by it."""
    found = scan(command).found
    words = found[-1].words if found else ()
    return bool(words) and (
        verb_of(words) in _SAYS_NO or words[:2] in (("git", "diff"), ("git", "grep"), ("command", "-v"))
    )
