"""Not every system has all that Linux has: a turn with a tool goes through without it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

LACKS = ("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_PATH", "fchmod", "fchown", "getuid", "listxattr",
         "nice", "pread", "supports_dir_fd")  # fmt: skip
"""Names of `os` that Windows does not have. `supports_dir_fd` is empty there."""
SCRIPT = """
import asyncio, os, select, subprocess, sys
for name in {lacks!r}:
    delattr(os, name)
os.supports_dir_fd = set()
del select.poll
from agent_cli.cli.entry import run
sys.exit(run(sys.argv[1:]))
"""


def test_a_file_is_written_and_read_without_what_windows_lacks(tmp_path: Path):
    calls = [
        {"name": "write_file", "arguments": {"path": "new/a.txt", "content": "one\n"}},
        {"name": "read_file", "arguments": {"path": "new/a.txt"}},
    ]
    replies = [{"calls": [call]} for call in calls] + [{"text": "Written."}]
    (tmp_path / "script.jsonl").write_text("".join(json.dumps(reply) + "\n" for reply in replies))
    argv = ("-p", "write it", "--script", "script.jsonl", "--yolo", "--output-format", "json")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(lacks=LACKS), *argv],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["answer"] == "Written."
    assert (tmp_path / "new" / "a.txt").read_text() == "one\n"
