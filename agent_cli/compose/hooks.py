"""The operator's hooks, from config to what the engine asks."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from agent_cli.config.settings import Settings
from agent_cli.config.sources import Loaded
from agent_cli.hooks.hook import OF_TOOLS, Hook
from agent_cli.hooks.port import Hooks

if TYPE_CHECKING:
    from agent_cli.config.sections.hooks import HookRow
    from agent_cli.kernel.events import SessionStarted


def hooks_of(settings: Settings, session: str, started: SessionStarted, root: Path) -> Hooks | None:
    """None where there are none, so that nobody pays for them."""
    if not settings.hooks:
        return None
    from agent_cli.tools.hook_runs import HookRuns

    base = {"session": session, "cwd": started.cwd, "project": str(root)}
    return HookRuns(tuple(map(_hook, settings.hooks)), str(root), base)


def _hook(row: HookRow) -> Hook:
    return Hook(
        row.event,
        row.command or "",
        row.argv,
        row.matcher or "*",
        row.timeout,
        row.gate,
        row.name or "",
    )


def line(settings: Settings) -> str:
    """How many there are, by event; nothing for none."""
    counts = Counter(row.event for row in settings.hooks)
    return ", ".join(f"{event} {count}" if count > 1 else event for event, count in counts.items())


def strange(loaded: Loaded) -> tuple[str, ...]:
    """Hooks that are about no tool there is, and programs that are not there. Tools of servers are known later."""
    import shutil

    from agent_cli.compose.custom_tools import definitions
    from agent_cli.compose.skills import TOOL
    from agent_cli.engine.own_tools import book
    from agent_cli.tools.builtin import NAMES

    tools = (*NAMES, *book.NAMES, TOOL, *definitions(loaded))
    root = loaded.project.parent if loaded.project else None
    lost: list[str] = []
    for row in loaded.settings.hooks:
        made = _hook(row)
        asked = row.event in OF_TOOLS and row.matcher is not None and "mcp" not in row.matcher
        if asked and not any(made.wants(row.event, tool) for tool in tools):
            lost.append(f"the hook '{made.called}' is about '{row.matcher}', and no tool is called so")
        if row.argv and shutil.which(row.argv[0], path=None) is None and not _below(root, row.argv[0]):
            lost.append(f"the hook '{made.called}': there is no program {row.argv[0]}")
    return tuple(lost)


def _below(root: Path | None, program: str) -> bool:
    return root is not None and os.access(root / program, os.X_OK)
