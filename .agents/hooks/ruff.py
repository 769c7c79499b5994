"""A hook behind each edit: says what ruff finds wrong in the Python files that were changed. It changes none of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

RUFF = Path(".venv/bin/ruff")
CHECKS = (("check", "--quiet", "--output-format", "concise"), ("format", "--check"))


def main() -> int:
    """Exit 2 where something is wrong: what is written to standard error is told to the model then."""
    changed = json.load(sys.stdin)["result"]["changed"]
    files = [path for path in changed if path.endswith(".py") and Path(path).is_file()]
    if not files or not RUFF.exists():
        return 0
    wrong = ""
    for check in CHECKS:
        done = subprocess.run([str(RUFF), *check, *files], check=False, capture_output=True, encoding="utf-8")
        wrong += done.stdout if done.returncode else ""
    sys.stderr.write(wrong)
    return 2 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
