"""Programs of the operator's that the screen starts: an editor, a shell command, a clipboard."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from agent_cli.talk.untrusted import clean

LONGEST = 60.0
"""Seconds that a shell command may take."""
GRACE = 2.0
"""Seconds that a killed command may take to be gone."""
MOST = 100_000
"""Characters of its output that are taken."""
MOST_READ, CHUNK = 8_000_000, 65_536
"""Bytes of output after which it is stopped, and that are read at once."""
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


async def shell(command: str, cwd: str, *, apart: bool = False) -> str:
    """What a command of the operator's writes, for a message. Never raises; who cancels it ends the command.

    `apart`: the terminal's own keys, as Ctrl+C, do not reach it.
    """
    try:
        process = await asyncio.create_subprocess_shell(
            command,
            cwd=cwd or None,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=apart,
        )
    except (OSError, ValueError) as problem:
        return f"$ {command}\n[cannot be started: {problem}]\n"
    written, stopped = bytearray(), ""
    try:
        async with asyncio.timeout(LONGEST):
            whole = await _take_in(process, written)
        stopped = "" if whole else f"\n[stopped after {MOST_READ:,} bytes]"
    except TimeoutError:
        stopped = f"\n[stopped after {LONGEST:g} s]"
    finally:
        await _end(process, apart=apart)
    code = f"\n[exit code {process.returncode}]" if process.returncode and not stopped else ""
    return f"$ {command}\n{_shortened(written.decode('utf-8', 'replace'))}{stopped}{code}\n"


async def _take_in(process: asyncio.subprocess.Process, written: bytearray) -> bool:
    """Adds up what it writes; False where that is too much."""
    while process.stdout and (part := await process.stdout.read(CHUNK)):
        written += part
        if len(written) > MOST_READ:
            return False
    await process.wait()
    return True


def _shortened(written: str) -> str:
    text = clean(written).rstrip("\n")
    if len(text) <= MOST:
        return text
    half = MOST // 2
    return f"{text[:half]}\n[… {len(text) - MOST:,} characters left out …]\n{text[-half:]}"


async def _end(process: asyncio.subprocess.Process, *, apart: bool) -> None:
    """Ends a command that still runs, and where it is apart what it has started; its end of the pipe is closed."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if apart and sys.platform != "win32":
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
    transport: Any = vars(process)["_transport"]  # asyncio closes it only when everybody else has
    transport.close()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(GRACE):
            await process.wait()


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
