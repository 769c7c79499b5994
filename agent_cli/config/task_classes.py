"""Task classes: one word for a bundle of defaults. They are the weakest layer but the defaults themselves."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from agent_cli.config.sections.tasks import TaskClass
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.values import Plain
from agent_cli.kernel.wire import is_object

_INVESTIGATES = ("bash",)
"""What an investigation does without: the model would search with it, past the tools made for that."""

BUILT_IN: dict[str, TaskClass] = {
    "debug": TaskClass("frontier", 0.65, plan_mode="required", ask="auto", drop_tools=_INVESTIGATES),
    "implement": TaskClass("frontier", 0.70, ask="auto"),
    "chat": TaskClass("mid", 0.85, ask="auto"),
    "research": TaskClass(
        "mid", 0.65, permission_mode="allow", plan_mode="required", ask="auto", drop_tools=_INVESTIGATES
    ),
    "review": TaskClass("frontier", 0.75, plan_mode="required", ask="auto", drop_tools=_INVESTIGATES),
}

KEYS = {
    "tier": "model.tier",
    "compaction_threshold": "compaction.threshold",
    "permission_mode": "permissions.mode",
    "plan_mode": "permissions.plan_mode",
    "ask": "tools.ask",
    "watchdog_profile": "watchdog.profile",
    "when_full": "admission.when_full",
}
"""Fields of a class that are defaults of settings."""

ORIGIN = "task class"


class Task(Plain, frozen=True):
    """The class that is in force. `drops` are tools that it leaves out."""

    name: str
    defaults: dict[str, Any]
    drops: tuple[str, ...] = ()

    @property
    def origin(self) -> str:
        return f"{ORIGIN} {self.name}"


def chosen(trees: Iterable[dict[str, Any]]) -> Task | None:
    """The class that the strongest tree names, as all of them define it; the weakest come first.

    Raises ConfigError for a name that nobody defines.
    """
    name = ""
    defined: dict[str, dict[str, Any]] = {known: found.given() for known, found in BUILT_IN.items()}
    for tree in trees:
        name = _of(tree, "session").get("task_class") or name
        for known, fields in _of(tree, "task_classes").items():
            if is_object(fields):
                defined[known] = {**defined.get(known, {}), **fields}
    if not name:
        return None
    if name not in defined:
        raise ConfigError(_unknown(name, tuple(defined)))
    fields = defined[name]
    defaults = {key: fields[field] for field, key in KEYS.items() if fields.get(field) is not None}
    return Task(name, defaults, tuple(fields.get("drop_tools", ())))


def _of(tree: dict[str, Any], section: str) -> dict[str, Any]:
    found = tree.get(section)
    return found if is_object(found) else {}


def _unknown(name: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"Did you mean '{near[0]}'? " if near else ""
    return (
        f"There is no task class '{name}'. {hint}The classes are {', '.join(known)}; "
        f"more can be defined in config under task_classes."
    )
