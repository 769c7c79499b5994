"""The only room that knows every room."""

from __future__ import annotations

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


def run_tui(options: RunOptions, first_message: str | None) -> int:
    """The terminal UI until the operator leaves. Returns the exit code."""
    from agent_cli.compose.screen import run

    return run(options, first_message)


def run_repl(options: RunOptions, first_message: str | None) -> int:
    """The conversation line by line until the operator leaves. Returns the exit code."""
    from agent_cli.compose.lines import run

    return run(options, first_message)
