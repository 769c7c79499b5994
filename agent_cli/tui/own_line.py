"""The operator's own status line: a command that is told where the session stands, and prints a line."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Coroutine
from contextlib import suppress
from time import monotonic
from typing import Any

import msgspec

from agent_cli.engine.state import ModelRow, State
from agent_cli.kernel.commands import Mode
from agent_cli.talk.untrusted import clean_line
from agent_cli.tui.status import Activity

PATIENCE = 2.0
"""Seconds that the command may take."""
PAUSE = 0.5
"""Seconds between two runs, however much changes."""
LONGEST = 4_096
"""Characters of its output that are read."""


class OwnLine:
    """Runs the command when what it is told has changed; no timer runs while nothing does.

    `later` calls once after some seconds, `work` starts a coroutine, `show` gets the line and
    `tell` why there is none, once until it works again.
    """

    def __init__(
        self,
        later: Callable[[float, Callable[[], None]], object],
        work: Callable[[Coroutine[Any, Any, None]], object],
        show: Callable[[str], None],
        tell: Callable[[str], None],
    ) -> None:
        self.command = ""
        self._later = later
        self._work = work
        self._show = show
        self._tell = tell
        self._wanted = ""
        self._told = ""
        self._cwd = ""
        self._busy = False
        self._due = False
        self._failed = False
        self._last = -PAUSE

    def say(self, facts: str, cwd: str) -> None:
        """Where the session stands now, as JSON."""
        if self.command:
            self._wanted, self._cwd = facts, cwd
            self._look()

    def _look(self) -> None:
        if self._wanted == self._told or self._busy or self._due:
            return
        wait = self._last + PAUSE - monotonic()
        if wait > 0:
            self._due = True
            self._later(wait, self._waited)
        else:
            self._busy, self._told = True, self._wanted
            self._work(self._run())

    def _waited(self) -> None:
        self._due = False
        self._look()

    async def _run(self) -> None:
        import asyncio

        try:
            line = await asyncio.to_thread(ask, self.command, self._told, self._cwd)
        except ValueError as problem:
            if not self._failed:
                self._tell(f"ui.status_command: {problem}")
            self._failed = True
        else:
            self._failed = False
            self._show(line)
        finally:
            self._busy, self._last = False, monotonic()
        self._look()


def ask(command: str, facts: str, cwd: str) -> str:
    """For a thread: it waits for the command. Its first line, without control codes; ValueError says why not."""
    import subprocess

    try:
        process = subprocess.Popen(  # noqa: S602  a command line of the operator's own, as in any shell profile
            command,
            shell=True,
            cwd=cwd or None,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as problem:
        raise ValueError(f"it cannot be started: {problem}") from None
    with process:
        try:
            out, err = process.communicate(facts.encode(), PATIENCE)
        except subprocess.TimeoutExpired:
            raise ValueError(f"it took longer than {PATIENCE:g} s and was stopped") from None
        finally:
            _end(process.pid)
    if process.returncode:
        said = clean_line(err.decode("utf-8", "replace")[:400])
        raise ValueError(f"it ended with {process.returncode}: {said or 'it said nothing'}")
    first, *_ = out.decode("utf-8", "replace")[:LONGEST].lstrip("\r\n").split("\n", 1)
    return clean_line(first)


def _end(leader: int) -> None:
    """What the command has left running goes too."""
    if os.name == "posix":
        with suppress(OSError):
            os.killpg(leader, signal.SIGKILL)


def facts_of(state: State | None, activity: Activity, model: str, mode: Mode) -> str:
    """What the command gets on its standard input, as one JSON object."""
    repository = activity.repository
    facts: dict[str, object] = {
        "model": state.card.id if state is not None else model,
        "mode": state.mode if state is not None else mode,
        "queued": activity.queued,
        "watchdog": {"mode": activity.watchdog, "alerts": activity.alerts},
        "branch": repository.branch if repository is not None else "",
        "dirty": repository is not None and repository.dirty,
    }
    if state is not None:
        facts |= _of_session(state)
    return msgspec.json.encode(facts).decode()


def _of_session(state: State) -> dict[str, object]:
    limits, used = state.limits, state.total.usage
    ceiling = limits.max_session_cost
    return {
        "session": state.session,
        "title": state.title,
        "cwd": state.cwd,
        "effort": state.effort,
        "task_class": state.task_class,
        "running": state.running,
        "waiting_approvals": len(state.pending),
        "turn": {
            "number": state.turn,
            "steps": state.turn_steps,
            "max_steps": limits.max_steps,
            "calls": state.turn_calls,
            "max_calls": limits.max_tool_calls,
        },
        "context": {
            "tokens": state.context_tokens,
            "estimated": state.context_estimated,
            "window": state.card.window,
            "compacts_at": state.context_limit,
        },
        "cost": {
            "turn_usd": _priced(state.turn_row),
            "session_usd": _priced(state.total),
            "unpriced": state.total.unpriced,
            "ceiling_usd": ceiling + state.halts.added_usd if ceiling is not None else None,
        },
        "tokens": {
            "input": used.input,
            "output": used.output,
            "cache_read": used.cache_read,
            "cache_write": used.cache_write,
            "cached_share": round(used.cached_share, 4),
        },
    }


def _priced(row: ModelRow) -> float:
    return round(row.cost, 6)
