"""What a session changed in the files."""

from __future__ import annotations

from typing import NamedTuple

from agent_cli.kernel.outputs import FileDiff


class Changed(NamedTuple):
    """What differs now; `since` says from what, `unknown` which files cannot be compared and why."""

    files: tuple[FileDiff, ...]
    since: str
    unknown: tuple[str, ...] = ()
