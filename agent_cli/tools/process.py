"""Programs in a process group of their own, whose output is read as it comes and which never outlive their call."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from agent_cli.tools.sandbox.confines import UNCONFINED, Sandbox

Sink = Callable[[bytes], None]

GRACE = 1.0
"""Seconds between asking a group to end and ending it."""
_LOOK = 0.02
_CHUNK = 65_536
MARK = "AGENT_CLI_CALL"
_SWEEPS = 5
"""A program may start another one while it is being ended."""
_CLEAN = 2
"""Looks that found nothing, one after the other: what is just being started shows no environment for a moment."""


class Child:
    """One running program. `leave` or `end` must be awaited, or `kill` called, whatever happens.

    Without `on_error` standard error goes where standard output goes. Every program that it starts can be found
    again by a mark in its environment, also those that left the group. Construction raises OSError.
    """

    def __init__(  # noqa: PLR0913  each says one thing about how a program is started
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        on_output: Sink,
        on_error: Sink | None = None,
        stdin: int = subprocess.DEVNULL,
        pass_fds: Sequence[int] = (),
        mark: str = "",
        sandbox: Sandbox = UNCONFINED,
    ) -> None:
        self._mark = mark or os.urandom(8).hex()
        self._forced = False

        def make(words: Sequence[str]) -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                words,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if on_error is None else subprocess.PIPE,
                cwd=cwd,
                env={**env, MARK: self._mark},
                bufsize=0,
                pass_fds=pass_fds,
                start_new_session=True,
            )

        self._started, self._process = " ".join(argv).strip(), sandbox.start(argv, make)
        self.group = self._process.pid
        self._loop = asyncio.get_running_loop()
        self._open: dict[int, Sink] = {}
        self._silent = asyncio.Event()
        self._exited = asyncio.Event()
        self._watch: int | None = None
        for stream, sink in ((self._process.stdout, on_output), (self._process.stderr, on_error)):
            if stream is not None and sink is not None:
                self._listen(stream.fileno(), sink)
        self._await_exit()

    @property
    def code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._process.returncode

    async def exited(self) -> None:
        await self._exited.wait()

    async def silent(self, seconds: float) -> bool:
        """Whether nothing holds the output any more, waiting that long for it."""
        try:
            async with asyncio.timeout(seconds):
                await self._silent.wait()
        except TimeoutError:
            return False
        return True

    async def leave(self) -> bool:
        """After the program ended by itself: ends what it left in its group; False where nothing was left."""
        if self._is_over():
            self.kill()
            return False
        await self.end()
        return True

    async def end(self) -> None:
        """Ends everything that the program started, first asking, then not."""
        self._forced = True
        try:
            self._signal(signal.SIGTERM)
            await self._over_within(GRACE)
        finally:
            self.kill()

    def kill(self) -> None:
        """Ends everything at once and lets go of the pipes. Idempotent."""
        if not self._is_over():
            self._forced = True
            self._signal(signal.SIGKILL)
        if self._forced:
            self._sweep()
            self._forced = False
        for descriptor in tuple(self._open):
            self._deafen(descriptor)
        self._stop_watching()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=GRACE)
            self._exited.set()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def still_running(self) -> tuple[str, ...]:
        """The command lines of what of its group has not ended, the newest last; the program itself as it was started
        only where nothing else runs. None where the system does not show them.
        """
        found = sorted(pid for pid, group, state in _processes() if group == self.group and state not in "ZX")
        lines = [line for line in map(_command_line, found) if line]
        return tuple([line for line in lines if line != self._started] or lines)

    # ── output and exit ──

    def _listen(self, descriptor: int, sink: Sink) -> None:
        os.set_blocking(descriptor, False)
        self._open[descriptor] = sink
        self._loop.add_reader(descriptor, self._readable, descriptor)

    def _readable(self, descriptor: int) -> None:
        try:
            chunk = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return
        if chunk:
            self._open[descriptor](chunk)
        else:
            self._deafen(descriptor)

    def _deafen(self, descriptor: int) -> None:
        self._loop.remove_reader(descriptor)
        self._open.pop(descriptor, None)
        if not self._open:
            self._silent.set()

    def _await_exit(self) -> None:
        try:
            self._watch = os.pidfd_open(self._process.pid)
        except (AttributeError, OSError):  # not Linux, or an old one: a thread waits
            waiting = self._loop.run_in_executor(None, self._process.wait)
            waiting.add_done_callback(lambda _: self._exited.set())
            return
        self._loop.add_reader(self._watch, self._ended)

    def _ended(self) -> None:
        if self._process.poll() is not None:
            self._stop_watching()
            self._exited.set()

    def _stop_watching(self) -> None:
        if self._watch is not None:
            self._loop.remove_reader(self._watch)
            os.close(self._watch)
            self._watch = None

    # ── the group ──

    def _is_over(self) -> bool:
        return self._exited.is_set() and self._silent.is_set() and not self._members()

    async def _over_within(self, seconds: float) -> None:
        """Nothing tells when the last one of a group is gone, so it is looked at now and then."""
        for _ in range(int(seconds / _LOOK)):
            if self._is_over():
                return
            await asyncio.sleep(_LOOK)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.group, number)

    def _members(self) -> bool:
        """Whether anything of the group still runs."""
        try:
            os.killpg(self.group, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return not _PROC.is_dir() or any(
            group == self.group and state not in ("Z", "X") for _, group, state in _processes()
        )

    def _sweep(self) -> None:
        """Ends what left the group, such as `setsid` and daemons, where the system shows environments."""
        mark = f"{MARK}={self._mark}".encode()
        clean = 0
        for _ in range(_SWEEPS if _PROC.is_dir() else 0):
            marked = [pid for pid, _, state in _processes() if state != "Z" and _is_marked(pid, mark)]
            for pid in marked:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            clean = 0 if marked else clean + 1
            if clean == _CLEAN:
                return


_PROC = Path("/proc/self").parent


def _is_marked(pid: int, mark: bytes) -> bool:
    try:
        return mark in (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def _command_line(pid: int) -> str:
    try:
        return (
            (_PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        )
    except OSError:
        return ""


def _processes() -> Iterator[tuple[int, int, str]]:
    """Process id, group and state of every process; none where the system does not show them."""
    for entry in _PROC.iterdir() if _PROC.is_dir() else ():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                state, _, group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
                yield int(entry.name), int(group), state
