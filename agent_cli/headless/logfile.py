"""`--log-file FILE`: the lines for the operator in a file, too, each with its time and without secrets."""

from __future__ import annotations

import os
import time
from pathlib import Path

from agent_cli.guardrails.secrets.scan import redacted
from agent_cli.kernel.errors import ConfigError


def opened(path: Path) -> int:
    """A descriptor at the end of the file, which only its owner may read where it is new. Raises ConfigError."""
    try:
        return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError as problem:
        raise ConfigError(
            f"--log-file {path}: it cannot be written: {problem.strerror}. Name another file."
        ) from None


class LogFile:
    """A disk that is full costs lines of the log, never the run."""

    def __init__(self, path: Path) -> None:
        """Raises ConfigError."""
        self._descriptor = opened(path)

    def write(self, line: str) -> None:
        stamped = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {redacted(line)}\n"
        try:
            os.write(self._descriptor, stamped.encode("utf-8", "replace"))
        except OSError:
            return
