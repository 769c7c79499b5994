"""Knows by the list of things to do where a task ends. Pure."""

from __future__ import annotations

import contextlib

import msgspec

from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import ToolCall
from agent_cli.kernel.todo import TodoItem

TODO = "todo"
LONGEST_NOTE = 300


class ListDone:
    """A task ends with the turn in which the last open thing on the list was done.

    The same list ends only one task; an empty list ends none. A `TaskHeuristic`.
    """

    def __init__(self) -> None:
        self._asked: dict[str, ToolCall] = {}
        self._items: tuple[TodoItem, ...] = ()
        self._told: tuple[TodoItem, ...] = ()

    def feed(self, event: ev.Recorded, /) -> str | None:
        match event:
            case ev.ToolCallProposed(call) if call.name == TODO:
                self._asked[call.call_id] = call
            case ev.ToolReturned(call_id, output=output):
                call = self._asked.pop(call_id, None)
                if call is not None and output.ok:
                    self._set(call)
            case ev.TurnCompleted() if self._done and self._items != self._told:
                self._told = self._items
                return _note(self._items)
            case _:
                pass  # decided: nothing else is said about the list
        return None

    @property
    def _done(self) -> bool:
        return bool(self._items) and all(item.status == "done" for item in self._items)

    def _set(self, call: ToolCall) -> None:
        with contextlib.suppress(msgspec.ValidationError):
            self._items = msgspec.convert((call.arguments or {}).get("items"), tuple[TodoItem, ...])


def _note(items: tuple[TodoItem, ...]) -> str:
    """What was done, in one line."""
    told = "; ".join(" ".join(item.text.split()) for item in items)
    return told if len(told) <= LONGEST_NOTE else told[: LONGEST_NOTE - 1] + "…"
