"""What earlier sessions of a project used, in a small file of the user's state: the base line for what is new."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

import msgspec

from agent_cli.compose.log import Kept
from agent_cli.compose.options import RunOptions
from agent_cli.config import places
from agent_cli.guardrails.checks.armed import Habits
from agent_cli.kernel.errors import StoreError
from agent_cli.kernel.events import ToolReturned


def habits(options: RunOptions) -> Habits:
    """Nothing where nothing is known, or where the file cannot be read."""
    try:
        return msgspec.json.decode(_path(options).read_bytes(), type=Habits)
    except (OSError, msgspec.MsgspecError):
        return Habits()


def keep(options: RunOptions, kept: Kept) -> None:
    """Adds what this run used. Best effort; a run that used nothing leaves nothing."""
    try:
        used = {
            entry.event.tool
            for entry in kept.log.read(kept.entries)
            if isinstance(entry.event, ToolReturned) and entry.event.executed
        }
    except StoreError:
        return
    if not used:
        return
    before = habits(options)
    after = Habits(before.sessions + (kept.entries == 0), before.tools | used)
    if after == before:
        return
    path = _path(options)
    part = path.with_suffix(f".{os.getpid()}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        part.write_bytes(msgspec.json.encode(after))
        part.replace(path)


def _path(options: RunOptions) -> Path:
    name = hashlib.blake2b(str(options.cwd.resolve()).encode(), digest_size=8).hexdigest()
    return places.state_dir(options.environ) / "habits" / f"{name}.json"
