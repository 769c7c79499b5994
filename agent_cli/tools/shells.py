"""Commands that run in the background: found by their ids, read in pieces, ended with the session."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from typing import NamedTuple

from agent_cli.kernel.errors import ToolError
from agent_cli.tools.capture import Capture
from agent_cli.tools.process import Child
from agent_cli.tools.reaper import Reaper
from agent_cli.tools.sandbox.confines import UNCONFINED, Sandbox

MOST = 16
"""That run at once."""
KEPT = 32
"""That are remembered after their end."""
UNREAD = 200_000
"""Bytes kept of the head of what was not read yet, and as many of the tail."""
FLOOD = 1_000_000_000
"""Bytes after which a command is ended."""
LINGER = 0.5

Start = Callable[[Callable[[bytes], None]], Child]


class Piece(NamedTuple):
    """What a command has said since the last time, and where it stands: its exit code, None while it runs."""

    text: str
    standing: str
    code: int | None


class Background:
    """One command. `ended` is set when nothing of it runs any more."""

    def __init__(self, name: str, command: str, start: Start, seconds: float | None) -> None:
        self.name = name
        self.command = command
        self.ended = asyncio.Event()
        self.news = asyncio.Event()
        self._unread = Capture(UNREAD)
        self._total = 0
        self._begun = time.monotonic()
        self._took = 0.0
        self._why = ""
        self.child = start(self._heard)
        self._task = asyncio.create_task(self._follow(seconds))

    @property
    def running(self) -> bool:
        return not self.ended.is_set()

    def read(self) -> Piece:
        piece, self._unread = self._unread, Capture(UNREAD)
        self.news.clear()
        return Piece(piece.text().rstrip("\n"), self.standing, None if self.running else self.child.code)

    @property
    def standing(self) -> str:
        if self.running:
            return f"running for {time.monotonic() - self._begun:.0f} s"
        return f"{self._why or _ending(self.child.code)} after {self._took:.0f} s"

    async def end(self) -> None:
        """Ends it and everything that it started; returns when it is over."""
        if self.running:
            self._why = self._why or "ended"
            self._task.cancel()
            await asyncio.wait([self._task])

    def kill(self) -> None:
        """The same at once, for the end of the session."""
        self._task.cancel()
        self.child.kill()
        self._over()

    async def _follow(self, seconds: float | None) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self.child.exited()
            await self.child.silent(LINGER)
            if await self.child.leave():
                self._why = f"{_ending(self.child.code)}; what it left in the background was ended"
        except TimeoutError:
            self._why = f"ended, its {seconds:g} s were up,"
        finally:
            if self.running:
                try:
                    await self.child.end()
                finally:
                    self._over()

    def _over(self) -> None:
        self._took = self._took or time.monotonic() - self._begun
        self.ended.set()
        self.news.set()

    def _heard(self, chunk: bytes) -> None:
        self._unread.add(chunk)
        self._total += len(chunk)
        self.news.set()
        if self._total > FLOOD and not self._why:
            self._why = f"ended because it wrote more than {FLOOD:,} bytes,"
            self._task.cancel()


def _ending(code: int | None) -> str:
    return f"exit code {code}" if code is None or code >= 0 else f"ended by signal {-code}"


class Shells:
    """All of one session, what keeps any of its commands from outliving it, and the sandbox that they run in."""

    def __init__(self, sandbox: Sandbox = UNCONFINED) -> None:
        self.sandbox = sandbox
        self.reaper = Reaper()
        self._all: dict[str, Background] = {}
        self._count = 0

    def mark(self) -> str:
        """For the environment of one command that is about to start."""
        self.reaper.begin()
        return f"{self.reaper.mark}.{os.urandom(8).hex()}"

    def start(self, command: str, start: Start, seconds: float | None) -> Background:
        """Raises ToolError where too many run, OSError where it cannot be started."""
        running = [shell for shell in self._all.values() if shell.running]
        if len(running) >= MOST:
            names = ", ".join(shell.name for shell in running)
            raise ToolError(
                f"{MOST} commands run in the background already ({names}): end one of them first."
            )
        self._count += 1
        shell = Background(f"b{self._count}", command, start, seconds)
        self._all[shell.name] = shell
        over = [name for name, held in self._all.items() if not held.running]
        for name in over[: max(0, len(over) - KEPT)]:
            del self._all[name]
        return shell

    def find(self, name: str) -> Background:
        """Raises ToolError that lists what there is."""
        shell = self._all.get(name.strip())
        if shell is None:
            raise ToolError(f"There is no background command '{name}'. {self.listed()}")
        return shell

    def listed(self) -> str:
        if not self._all:
            return "No command was started in the background."
        return "\n".join(f"{shell.name}: {shell.standing}: {shell.command}" for shell in self._all.values())

    def close(self) -> None:
        """Ends every command of the session. Idempotent."""
        for shell in self._all.values():
            if shell.running:
                shell.kill()
        self.reaper.close()
