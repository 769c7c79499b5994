"""Runs hooks: each in a process group of its own, with facts on its standard input, within its time."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from agent_cli.hooks.hook import LAST, VERSION, Hook, HookEvent
from agent_cli.hooks.said import Heard, Ran, is_over, joined, verdict
from agent_cli.tools.capture import plain
from agent_cli.tools.process import Child
from agent_cli.tools.shell_start import environment, shell_program

ANSWER = 256_000
"""Bytes of its answer that are kept, and of its complaint a quarter of that."""
SETTLE = 0.2
"""Seconds after its end in which what it wrote is still taken."""


class HookRuns:
    """`base` are the facts that every hook is told; `cwd` is where they run."""

    def __init__(self, hooks: Sequence[Hook], cwd: str, base: Mapping[str, Any]) -> None:
        self._hooks = tuple(hooks)
        self._cwd = cwd
        self._base = {"version": VERSION, **base}
        self._later: set[asyncio.Task[Heard]] = set()

    def wants(self, event: HookEvent, tool: str = "", /) -> bool:
        return any(hook.wants(event, tool) for hook in self._hooks)

    async def run(self, event: HookEvent, facts: Mapping[str, Any], tool: str = "", /) -> Heard:
        heard = Heard()
        for hook in [each for each in self._hooks if each.wants(event, tool)]:
            now = {} if heard.arguments is None else {"arguments": heard.arguments}
            said = {**self._base, "event": event, **facts, **now}
            heard = joined(heard, hook, verdict(event, await self._one(hook, said)))
            if is_over(heard):
                break
        return heard

    def later(self, facts: Mapping[str, Any], /) -> None:
        task = asyncio.create_task(self.run("notification", facts))
        self._later.add(task)
        task.add_done_callback(self._later.discard)

    async def close(self) -> None:
        """What was begun a moment ago may end; nothing else is waited for."""
        if self._later:
            await asyncio.wait(self._later, timeout=LAST)
        for task in self._later:
            task.cancel()
        await asyncio.gather(*self._later, return_exceptions=True)

    async def _one(self, hook: Hook, said: Mapping[str, Any]) -> Ran:
        seconds = min(hook.timeout, LAST) if hook.event == "session-end" else hook.timeout
        out, err = _Kept(ANSWER), _Kept(ANSWER // 4)
        argv = hook.argv or (shell_program(), "-c", hook.command)
        env = environment(hook.command) | {
            "AGENT_CLI_HOOK_EVENT": hook.event,
            "AGENT_CLI_PROJECT_DIR": self._cwd,
        }
        try:
            with _handed(json.dumps(said, ensure_ascii=False).encode(errors="replace")) as stdin:
                child = Child(argv, cwd=self._cwd, env=env, on_output=out.add, on_error=err.add, stdin=stdin)
        except (OSError, ValueError) as problem:
            return Ran(None, problem=f"it cannot be started: {getattr(problem, 'strerror', '') or problem}")
        try:
            async with asyncio.timeout(seconds):
                await child.exited()
                await child.silent(SETTLE)
        except TimeoutError:
            await child.end()
            return Ran(None, problem=f"it was stopped after {seconds:g} s")
        finally:
            child.kill()
        return Ran(child.code, plain(out.text()), plain(err.text()), size=out.total, cut=out.total > ANSWER)


class _Kept:
    """The beginning of what a program writes; the rest is read and let go."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept = bytearray()
        self.total = 0

    def add(self, chunk: bytes) -> None:
        self.total += len(chunk)
        self._kept += chunk[: max(0, self._most - len(self._kept))]

    def text(self) -> str:
        return self._kept.decode(errors="replace")


@contextlib.contextmanager
def _handed(data: bytes) -> Generator[int]:
    """A descriptor to read that from. A file, not a pipe: a hook that reads nothing keeps nobody waiting."""
    if hasattr(os, "memfd_create"):
        number = os.memfd_create("hook")
        with os.fdopen(number, "wb") as file:
            _fill(number, data)
            yield file.fileno()
        return
    import tempfile

    with tempfile.TemporaryFile(prefix="agent-cli-") as file:
        _fill(file.fileno(), data)
        yield file.fileno()


def _fill(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
