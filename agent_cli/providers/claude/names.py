"""The names that begin with `@claude`, and the program behind them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.usage import Tier

NAME = "@claude"
TIERS: dict[str, Tier] = {"opus": "frontier", "sonnet": "mid", "haiku": "small"}
"""The program's own short names."""
MISSING = (
    "{name} hands the turn to Claude Code, and there is no program '{command}' here. Install it with `npm install -g"
    " @anthropic-ai/claude-code`, set claude.command in your config to where it is, or choose another model."
)


def names() -> list[str]:
    return [f"{NAME}/{name}" for name in TIERS]


def installed(command: str, environ: Mapping[str, str]) -> list[str]:
    """The names, where the program is there."""
    return names() if _found(command, environ) else []


def find(command: str, environ: Mapping[str, str], name: str = NAME) -> str:
    """Where the program is. Raises ConfigError that says how to install it."""
    found = _found(command, environ)
    if found is None:
        raise ConfigError(MISSING.format(name=name, command=command))
    return str(Path(found).absolute())


def _found(command: str, environ: Mapping[str, str]) -> str | None:
    return shutil.which(str(Path(command).expanduser()), path=environ.get("PATH", os.defpath))
