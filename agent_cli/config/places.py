"""Where the operator's files are. AGENT_CLI_HOME moves all of them into one directory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from agent_cli.kernel.errors import ConfigError

AGENTS = ".agents"


def home_dir(environ: Mapping[str, str]) -> Path:
    """The operator's home. Raises ConfigError where there is none."""
    try:
        return Path(environ.get("HOME") or Path.home())
    except RuntimeError:
        raise ConfigError(
            "The home directory is unknown, so there is no place for config and sessions. "
            "Set HOME, or AGENT_CLI_HOME to a directory for them."
        ) from None


def user_dir(environ: Mapping[str, str]) -> Path:
    """The user scope: config.json, AGENTS.md, AGENTS.d."""
    return _moved(environ) or home_dir(environ) / AGENTS


def state_dir(environ: Mapping[str, str]) -> Path:
    """What the product writes for itself. Without AGENT_CLI_HOME the platform says where that is."""
    moved = _moved(environ)
    if moved is not None:
        return moved
    import platformdirs

    return platformdirs.user_state_path("agent-cli", appauthor=False)


def database(environ: Mapping[str, str]) -> Path:
    return state_dir(environ) / "sessions.db"


def results_dir(session: str, environ: Mapping[str, str]) -> Path:
    """Where a session keeps results that are too long for its conversation."""
    return state_dir(environ) / "results" / session


def snapshots_dir(session: str, environ: Mapping[str, str]) -> Path:
    """Where a session keeps what files held before it changed them."""
    return state_dir(environ) / "snapshots" / session


def folds_dir(session: str, environ: Mapping[str, str]) -> Path:
    """Where a session keeps what its log came to, to be opened faster."""
    return state_dir(environ) / "folds" / session


def worktrees_dir(session: str, environ: Mapping[str, str]) -> Path:
    """Where agents of a session work that have a git worktree of their own."""
    return state_dir(environ) / "worktrees" / session


def runs_dir(session: str, environ: Mapping[str, str]) -> Path:
    """Where the transcripts of a session's runs are."""
    return state_dir(environ) / "runs" / session


def logs_dir(environ: Mapping[str, str]) -> Path:
    return state_dir(environ) / "logs"


def project_dir(cwd: Path, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The nearest `.agents/`, walking up to the edge of the home or of the file system; never the user scope."""
    home = os.path.realpath(home_dir(environ))
    users = {os.path.realpath(user_dir(environ)), str(Path(home, AGENTS))}
    start = Path(os.path.realpath(cwd))
    for directory in (start, *start.parents):
        if str(directory) == home:
            return None
        found = directory / AGENTS
        if os.path.realpath(found) not in users and _is_dir(found):
            return found
    return None


def expanded(path: str, base: Path, environ: Mapping[str, str]) -> str:
    """Absolute: `~` is the home, anything relative begins at `base`. Symlinks are kept."""
    if path == "~" or path.startswith("~/"):
        return os.path.normpath(home_dir(environ) / path[2:])
    return os.path.normpath(base / path)


def _is_dir(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _moved(environ: Mapping[str, str]) -> Path | None:
    wanted = environ.get("AGENT_CLI_HOME", "")
    if not wanted:
        return None
    # The working directory may be gone, and a whole path does not need it.
    base = Path() if wanted.startswith("~") or Path(wanted).is_absolute() else Path.cwd()
    return Path(expanded(wanted, base, environ))
