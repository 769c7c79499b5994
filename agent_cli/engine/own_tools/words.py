"""What the model reads about a tool of the engine's own: the `.md` beside its module."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_cli.kernel.messages import ToolSpec
from agent_cli.kernel.wire import schema_of

_HERE = Path(__file__).parent


def spec_of(name: str, arguments: type[Any]) -> ToolSpec:
    """The first line is the brief for small models."""
    text = (_HERE / f"{name}.md").read_text(encoding="utf-8").strip()
    return ToolSpec(name, text, schema_of(arguments), text.partition("\n")[0])
