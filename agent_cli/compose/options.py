"""What the command line asks of a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:  # a session on disk does without
    from agent_cli.store.memory import MemoryStore


class RunOptions(msgspec.Struct):
    """`flags` are dotted config keys, only those that were given. `attended` is True where a person can answer;
    `answered` where a program does: it decides approvals, and the ceilings of a run that nobody watches hold.

    `recipe` is a name or a path.
    `resume` is an id, an id's beginning or a name, "" where a person is to choose; `fork` the same, and @ENTRY behind it. `name` is given to the session. `record_to` is the file of a new script.
    `notices` are lines for the operator about how it was called.
    `memory` holds the sessions of this process that are `ephemeral`, where it may come back to one.
    `log_file` is where the program's own log goes instead of the state directory.
    `attach_listen` is the host and port where the open session is served, too.
    `trust` says that the operator trusts the project's `.agents/` as it is.
    """

    cwd: Path
    environ: Mapping[str, str]
    attended: bool
    flags: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    config_file: Path | None = None
    recipe: str | None = None
    resume: str | None = None
    resume_latest: bool = False
    fork: str | None = None
    name: str | None = None
    ephemeral: bool = False
    allow_paths: tuple[str, ...] = ()
    script: Path | None = None
    script_strict: bool = False
    record_to: Path | None = None
    notices: tuple[str, ...] = ()
    trust: bool = False
    answered: bool = False
    log_file: Path | None = None
    attach_listen: tuple[str, int] | None = None
    memory: MemoryStore | None = None
