"""Runs agent-cli and decides what to do by its exit code and its JSON: python outcome.py "what changed?" --max-steps 20

Without arguments it plays three endings from a script, so that it needs no key.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

BY_CODE = {
    2: "asked wrongly",
    3: "halted, until somebody resets it (agent-cli guardrails reset SESSION)",
    75: "not now, try again later",
}


def run(*arguments: str, cwd: str | None = None) -> tuple[int, dict[str, Any]]:
    """The exit code, and the object that is printed also of a run that failed."""
    done = subprocess.run(
        [sys.executable, "-m", "agent_cli", "-p", *arguments, "--output-format", "json"],
        cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    return done.returncode, json.loads(done.stdout)


def meaning(code: int, result: dict[str, Any]) -> str:
    error = result["error"] or {}
    if code in BY_CODE:
        return f"{BY_CODE[code]}: {error['message']}"
    match code, result["outcome"]:
        case 0, "budget-exhausted":
            return f"answered, when its {result['exhausted']} were used up: {result['answer']}"
        case 0, _:
            return f"answered: {result['answer']}"
        case 1, "loop-detected" | "no-progress":
            return f"went in circles ({result['trips'][-1]['signal']})"
        case 1, "budget-exhausted":
            return f"ran out of {result['exhausted']}"
        case 1, outcome:
            return f"failed ({outcome}): {error['message']}"
        case _:
            return f"interrupted ({code})"


def main() -> None:
    if sys.argv[1:]:
        code, result = run(*sys.argv[1:])
        print(meaning(code, result))
        sys.exit(code)
    look = {"calls": [{"name": "list_dir", "arguments": {}}]}
    endings = {
        "well": [{"text": "It is 42."}],
        "in circles": [look] * 9,
        "away": [{"fault": {"kind": "rate-limit", "retry_after": 0, "message": "slow down"}}] * 3,
    }
    with tempfile.TemporaryDirectory() as directory:
        for name, replies in endings.items():
            script = Path(directory, "script.jsonl")
            script.write_text("".join(json.dumps(reply) + "\n" for reply in replies), encoding="utf-8")
            code, result = run("go", "--ephemeral", "--script", str(script), cwd=directory)
            print(f"{name}: {meaning(code, result)}")


if __name__ == "__main__":
    main()
