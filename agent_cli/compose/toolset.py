"""Which tools the model gets."""

from __future__ import annotations

from collections.abc import Mapping

from agent_cli.config.settings import Settings
from agent_cli.engine.own_tools import book
from agent_cli.kernel.usage import ModelCard
from agent_cli.ports import Tool
from agent_cli.tools.builtin import builtin, check_names
from agent_cli.tools.results import Results
from agent_cli.tools.workspace import Workspace

MCP = "mcp__"
"""What names of tools of MCP servers begin with."""


def check(settings: Settings) -> None:
    """Raises ConfigError for a name that no tool has. Those of MCP servers are not known before they answer."""
    own = (name for name in settings.tools.each if not name.startswith(MCP))
    check_names((*settings.tools.disable, *own), book.NAMES)


def own_names(settings: Settings) -> frozenset[str]:
    """The engine's own tools that these settings ask for."""
    return frozenset(book.NAMES) - frozenset(settings.tools.disable)


def world_tools(
    workspace: Workspace, settings: Settings, results: Results | None, card: ModelCard
) -> Mapping[str, Tool]:
    made = builtin(
        workspace,
        images=card.images,
        documents=card.documents,
        profile=card.profile,
        disabled=frozenset(settings.tools.disable),
        results=results,
    )
    return {tool.spec.name: tool for tool in made}
