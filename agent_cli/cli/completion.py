"""What the shell is offered for the value of an option, or for an argument of a command. A completion that cannot be made offers nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from agent_cli.cli.options import Flag
from agent_cli.kernel.errors import AgentError

MOST = 200
"""Sessions that are offered, the latest."""

Complete = Callable[[str], list[str]]


def of(flag: Flag) -> Complete | None:
    """None where the shell knows better, as of files."""
    if flag.choices:
        return _among(lambda: flag.choices)
    values = VALUES.get(flag.name)
    return _among(values) if values else None


def _among(values: Callable[[], Iterable[str]]) -> Complete:
    def complete(incomplete: str) -> list[str]:
        with suppress(AgentError, OSError):
            return [value for value in dict.fromkeys(values()) if value.startswith(incomplete)]
        return []

    return complete


def _models() -> Iterable[str]:
    from agent_cli.providers import catalog
    from agent_cli.providers.claude.names import names

    cards = catalog.cards("")
    return [*(card.id for card in cards), *(alias for card in cards for alias in card.aliases), *names()]


def _providers() -> Iterable[str]:
    from agent_cli.providers.vendors import CLOUDS, ENDPOINTS, OFFICIAL, SPECIAL

    return sorted({*OFFICIAL, *CLOUDS, *ENDPOINTS, *SPECIAL})


def _recipes() -> Iterable[str]:
    from agent_cli.config.recipes import every

    return [recipe.name for recipe in every(Path.cwd(), os.environ)]


def _task_classes() -> Iterable[str]:
    from agent_cli.config.task_classes import BUILT_IN

    return BUILT_IN


def _sessions() -> Iterable[str]:
    """Names first: they are what one remembers."""
    from agent_cli.config import places
    from agent_cli.store.sqlite import open_store

    path = places.database(os.environ)
    if not path.exists():
        return ()
    store = open_store(path, read_only=True)
    try:
        infos = store.sessions(MOST)
    finally:
        store.close()
    return [*(info.name for info in infos if info.name), *(info.id for info in infos)]


def _keys() -> Iterable[str]:
    from agent_cli.config.fields import all_keys

    return (key.name for key in all_keys())


sessions, recipes, keys = _among(_sessions), _among(_recipes), _among(_keys)
"""Of arguments of commands."""

VALUES: dict[str, Callable[[], Iterable[str]]] = {
    "--model": _models,
    "--fallback-model": _models,
    "--agentic-small-model": _models,
    "--provider": _providers,
    "--recipe": _recipes,
    "--task": _task_classes,
    "--resume": _sessions,
    "--fork": _sessions,
}
