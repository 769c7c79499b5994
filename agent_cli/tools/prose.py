"""What the model reads about a tool: the `.md` beside its module. Its first line is the brief for small models."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from agent_cli.kernel.messages import ToolSpec
from agent_cli.kernel.wire import schema_of

_HERE = Path(__file__).parent
_TOOL = re.compile(r"\{(\w+)\}")


def spec_of(name: str, arguments: type[Any], registered: frozenset[str]) -> ToolSpec:
    """A line that names another tool as `{grep}` stands only where that tool is registered."""
    lines = (_HERE / f"{name}.md").read_text(encoding="utf-8").strip().split("\n")
    kept = [
        _TOOL.sub(r"\1", line) for line in lines if all(found in registered for found in _TOOL.findall(line))
    ]
    return ToolSpec(name, "\n".join(kept), schema_of(arguments), kept[0])
