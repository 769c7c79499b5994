"""Instructions of a directory below the project: they join the conversation when something there is first touched."""

from __future__ import annotations

from typing import Literal

from agent_cli.context.system import INSTRUCTIONS, Instructions
from agent_cli.engine.core import Core
from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.messages import Text

COMPACT = "compact"
"""The profile of models that get no instructions."""
HOLDS = "These hold for what lies in {directory}."


def join(core: Core) -> None:
    """Of what was touched since the last time. What a reduction took out of the conversation, or what changed on disk,
    joins again.
    """
    touched, core.touched = core.touched, frozenset()
    if core.model.card.profile == COMPACT:
        return
    found: dict[str, Instructions] = {}
    for path in sorted(touched):
        try:
            found |= {each.source: each for each in core.parts.nested(path)}
        except AgentError as problem:
            _tell(core, str(problem), "warning")
    there = _texts(core) if found else frozenset[str]()
    for source, instructions in found.items():
        if (text := _told(instructions)) not in there:
            core.record(ev.OperatorMessage((Text(text),), by="product"))
            _tell(core, f"the instructions in {source} joined", "info")


def _texts(core: Core) -> frozenset[str]:
    """What we said in the conversation as the model has it now."""
    parts = (item.part for item in core.view.items() if item.by_product)
    return frozenset(part.text for part in parts if isinstance(part, Text))


def _told(found: Instructions) -> str:
    directory = found.source.rpartition("/")[0]
    return f"{INSTRUCTIONS}{found.source}:\n\n{HOLDS.format(directory=directory)}\n\n{found.text.strip()}"


def _tell(core: Core, words: str, level: Literal["info", "warning"]) -> None:
    """Once a session."""
    if words not in core.root.told:
        core.root.told.add(words)
        core.record(ev.OperatorNote(words, level))
