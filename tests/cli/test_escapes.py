"""A model that tries to get out, through the whole product: nothing outside changes, no secret is read, nothing is sent."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agent_cli.cli.entry import run
from tests.fakes.hostile import CANARY, ESCAPES, world


def test_there_are_many() -> None:
    assert len({json.dumps(call) for call in ESCAPES}) >= 60


@pytest.mark.parametrize("mode", ["ask", "allow", "acceptEdits", "plan"])
def test_no_escape_gets_anywhere(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with world(tmp_path) as made:
        calls = made.calls()
        script = tmp_path / "script.jsonl"
        replies = [{"calls": [{"name": tool, "arguments": given}]} for tool, given in calls]
        script.write_text("".join(json.dumps(reply) + "\n" for reply in (*replies, {"text": "I give up."})))
        monkeypatch.chdir(made.project)
        monkeypatch.setenv("HOME", str(made.home))
        monkeypatch.setenv("AGENT_CLI_HOME", str(made.home / "state"))
        monkeypatch.setenv("STOLEN_KEY", CANARY)
        monkeypatch.setenv("PATH", f"{made.project}/.venv/bin:{os.environ['PATH']}")
        before = made.standing()
        code = run([
            "-p", "escape", "--trust", "--script", str(script), "--permission-mode", mode, "--output-format", "stream-json",
            "--watchdog", "off", "--max-steps", "0", "--bash-search-gate", "allow",
        ])  # fmt: skip
        out = capfd.readouterr().out
        told = [json.loads(line) for line in out.splitlines()]
        results = [line for line in told if line["type"] == "tool-result"]
        assert (code, len(results)) == (0, len(calls)), told[-1]
        assert CANARY not in out
        assert made.standing() == before
        assert made.reached == []
        assert not (made.home / "planted").exists()
        assert not (made.project / "here").is_symlink()
