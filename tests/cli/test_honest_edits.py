"""Fifty honest edits in a real repository, through the whole product: the diff is the one that was meant, and no more."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import agent_cli
from agent_cli.cli.entry import run
from tests.tools.test_bytes import STORED, swapped

SOURCES = (
    "permissions/shell.py", "permissions/rules.py", "permissions/globs.py", "permissions/bundle.py", "tools/bash.py", "tools/process.py",
    "tools/text.py", "tools/edit_file.py", "tools/read_file.py", "tools/bash.md", "engine/calls.py", "engine/batch.py",
)  # fmt: skip


class Edit(NamedTuple):
    """The call, and what each file is meant to hold after it; None where it is gone."""

    tool: str
    given: dict[str, Any]
    after: dict[str, bytes | None]
    reads: str = ""


def replaced(path: str, raw: bytes, old: str, new: str) -> Edit:
    given = {"path": path, "edits": [{"old": old, "new": new}]}
    return Edit("edit_file", given, {path: raw}, path)


def committed() -> dict[str, bytes]:
    """What the repository holds: files of every encoding and ending, and sources of this program."""
    package = Path(agent_cli.__file__).parent
    stored = {f"stored/{number}.txt": stored.raw for number, stored in enumerate(STORED.values())}
    return stored | {f"src/{name}": (package / name).read_bytes() for name in SOURCES} | {
        "notes/old.md": b"# Old\n\ntext\n", "notes/gone.md": b"gone\n", "notes/moved.md": b"one\ntwo\nthree\n", "notes/crlf.md": b"a\r\nb\r\n",
        "run.sh": b"#!/bin/sh\necho one\n", "notes/same.md": b"same\n",
    }  # fmt: skip


def edits(files: dict[str, bytes]) -> Iterator[Edit]:
    for path, raw in files.items():
        if path.startswith("stored/"):
            yield replaced(path, swapped(raw, "value = 1", "value = 22"), "value = 1", "value = 22")
        elif path.startswith("src/"):
            lines = raw.decode().splitlines()
            line = max((line for line in lines if lines.count(line) == 1), key=len)
            yield replaced(
                path, raw.replace(line.encode(), line.encode() + b" # seen"), line, line + " # seen"
            )
    yield replaced("run.sh", b"#!/bin/sh\necho two\n", "echo one", "echo two")
    for name in ("notes/new.md", "notes/deep/er/new.md"):
        yield Edit("write_file", {"path": name, "content": "# New\n"}, {name: b"# New\n"})
    new = {"path": "notes/crlf.md", "content": "a\nc\n"}
    yield Edit("write_file", new, {"notes/crlf.md": b"a\r\nc\r\n"}, "notes/crlf.md")
    yield Edit("write_file", {"path": "notes/same.md", "content": "same\n"}, {}, "notes/same.md")
    yield Edit("delete_file", {"path": "notes/gone.md"}, {"notes/gone.md": None})
    yield Edit("delete_file", {"path": "notes/never-there.md"}, {})
    patch = """*** Begin Patch
*** Update File: notes/moved.md
*** Move to: notes/there.md
@@
 one
-two
+2
 three
*** Add File: notes/added.md
+added
*** Delete File: notes/old.md
*** End Patch"""
    after = {
        "notes/moved.md": None,
        "notes/there.md": b"one\n2\nthree\n",
        "notes/added.md": b"added\n",
        "notes/old.md": None,
    }
    yield Edit("apply_patch", {"patch": patch}, after, "notes/moved.md")
    two = {"path": "src/tools/bash.md", "edits": [{"old": "a", "new": "A", "replace_all": True}, {"old": "A", "new": "a", "replace_all": True}]}  # fmt: skip
    yield Edit("edit_file", two, {}, "src/tools/bash.md")
    yield replaced("notes/there.md", b"one\n2\nfour\n", "three", "four")


def repository(place: Path, files: dict[str, bytes]) -> Path:
    for path, raw in files.items():
        file = place / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(raw)
    (place / "run.sh").chmod(0o755)
    (place / "link.txt").symlink_to("notes/crlf.md")
    git(place, "init", "-q")
    git(place, "add", "-A")
    git(place, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "begin")
    return place


def git(place: Path, *words: str) -> str:
    environ = {"HOME": str(place.parent), "PATH": "/usr/bin:/bin:/usr/local/bin"}
    done = subprocess.run(["git", *words], cwd=place, check=True, capture_output=True, env=environ)
    return done.stdout.decode("utf-8", "surrogateescape")


def diff(place: Path) -> tuple[str, str]:
    """All that differs from the commit, new files and modes included."""
    git(place, "add", "-AN")
    return git(place, "status", "--porcelain"), git(place, "diff", "--binary", "HEAD")


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")
def test_fifty_edits_leave_exactly_the_diff_that_was_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    files = committed()
    project, meant = repository(tmp_path / "project", files), repository(tmp_path / "meant", files)
    made = list(edits(files))
    assert len(made) >= 50
    replies: list[dict[str, Any]] = []
    for edit in made:
        if edit.reads:
            replies.append({"calls": [{"name": "read_file", "arguments": {"path": edit.reads}}]})
        replies.append({"calls": [{"name": edit.tool, "arguments": edit.given}]})
        for path, raw in edit.after.items():
            file = meant / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.unlink() if raw is None else file.write_bytes(raw)
    script = tmp_path / "script.jsonl"
    script.write_text("".join(json.dumps(reply) + "\n" for reply in (*replies, {"text": "Done."})))
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AGENT_CLI_HOME", str(tmp_path / "state"))
    words = [
        "-p",
        "edit",
        "--script",
        str(script),
        "--permission-mode",
        "acceptEdits",
        "--output-format",
        "stream-json",
    ]
    code = run([*words, "--max-steps", "0"])
    told = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    failed = [
        line["output"]["for_model"]
        for line in told
        if line["type"] == "tool-result" and not line["output"].get("ok", True)
    ]
    assert (code, failed) == (0, [])
    assert diff(project) == diff(meant)
    assert len(git(project, "diff", "--name-only", "HEAD").split()) >= 47
