"""Of the secrets of the labelled set none is in what a run leaves behind: files of any kind, and both streams."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_cli.cli.entry import run
from tests.guardrails.labelled import cases, found_in
from tests.guardrails.made_up import made_up

KEY, (BODY,) = made_up("ghp_«:36»", 99)


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
def test_nothing_of_it_is_left_anywhere(tmp_path, monkeypatch, capfd, form: str):
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    home = tmp_path / "state"
    monkeypatch.setenv("AGENT_CLI_HOME", str(home))
    secrets = [case.text for case in cases() if case.label == "secret" and found_in(case)]
    for at, text in enumerate(secrets):
        (project / f"{at}.env").write_text(f"{text}\n", "utf-8")
    names = [f"{at}.env" for at in range(len(secrets))]
    calls = [{"name": "bash", "arguments": {"command": f"cat {' '.join(names)}"}}]
    write = [{"name": "write_file", "arguments": {"path": "kept.txt", "content": KEY}}]
    script = tmp_path / "script.jsonl"
    replies = [
        {"calls": calls},
        {"calls": write},
        {"text": f"The first is {secrets[0]}, and you said {KEY}."},
    ]
    script.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    recording = tmp_path / "recorded.jsonl"
    code = run(
        [
            "-p",
            f"look at them, and take {KEY}",
            "--script",
            str(script),
            "--yolo",
            "--record-to",
            str(recording),
            "--output-format",
            form,
            "--name",
            "kept",
        ]
    )
    said = capfd.readouterr()
    assert code == 0, said.err
    for export in ("jsonl", "markdown", "html"):
        assert run(["sessions", "export", "kept", "--format", export]) == 0
    said_too = capfd.readouterr()
    left = [path for path in tmp_path.rglob("*") if path.is_file() and path not in before]
    assert recording in left
    assert any(path.suffix == ".db" for path in left), left
    told = [said.out, said.err, said_too.out, *(_text(path) for path in left if path.name != "kept.txt")]
    assert (project / "kept.txt").read_text() == KEY, "the call ran with what the model said"
    lines = {line for text in secrets for line in text.splitlines() if len(line) > 30}
    for text in told:
        assert BODY not in text
        assert not [line for line in lines if line in text]
    assert any("[REDACTED:" in text for text in told)


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace").replace("\\n", "\n")
