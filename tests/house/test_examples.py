"""Every example runs as it stands, without a key and without a network."""

from __future__ import annotations

import runpy
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
