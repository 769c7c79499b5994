"""A session whose turns the fake program does."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from agent_cli.engine.parts import Settings
from agent_cli.engine.session import Session
from agent_cli.kernel import events as ev
from agent_cli.kernel.usage import ModelCard, Price
from agent_cli.ports import OpenModel
from agent_cli.providers.claude.attempt import Terms
from agent_cli.providers.claude.command import Program
from agent_cli.providers.claude.names import NAME
from agent_cli.providers.claude.provider import Claude
from tests.fakes import claude_cli
from tests.fakes.log import ListLog
from tests.fakes.models import Playing
from tests.fakes.sessions import parts
from tests.fakes.tools import FakeTool

CARD = ModelCard(
    "claude-sonnet-5", NAME, 200_000, 64_000, prices=(Price(1.0, 2.0, 0.1, 1.25),), delegated=True
)


def calls(*named: tuple[str, str], **more: Any) -> list[dict[str, Any]]:
    return [{"name": name, "arguments": {"path": path}, **more} for name, path in named]


class Delegated:
    """`runs` are what the program does, start by start."""

    def __init__(self, home: Path, *runs: dict[str, Any]) -> None:
        self.home = home
        self._log = home / "log.jsonl"
        plan = home / "plan.json"
        plan.write_text(json.dumps(runs), "utf-8")
        program = home / "claude"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {claude_cli.__file__} "$@"\n', "utf-8")
        program.chmod(0o755)
        environ = {**os.environ, "FAKE_CLAUDE_PLAN": str(plan), "FAKE_CLAUDE_LOG": str(self._log)}
        environ |= {"CLAUDE_CONFIG_DIR": str(home), "TMPDIR": str(home), "CLAUDECODE": "1"}
        self.program = Program(str(program), str(home), environ)

    def provider(self, *, card: ModelCard = CARD, patience: float = 20.0) -> Claude:
        return Claude(self.program, Terms(NAME, card, patience, patience, {}))

    def session(
        self, *tools: FakeTool, log: ListLog | None = None, patience: float = 20.0, **changes: Any
    ) -> Session:
        claude = self.provider(patience=patience)
        model = OpenModel(claude, CARD, NAME, claude.after_turn)
        settings = changes.pop("settings", Settings(run_status=False))
        return Session(parts(Playing(), *tools, log=log, model=model, settings=settings, **changes))

    def seen(self, key: str) -> list[Any]:
        """What the program wrote down under that word."""
        lines = self._log.read_text("utf-8").splitlines() if self._log.exists() else []
        return [told[key] for told in map(json.loads, lines) if key in told]

    def flags(self, name: str) -> list[str | None]:
        """The value of a flag at each start."""
        return [argv[argv.index(name) + 1] if name in argv else None for argv in self.seen("argv")]

    def heard(self) -> list[str]:
        return ["\n".join(block.get("text", "") for block in content) for content in self.seen("heard")]

    def kept(self) -> list[Path]:
        return list(self.home.glob("projects/*/*.jsonl"))

    def has_config(self) -> bool:
        """Whether a file with a token is still there."""
        return any(Path(path).exists() for path in self.seen("config"))

    def is_gone(self) -> bool:
        """Whether no program that was started runs any more."""
        return not any(is_running(pid) for pid in self.seen("pid"))


async def until(true: Callable[[], object]) -> None:
    """What another process does is looked at now and then."""
    async with asyncio.timeout(20):
        while not true():  # noqa: ASYNC110 - a file tells it, and no event
            await asyncio.sleep(0.01)


def facts(session_log: ListLog, kind: type[Any]) -> list[Any]:
    return [entry.event for entry in session_log.read() if isinstance(entry.event, kind)]


def names(log: ListLog) -> list[str]:
    return [str(msgspec.to_builtins(entry.event)["kind"]) for entry in log.read()]


def results(log: ListLog) -> Sequence[tuple[str, str, bool]]:
    told = facts(log, ev.ToolReturned)
    return [(fact.tool, ev.as_text(fact.output), fact.executed) for fact in told]


def is_running(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
