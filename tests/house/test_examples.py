"""Every example runs as it stands, without a key and without a network."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SAYS = {
    "embedding/ask.py": "[completed, 1 steps,",
    "embedding/stream.py": "Count to five.",
    "embedding/own_tool.py": "It is 21 degrees and clear in Lisbon.\n[1 call]",
    "embedding/context.py": "compaction by summary: the sky\ncheckpoint by operator: the sky was explained\n",
    "embedding/subtask.py": "finished: Where does calc.py multiply two numbers?",
    "embedding/approvals.py": "session wants bash rm -rf build: no",
    "scripting/drive.py": """\
write_file plan.txt: yes
bash rm -rf build: no
turn 1: completed
turn 2: interrupted by the operator
3 steps, 2 calls, exit code 130
ended with 130
""",
    "scripting/outcome.py": """\
well: answered: It is 42.
in circles: went in circles (repeated-tool-call)
away: not now, try again later: slow down
""",
}
"""What each prints with the model that says what it hears, or with its own script."""


def test_each_example_is_run():
    found = (path for room in ("embedding", "scripting") for path in (EXAMPLES / room).glob("*.py"))
    assert {f"{path.parent.name}/{path.name}" for path in found} == set(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_an_example_runs(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [name])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    assert SAYS[name] in capsys.readouterr().out


LOOK = {"calls": [{"name": "list_dir", "arguments": {}}]}
DOWN = {"fault": {"kind": "rate-limit", "retry_after": 0, "message": "slow down"}}
TOLD = {
    "answered": ([{"text": "It is 42."}], (), 0),
    "answered, when its steps were used up": ([LOOK, {"text": "I looked."}], ("--max-steps", "1"), 0),
    "ran out of steps: ": ([LOOK, LOOK], ("--max-steps", "1", "--on-exhaustion", "fail"), 1),
    "went in circles: ": ([LOOK] * 9, (), 1),
    "failed: ": ([{"fault": "auth"}], (), 1),
    "asked wrongly: ": ([], ("--effort", "hihg"), 2),
    "not now, try again later: ": ([DOWN] * 3, (), 75),
}


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a shell")
@pytest.mark.parametrize("said", TOLD)
def test_the_shell_script_tells_every_ending_apart(said: str, tmp_path: Path):
    replies, argv, code = TOLD[said]
    (tmp_path / "script.jsonl").write_text("".join(json.dumps(reply) + "\n" for reply in replies))
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["sh", str(EXAMPLES / "scripting" / "outcome.sh"), "go", "--script", "script.jsonl", *argv],
        cwd=tmp_path, env={**os.environ, "PATH": programs}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ran.stdout.startswith(said)
    assert ran.stdout.count("\n") == 1
    assert ran.returncode == code
