"""The only room that knows every room."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_cli.compose.log import new_id as new_session_id
    from agent_cli.compose.log import session_db
    from agent_cli.compose.models import open_registry
    from agent_cli.compose.options import RunOptions
    from agent_cli.compose.session import Opened, open_session, prepare

__all__ = [
    "Opened",
    "RunOptions",
    "new_session_id",
    "open_registry",
    "open_session",
    "prepare",
    "run_repl",
    "run_tui",
    "session_db",
]


_PLACES = {
    "Opened": ("session", "Opened"),
    "RunOptions": ("options", "RunOptions"),
    "new_session_id": ("log", "new_id"),
    "open_registry": ("models", "open_registry"),
    "open_session": ("session", "open_session"),
    "prepare": ("session", "prepare"),
    "session_db": ("log", "session_db"),
}


def __getattr__(name: str) -> Any:
    """Each is imported with its first use: the screen is painted before the rest of the house is loaded."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _PLACES[name]
    return getattr(import_module(f"{__name__}.{module}"), attribute)


def run_tui(options: RunOptions, first_message: str | None) -> int:
    """The terminal UI until the operator leaves. Returns the exit code."""
    from agent_cli.compose.screen import run

    return run(options, first_message)


def run_repl(options: RunOptions, first_message: str | None) -> int:
    """The conversation line by line until the operator leaves. Returns the exit code."""
    from agent_cli.compose.lines import run

    return run(options, first_message)
