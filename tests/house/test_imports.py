"""Start-up is fast because nobody pays for what he does not use. Looked at in the running process: the static
graph cannot see whether a deferral really defers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

HEAVY = (
    "anthropic",
    "google.genai",
    "mcp",
    "textual",
    "prompt_toolkit",
    "rich.markdown",
    "pathspec",
    "pygments",
    "bs4",
    "markdownify",
    "jmespath",
    "jsonschema",
    "tree_sitter",
    "tomlkit",
    "uvicorn",
)
REPORT = "import json, sys; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"


def modules_after(code: str, *, cwd: Path = ROOT) -> set[str]:
    """The modules of a fresh process after some code."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    program = f"import atexit\natexit.register(lambda: exec({REPORT!r}))\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, cwd=cwd, capture_output=True, text=True, timeout=60
    )
    last = done.stderr.strip().splitlines()[-1]
    return set(json.loads(last))


def heavy_in(modules: set[str], *heavy: str) -> list[str]:
    return [name for name in heavy if any(held == name or held.startswith(name + ".") for held in modules)]


def test_the_version_is_answered_before_typer_is_imported():
    modules = modules_after(
        "import sys; sys.argv = ['agent-cli', '--version']; from agent_cli.__main__ import main; main()"
    )
    assert heavy_in(modules, *HEAVY, "typer", "pydantic", "rich", "asyncio", "httpx2", "sqlite3") == []


def test_help_needs_no_model_no_screen_and_no_database():
    modules = modules_after(
        "import sys; sys.argv = ['agent-cli', '--help']; from agent_cli.__main__ import main; main()"
    )
    assert heavy_in(modules, *HEAVY, "httpx2", "sqlite3") == []


def test_a_one_shot_run_imports_what_it_uses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AGENT_CLI_HOME", str(tmp_path))
    code = (
        "import sys; sys.argv = ['agent-cli', '-p', 'hi', '--provider', 'echo']\n"
        "from agent_cli.__main__ import main; main()"
    )
    modules = modules_after(code, cwd=tmp_path)
    assert {"agent_cli.engine.session", "agent_cli.config.sources", "sqlite3"} <= modules  # it did run
    refused = (
        "typer",
        "pydantic",
        "pydantic_core",
        "pydantic_settings",
        "rich",
        "httpx2",
        "importlib.resources",
        "shutil",
        "tempfile",
        "lzma",
        "bz2",
        "html",
        "agent_cli.config.write",
        "agent_cli.mcp",
        "agent_cli.config.servers",
    )
    assert heavy_in(modules, *HEAVY, *refused) == []


def test_the_screen_opens_a_session_without_pydantic_and_typer():
    code = "import agent_cli.cli.entry, agent_cli.compose.screen, agent_cli.config.sources"
    assert heavy_in(modules_after(code), "typer", "pydantic", "pydantic_settings") == []


def test_a_conversation_in_lines_imports_no_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AGENT_CLI_HOME", str(tmp_path))
    code = (
        "import os, sys; os.dup2(os.open(os.devnull, os.O_RDONLY), 0)\n"
        "sys.argv = ['agent-cli', '--no-tui', '--provider', 'echo', 'hello']\n"
        "from agent_cli.__main__ import main; main()"
    )
    modules = modules_after(code, cwd=tmp_path)
    assert "agent_cli.repl.conversation" in modules  # it did run
    assert heavy_in(modules, *HEAVY, "typer", "pydantic", "rich", "httpx2") == []


@pytest.mark.parametrize(
    "room",
    [
        "kernel",
        "ports",
        "context",
        "guardrails",
        "permissions",
        "engine",
        "talk",
        "headless",
        "repl",
        "server",
        "remote",
    ],
)
def test_the_lower_floors_import_nothing_heavy(room: str):
    code = f"import pkgutil, importlib, agent_cli.{room} as room\n"
    if room != "ports":
        code += "[importlib.import_module(m.name) for m in pkgutil.walk_packages(room.__path__, room.__name__ + '.')]"
    modules = modules_after(code)
    assert heavy_in(modules, *HEAVY, "typer", "pydantic", "rich", "httpx2", "sqlite3") == []
