"""A run of an embedded model can be recorded, and replayed without it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from agent_cli.cli.entry import run
from agent_cli.providers.local import provider
from tests.providers_local import fake_server

LOOK = '{"tool": "read_file", "args": {"path": "notes.txt"}}'
ANSWER = '{"tool": "final_answer", "args": {"answer": "They say hello."}}'


def lines_of(name: str) -> list[str]:
    return Path(f"{name}.jsonl").read_text("utf-8").splitlines()


def test_a_run_of_an_embedded_model_is_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    binary = tmp_path / "llama-server"
    binary.write_text(f"#!{sys.executable}\n{Path(fake_server.__file__).read_text('utf-8')}")
    binary.chmod(0o755)
    model = tmp_path / "model.gguf"
    model.write_text(json.dumps({"replies": [LOOK, ANSWER]}))
    monkeypatch.setattr(provider, "find_binary", lambda: binary)
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    Path("notes.txt").write_text("hello\n", "utf-8")

    asked = ("-p", "what do the notes say?", "-q", "--ephemeral", "--record-to")
    assert run([*asked, "talk.jsonl", "--model", f"local/{model}"]) == 0
    replay = ("--script", "talk.jsonl", "--script-strict", "--provider", "scripted")
    assert run([*asked, "again.jsonl", *replay]) == 0
    assert capfd.readouterr().out == "They say hello.\nThey say hello.\n"
    told = [json.loads(line) for name in ("talk", "again") for line in lines_of(name)]
    assert [line["expect"] for line in told[:2]] == [line["expect"] for line in told[2:]]
    assert [line.get("card", {}).get("profile") for line in told] == ["compact", None] * 2
