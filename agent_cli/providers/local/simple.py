"""The tools as a small model sees them: few string arguments, all required; and the way there and back."""

from __future__ import annotations

import json
from typing import Any

from agent_cli.kernel.messages import Prompt, ToolCall, ToolSpec
from agent_cli.kernel.wire import is_list, is_object

ANSWER = "final_answer"
"""Answering is a tool too, so that every reply has one shape."""

ARGUMENTS: dict[str, tuple[str, ...]] = {
    "read_file": ("path",),
    "write_file": ("path", "content"),
    "edit_file": ("path", "old", "new"),
    "list_dir": ("path",),
    "grep": ("pattern", "path"),
    "bash": ("command",),
    ANSWER: ("answer",),
}
WHOLE_TREE = frozenset({"list_dir", "grep"})
"""Tools whose empty path means the current directory."""


def offered(prompt: Prompt) -> tuple[ToolSpec, ...]:
    """The prompt's tools that a small model is given; the rest is left out."""
    return tuple(tool for tool in prompt.tools if tool.name in ARGUMENTS)


def brief_of(tool: ToolSpec) -> str:
    """One line about a tool: its brief, or the first sentence of its description."""
    if tool.brief:
        return tool.brief
    line = " ".join(tool.description.split())
    return line.partition(". ")[0].rstrip(".") + "."


def schema_of(name: str) -> dict[str, Any]:
    """JSON Schema of one call, written `{"tool": NAME, "args": {…}}`."""
    names = ARGUMENTS[name]
    return {
        "type": "object",
        "properties": {
            "tool": {"const": name},
            "args": {
                "type": "object",
                "properties": {argument: {"type": "string"} for argument in names},
                "required": list(names),
                "additionalProperties": False,
            },
        },
        "required": ["tool", "args"],
        "additionalProperties": False,
    }


def written(name: str, arguments: dict[str, Any]) -> str:
    """A call as the model writes it."""
    return json.dumps({"tool": name, "args": arguments}, ensure_ascii=False)


def simplified(call: ToolCall) -> dict[str, Any]:
    """What the model would have written for this call; arguments beyond the simple ones stay."""
    arguments = dict(call.arguments or {})
    edits = arguments.get("edits")
    if call.name != "edit_file" or not is_list(edits) or len(edits) != 1 or not is_object(edits[0]):
        return arguments
    del arguments["edits"]
    return {**arguments, "old": edits[0].get("old", ""), "new": edits[0].get("new", "")}


def expanded(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The real tool's arguments for what the model wrote."""
    if name == "edit_file" and "old" in arguments:
        rest = {key: value for key, value in arguments.items() if key not in ("old", "new")}
        return {**rest, "edits": [{"old": arguments["old"], "new": arguments.get("new", "")}]}
    if name in WHOLE_TREE and not str(arguments.get("path", "")).strip():
        return {**arguments, "path": "."}
    return arguments
