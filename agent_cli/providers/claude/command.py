"""How Claude Code is run: its command line, its environment, and the files that it reads."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from agent_cli.kernel.messages import Prompt, ToolSpec
from agent_cli.providers.claude import rpc
from agent_cli.providers.claude.bridge import HOST, Bridge
from agent_cli.providers.memo import json_bytes

SETTINGS = {
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
    "CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK": "1",
    "CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY": "1000",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_DISABLE_TERMINAL_TITLE": "1",
    "DISABLE_AUTOUPDATER": "1",
    "MCP_TIMEOUT": "30000",
    "MCP_TOOL_TIMEOUT": "100000000",
    "CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT": "0",
    "MAX_MCP_OUTPUT_TOKENS": "1000000",
}
"""Retries, bounds and waits are ours; all calls of an answer come at once; nothing is sent or kept besides."""
OURS = ("AGENT_CLI_", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT")
"""Beginnings of variables that are about another program than the one that is run."""


class Program(NamedTuple):
    """`sources` are the scopes of its own settings that it may load. `cwd` is where it runs."""

    path: str
    cwd: str
    environ: Mapping[str, str]
    sources: tuple[str, ...] = ()


class Named(NamedTuple):
    """A session of its own; `resumed` says that it exists."""

    session: str
    resumed: bool


class Files:
    """What the program is told in files, since everybody can read a command line. Raises OSError."""

    def __init__(self, bridge: Bridge, system: Sequence[str]) -> None:
        self._directory = Path(tempfile.mkdtemp(prefix="agent-cli-"))  # 0700
        self.config = self._directory / "mcp.json"
        self.system = self._directory / "system.md"
        headers = {"Authorization": f"Bearer {bridge.token}"}
        servers = {rpc.SERVER: {"type": "http", "url": bridge.url, "headers": headers}}
        try:
            self._write(self.config, json_bytes({"mcpServers": servers}))
            self._write(self.system, "\n\n".join(system).encode())
        except OSError:
            self.remove()
            raise

    def remove(self) -> None:
        """Idempotent."""
        shutil.rmtree(self._directory, ignore_errors=True)

    def _write(self, path: Path, data: bytes) -> None:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)


def argv(
    program: Program, prompt: Prompt, files: Files, named: Named, tools: Sequence[ToolSpec]
) -> list[str]:
    """`--tools ""` leaves it none of its own; everything of the bridge is allowed there, since rules stand before it."""
    words = [
        program.path,
        "-p",
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--verbose",
    ]
    words += [
        "--include-partial-messages",
        "--tools",
        "",
        "--strict-mcp-config",
        "--mcp-config",
        str(files.config),
    ]
    words += ["--setting-sources", ",".join(program.sources), "--disable-slash-commands"]
    words += ["--resume" if named.resumed else "--session-id", named.session, "--model", prompt.model]
    words += ["--system-prompt-file", str(files.system)] if any(prompt.system) else []
    words += ["--allowedTools", ",".join(rpc.PREFIX + tool.name for tool in tools)] if tools else []
    words += ["--max-turns", str(prompt.steps_left)] if prompt.steps_left else []
    words += ["--effort", prompt.effort] if prompt.effort else []
    return words


def environment(environ: Mapping[str, str], prompt: Prompt) -> dict[str, str]:
    kept = {name: value for name, value in environ.items() if not name.startswith(OURS)}
    told = {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(prompt.max_output)} if prompt.max_output else {}
    past = ",".join(filter(None, (kept.get("NO_PROXY") or kept.get("no_proxy"), HOST)))
    return {**kept, **SETTINGS, **told, "NO_PROXY": past, "no_proxy": past}


def kept(environ: Mapping[str, str]) -> Path:
    """Where it keeps its sessions."""
    own = environ.get("CLAUDE_CONFIG_DIR")
    return Path(own) if own else Path(environ.get("HOME") or Path.home()) / ".claude"
