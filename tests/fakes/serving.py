"""`agent-cli serve` as a process of its own, and plain requests to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LISTEN = ("serve", "--listen", "127.0.0.1:0")


def ask(url: str, body: object = None, *, method: str = "") -> dict[str, Any]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, method=method or ("GET" if body is None else "POST"))
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return {"status_code": answer.status, **json.loads(answer.read())}
    except urllib.error.HTTPError as refused:
        return {"status_code": refused.code, **json.loads(refused.read())}


def follow(url: str, until: str) -> list[str]:
    """The types of events up to that one."""
    seen: list[str] = []
    with urllib.request.urlopen(url, timeout=20) as answer:
        for line in answer:
            if line.startswith(b"event: "):
                seen.append(line[7:].decode().strip())
                if seen[-1] == until:
                    break
    return seen


@contextmanager
def running(project: Path, *words: str) -> Generator[tuple[subprocess.Popen[str], str]]:
    """The process, and its address as it prints that."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "agent_cli", *words]
    process = subprocess.Popen(
        command, cwd=project, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url.startswith("http"), process.communicate(timeout=20)
        yield process, url
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=20)
