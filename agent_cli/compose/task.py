"""What a task class chose in this run, in one line for the operator, and what it says about reduction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agent_cli.config.sources import Loaded
from agent_cli.config.task_classes import ORIGIN

WAYS = {
    "model.tier": ("a {} model", "--model or --tier"),
    "compaction.threshold": ("reduction at {}", "--compaction-threshold"),
    "permissions.plan_mode": ("plan mode {}", "--plan-mode"),
    "permissions.mode": ("permission mode {}", "--permission-mode"),
    "tools.ask": ("questions {}", "--ask"),
    "watchdog.profile": ("watchdog profile {}", "--watchdog-profile"),
}
"""Keys that a class may set: how the choice reads, and what overrides it."""


def name_of(loaded: Loaded) -> str:
    """Its name, "" where none was named."""
    return loaded.task.name if loaded.task else ""


def is_from_task(loaded: Loaded, key: str) -> bool:
    """Whether the class is where the value in force comes from."""
    return loaded.origins.get(key, "").startswith(f"{ORIGIN} ")


def opening(loaded: Loaded, dropped: frozenset[str], actual: Mapping[str, object]) -> tuple[str, ...]:
    """What the class chose, and how each of it is overridden. What flags or config decided is not its choice.

    `actual` is what came of some keys: the provider may have no model of that size, the project no place for plans.
    """
    task = loaded.task
    if task is None:
        return ()
    said = [_choice(key, value) for key, value in task.defaults.items() if _in_force(loaded, key, actual)]
    if dropped:
        names = ",".join(sorted(dropped))
        said.append(f"no {names.replace(',', ', ')} (--enable-tools {names})")
    chose = "; ".join(said) or "nothing: flags and config decide all that it would"
    return (f"Task class {task.name} chose: {chose}.",)


def _in_force(loaded: Loaded, key: str, actual: Mapping[str, object]) -> bool:
    if key == "model.tier" and loaded.settings.model.name:
        return False
    came = loaded.task is not None and actual.get(key, loaded.task.defaults[key]) == loaded.task.defaults[key]
    return came and is_from_task(loaded, key)


def _choice(key: str, value: Any) -> str:
    reads, way = WAYS[key]
    return f"{reads.format(value if isinstance(value, str) else json.dumps(value))} ({way})"
