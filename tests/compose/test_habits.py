from __future__ import annotations

import json
from pathlib import Path

from agent_cli.cli.entry import run


def test_a_tool_that_no_earlier_session_used_is_told_of_once_there_are_five(
    tmp_path: Path, monkeypatch, capfd
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENT_CLI_HOME", str(tmp_path / "state"))
    (tmp_path / "a").write_text("a\n")

    def play(name: str, **arguments: str) -> str:
        script = tmp_path / "script.jsonl"
        replies = [{"calls": [{"name": name, "arguments": arguments}]}, {"text": "ok"}]
        script.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
        assert run(["-p", "go", "--script", str(script), "--yolo"]) == 0
        return capfd.readouterr().err

    for _ in range(5):
        assert "first-use" not in play("read_file", path="a")
    assert "first-use (warn): bash was used in none of the 5 earlier sessions of this project" in play(
        "bash", command="true"
    )
    assert "first-use" not in play("bash", command="true")


def test_a_file_that_cannot_be_read_is_no_base_line(tmp_path: Path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENT_CLI_HOME", str(tmp_path / "state"))
    script = tmp_path / "script.jsonl"
    script.write_text('{"calls": [{"name": "bash", "arguments": {"command": "true"}}]}\n{"text": "ok"}\n')
    for _ in range(2):
        assert run(["-p", "go", "--script", str(script), "--yolo"]) == 0
        for path in (tmp_path / "state").rglob("habits/*.json"):
            path.write_text("{")
    assert "first-use" not in capfd.readouterr().err
