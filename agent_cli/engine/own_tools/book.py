"""The engine's own tools, in the order in which a model sees them, behind those of the world."""

from __future__ import annotations

from collections.abc import Callable

from agent_cli.engine.core import Core
from agent_cli.ports import Tool

MAKERS: dict[str, Callable[[Core], Tool]] = {}
NAMES = tuple(MAKERS)


def own_tools(core: Core) -> dict[str, Tool]:
    """Those that `Parts.own_tools` names. A model of the compact profile gets none."""
    if core.model.card.profile == "compact":
        return {}
    return {name: make(core) for name, make in MAKERS.items() if name in core.parts.own_tools}
