"""What a session did so far, as far as checks want to know: a fold of its log, with what only the running one knows."""

from __future__ import annotations

import posixpath
from typing import Any

import msgspec

from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import ToolCall
from agent_cli.kernel.wire import is_list, is_object

KNOWN = 4_000
"""Paths that are remembered; the oldest go first."""


class Past(msgspec.Struct):
    """`known` are files that were read or written, as absolute paths; `used` are tools.

    Of the turn: `calls` by tool, and bytes. `redacted` are kinds of secrets that the model saw a mark of.
    """

    cwd: str = "/"
    known: dict[str, None] = msgspec.field(default_factory=dict[str, None])
    used: set[str] = msgspec.field(default_factory=set[str])
    calls: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    written: int = 0
    deleted: int = 0
    redacted: bool = False
    _open: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict[str, tuple[str, ...]])

    def feed(self, event: ev.Recorded) -> None:
        match event:
            case ev.SessionStarted(cwd):
                self.cwd = cwd
            case ev.TurnStarted():
                self.calls, self.written, self.deleted = {}, 0, 0
            case ev.ToolCallProposed(call):
                self._open[call.call_id] = tuple(self._paths(call))
            case ev.ToolReturned(call_id, tool, output, executed):
                paths = self._open.pop(call_id, ())
                if executed and output.ok:
                    self.used.add(tool)
                    self.know((*paths, *output.changed))
            case ev.GuardrailFinding("secrets"):
                self.redacted = True
            case _:
                pass  # nothing else is what a session did to the world

    def know(self, paths: tuple[str, ...]) -> None:
        self.known.update(dict.fromkeys(posixpath.normpath(posixpath.join(self.cwd, path)) for path in paths))
        while len(self.known) > KNOWN:
            del self.known[next(iter(self.known))]

    def does(self, tool: str, written: int, deleted: int) -> None:
        """A call is about to run."""
        self.calls[tool] = self.calls.get(tool, 0) + 1
        self.written += written
        self.deleted += deleted

    def within(self, whole: Past) -> None:
        """What a subtask does counts in the turn that it works for, with all else that runs in it."""
        if whole is not self:
            self.calls, self.written, self.deleted = dict(whole.calls), whole.written, whole.deleted

    def weighs(self, written: int, deleted: int) -> None:
        """What a call that ran has written and deleted beside what it said it would."""
        self.written += written
        self.deleted += deleted

    def _paths(self, call: ToolCall) -> list[str]:
        found = call.arguments or {}
        named: list[Any] = [found.get("path"), found.get("file_path")]
        many: Any = found.get("paths")
        named += many if is_list(many) else []
        return [path for path in named if isinstance(path, str) and path]


def texts_of(data: Any) -> list[str]:
    """Every text in the arguments of a call, in order."""
    if isinstance(data, str):
        return [data]
    if is_object(data):
        return [text for held in data.values() for text in texts_of(held)]
    if is_list(data):
        return [text for held in data for text in texts_of(held)]
    return []
