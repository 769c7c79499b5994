"""The list of what the agent has set itself to do. The log keeps it: the last call that was taken is the list."""

from __future__ import annotations

from typing import Annotated

from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import Output, Shown
from agent_cli.kernel.messages import Text
from agent_cli.kernel.todo import TodoStatus
from agent_cli.kernel.wire import Arguments, for_people
from agent_cli.ports import Say, Touches
from agent_cli.tools.prose import spec_of

MOST = 100
LONGEST = 500
_MARKS: dict[TodoStatus, str] = {"pending": "[ ]", "in_progress": "[>]", "done": "[x]"}


class Item(Arguments, frozen=True):
    text: str
    status: TodoStatus = "pending"


class TodoArguments(Arguments, frozen=True):
    items: Annotated[tuple[Item, ...], for_people("the whole list, in order; empty clears it")]


class Todo:
    arguments = TodoArguments
    read_only = False
    bounded = True

    def __init__(self, registered: frozenset[str] = frozenset()) -> None:
        self.spec = spec_of("todo", TodoArguments, registered)
        self._last: tuple[Item, ...] | None = None

    def touches(self, args: TodoArguments, /) -> Touches:
        return Touches("none", f"{len(args.items)} items")

    def preview(self, args: TodoArguments, /) -> None:
        """Nothing to see: it is never asked about."""

    async def run(self, args: TodoArguments, say: Say, /) -> Output:
        _check(args.items)
        if args.items == self._last:
            return Output((Text("The list is already like that."),), Shown(_shown(args.items)), no_op=True)
        self._last = args.items
        return Output((Text(_told(args.items)),), Shown(_shown(args.items)))


def _check(items: tuple[Item, ...]) -> None:
    if len(items) > MOST:
        raise ToolError(f"The list has {len(items)} items, the most is {MOST}: make them coarser.")
    for number, item in enumerate(items, 1):
        if not item.text.strip():
            raise ToolError(f"The text of item {number} is empty. The list was not changed.")
        if len(item.text) > LONGEST:
            raise ToolError(
                f"The text of item {number} has {len(item.text):,} characters, the most is {LONGEST}. "
                "The list was not changed: say it in one line."
            )


def _told(items: tuple[Item, ...]) -> str:
    if not items:
        return "The list is empty now."
    done = sum(item.status == "done" for item in items)
    running = [item.text for item in items if item.status == "in_progress"]
    told = [f"{done} of {len(items)} done."]
    if len(running) > 1:
        told.append(f"{len(running)} items are in progress: work on one at a time.")
    elif running:
        told.append(f"In progress: {running[0]}")
    elif done < len(items):
        told.append("Nothing is in progress: mark the item that you begin.")
    return " ".join(told)


def _shown(items: tuple[Item, ...]) -> str:
    return "\n".join(f"{_MARKS[item.status]} {item.text}" for item in items)
