"""Standard streams of a one-shot run that a test can read back."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Self

from agent_cli.headless.narration import Level
from agent_cli.headless.printer import Printer
from agent_cli.headless.run import printer_of


class Paper:
    """A printer over two files; use it as a context manager."""

    def __init__(self, output_format: str = "text", level: Level = Level.NORMAL) -> None:
        self._out = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__
        self._err = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__
        self.printer: Printer = printer_of(output_format, level, self._out.fileno(), self._err.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._out.close()
        self._err.close()

    @property
    def out(self) -> str:
        return _all(self._out.fileno())

    @property
    def err(self) -> str:
        return _all(self._err.fileno())

    @property
    def lines(self) -> list[dict[str, Any]]:
        """stdout as JSON, a line each."""
        return [json.loads(line) for line in self.out.splitlines()]


def _all(descriptor: int) -> str:
    return os.pread(descriptor, os.fstat(descriptor).st_size, 0).decode()
