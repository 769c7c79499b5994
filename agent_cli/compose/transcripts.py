"""What each run leaves beside the log: a summary for programs and a transcript for people."""

from __future__ import annotations

import logging
from pathlib import Path

from agent_cli.ports import Log

RESULT_BYTES = 4_096


def save(log: Log, since: int, directory: Path) -> None:
    """Writes `N.json` and `N.md` of the entries after `since`, N being the first of them.

    Best effort: what goes wrong is told in the log of the program and changes nothing.
    """
    try:
        _save(log, since, directory)
    except Exception:
        logging.getLogger("agent_cli.compose").exception("the transcript of this run could not be saved")


def _save(log: Log, since: int, directory: Path) -> None:
    from agent_cli.headless.exports.pages import markdown
    from agent_cli.headless.exports.trajectory import Trajectory
    from agent_cli.kernel.wire import to_json

    trajectory = Trajectory()
    for entry in log.read(since):
        trajectory.feed(entry)
    summary = trajectory.whole()
    if not summary["turns"]:
        return
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    _write(directory / f"{since + 1}.json", to_json(summary) + "\n")
    facts = {"session": log.session, "entries": f"from {since + 1}"}
    _write(directory / f"{since + 1}.md", "".join(markdown("A run", facts, log.read(since), RESULT_BYTES)))


def _write(path: Path, text: str) -> None:
    """All of it or nothing: half a file would pass for a run that said no more."""
    try:
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError:
        path.unlink(missing_ok=True)
        raise
