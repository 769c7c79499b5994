"""The operator's instructions as the engine takes them: those that stand in every prompt, those that join."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from agent_cli.config.sources import Loaded
from agent_cli.context.system import Instructions


def standing(loaded: Loaded, root: Path) -> tuple[Instructions, ...]:
    """Raises ConfigError."""
    from agent_cli.config.instructions import read_instructions

    found = read_instructions(loaded.user, loaded.project, root, loaded.recipe)
    return tuple(Instructions(each.source, each.text) for each in found)


class Nested:
    """Gives the instructions of the directories between the project and a path, without those that stand anyway."""

    def __init__(self, loaded: Loaded, root: Path) -> None:
        self._loaded = loaded
        self._root = root

    def __call__(self, path: str) -> tuple[Instructions, ...]:
        """Raises ConfigError."""
        from agent_cli.config.instructions import nested_instructions

        found = nested_instructions(Path(path), self._root, self._loaded.user)
        return tuple(
            Instructions(each.source, each.text)
            for each in found
            if os.path.realpath(each.source) not in self._standing
        )

    @cached_property
    def _standing(self) -> frozenset[str]:
        return frozenset(os.path.realpath(each.source) for each in standing(self._loaded, self._root))
