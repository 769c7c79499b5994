"""Programs of the operator's that the screen starts: an editor, a shell command, a clipboard."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from agent_cli.talk.untrusted import clean

LONGEST = 60.0
"""Seconds that a shell command may take."""
MOST = 100_000
"""Characters of its output that are taken."""
_COPIERS = (("pbcopy",), ("wl-copy",), ("xclip", "-selection", "clipboard"), ("xsel", "-ib"), ("clip.exe",))


def edit(text: str) -> str:
    """The text as the operator's editor leaves it. Waits for it; ValueError says why there is none."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        command = shlex.split(editor)
    except ValueError as problem:
        raise ValueError(f"the editor {editor!r} cannot be read: {problem}") from None
    with tempfile.TemporaryDirectory(prefix="agent-cli-") as directory:
        path = Path(directory, "message.md")
        path.write_text(text, "utf-8")
        try:
            done = subprocess.run([*command, str(path)], check=False)
        except OSError as problem:
            raise ValueError(
                f"the editor {editor!r} cannot be started: {problem.strerror}. Set EDITOR to one that can."
            ) from None
        if done.returncode:
            raise ValueError(f"the editor {editor!r} ended with {done.returncode}; the text is as it was")
        return path.read_text("utf-8", "replace").rstrip("\n")


def shell(command: str, cwd: str) -> str:
    """What a command of the operator's writes, for a message. Waits for it; never raises."""
    try:
        done = subprocess.run(  # noqa: S602  a command line that the operator typed
            command,
            shell=True,
            cwd=cwd or None,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"$ {command}\n[stopped after {LONGEST:g} s]\n"
    except (OSError, ValueError) as problem:
        return f"$ {command}\n[cannot be started: {problem}]\n"
    text = clean(done.stdout.decode("utf-8", "replace")).rstrip("\n")
    if len(text) > MOST:
        half = MOST // 2
        text = f"{text[:half]}\n[… {len(text) - MOST:,} characters left out …]\n{text[-half:]}"
    code = f"\n[exit code {done.returncode}]" if done.returncode else ""
    return f"$ {command}\n{text}{code}\n"


def copiers() -> list[tuple[str, ...]]:
    """Commands that put what they read into the clipboard of this machine; none where there is no desktop."""
    desktop = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"))
    if sys.platform.startswith("linux") and not desktop:
        return []
    return [command for command in _COPIERS if shutil.which(command[0]) is not None]


def copy(text: str) -> str:
    """Into the clipboard of this machine; the name of the program that took it, "" for none."""
    for command in copiers():
        try:
            done = subprocess.run(
                command, input=text.encode(), timeout=2.0, check=False,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return command[0]
    return ""
