"""What a screen does without until it is painted: each is imported with its first use, most of it off the event loop."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_cli.compose.options import RunOptions
    from agent_cli.compose.session import Opened
    from agent_cli.config.settings import Settings
    from agent_cli.config.sources import Loaded
    from agent_cli.tools.snapshots import Snapshots


def load() -> None:
    """All of it now, for a session that is wanted at once: two threads that import only hinder each other."""
    import_module("agent_cli.compose.session")


def prepare(options: RunOptions) -> Loaded:
    """See `session.prepare`."""
    from agent_cli.compose.session import prepare as own

    return own(options)


def open_session(options: RunOptions, loaded: Loaded | None = None) -> Opened:
    """See `session.open_session`."""
    from agent_cli.compose.session import open_session as own

    return own(options, loaded)


def session_db(options: RunOptions, settings: Settings) -> Path:
    """See `log.session_db`."""
    from agent_cli.compose.log import session_db as own

    return own(options, settings)


def root_of(options: RunOptions, loaded: Loaded) -> Path:
    """See `scope.root_of`."""
    from agent_cli.compose.scope import root_of as own

    return own(options, loaded)


def gates(options: RunOptions, loaded: Loaded) -> tuple[tuple[str, str], ...]:
    """See `scope.gates`."""
    from agent_cli.compose.scope import gates as own

    return own(options, loaded)


def watchdog_mode(settings: Settings, *, attended: bool) -> str:
    """See `watchdog.watchdog_mode`."""
    from agent_cli.compose.watchdog import watchdog_mode as own

    return own(settings, attended=attended)


def snapshots(directory: Path, root: Path) -> Snapshots:
    """What the files of a session held, kept in that directory."""
    from agent_cli.tools.snapshots import Snapshots

    return Snapshots(directory, str(root))
