"""What the operator has on disk around a session: instructions, prompts, changed files, the user's config."""

from __future__ import annotations

import difflib
import os
import platform
import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_cli import __version__
from agent_cli.compose.later import prepare, root_of, snapshots
from agent_cli.compose.options import RunOptions
from agent_cli.config import places
from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.events import FileDiff
from agent_cli.talk.changed import Changed
from agent_cli.talk.door import Door, Instructed, Prompt, Skilled

if TYPE_CHECKING:
    from agent_cli.config.skills import Skill
    from agent_cli.config.sources import Loaded
    from agent_cli.tools.snapshots import Snapshots

SECRET = re.compile("KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
"""In the names of variables whose values are in no report."""
LOG_LINES = 200
EVENTS = 100
GIT_SECONDS = 20.0
SHOWS = ("TERM", "COLORTERM", "TERM_PROGRAM", "LANG", "LC_ALL", "TMUX", "STY", "SSH_CONNECTION", "NO_COLOR")
"""Variables of the terminal; of the last ones only whether they are set."""


class Workplace:
    """Every method blocks, and is called in a thread. Raises AgentError."""

    def __init__(self, options: RunOptions, log: Path) -> None:
        self._options = options
        self._log = log

    def instructions(self) -> Sequence[Instructed]:
        from agent_cli.config.instructions import read_instructions

        loaded = prepare(self._options)
        found = read_instructions(loaded.user, loaded.project, root_of(self._options, loaded), loaded.recipe)
        return [Instructed(each.source, each.bytes, each.cut) for each in found]

    def prompts(self) -> Sequence[Prompt]:
        """Those of the project only where it is trusted."""
        from agent_cli.config.prompts import read_prompts

        directories = prepare(self._options).scopes("commands")
        return [
            Prompt(
                each.name,
                each.body,
                each.path,
                each.description,
                each.arguments,
                each.model,
                each.tools,
                each.problem,
            )
            for each in read_prompts(directories)
        ]

    def skills(self) -> Sequence[Skilled]:
        """Those of the project only where it is trusted."""
        from agent_cli.compose.skills import skills_of

        found = skills_of(prepare(self._options))
        if found is None:
            return ()
        from agent_cli.tools.skill import beside

        odd = [problem for problem in found.problems if not problem.fatal]
        made: list[Skilled] = []
        for each in found.found:
            remarks = tuple(str(problem) for problem in odd if problem.path == each.path)
            body, files = _read(each), tuple(beside(Path(each.path).parent))
            made.append(
                Skilled(
                    each.name, each.path, each.description, each.scope, each.size, "", remarks, each.needs, files, body
                )
            )  # fmt: skip
        lost = [problem for problem in found.problems if problem.fatal]
        return [*made, *(Skilled(Path(each.path).parent.name, each.path, problem=str(each)) for each in lost)]

    def remember(self, line: str, /) -> str:
        """To the project's AGENTS.md, or the file that stands for it; made where there is none."""
        from agent_cli.config.instructions import NAMES

        loaded = prepare(self._options)
        root = root_of(self._options, loaded)
        places_of = [loaded.project, root] if loaded.project else [root]
        there = [place / name for name in NAMES for place in places_of if (place / name).is_file()]
        file = there[0] if there else root / NAMES[0]
        try:
            before = file.read_text("utf-8", "surrogateescape") if file.exists() else ""
            gap = "" if not before or before.endswith("\n") else "\n"
            with file.open("a", encoding="utf-8", errors="surrogateescape") as out:
                out.write(f"{gap}- {line}\n")
        except OSError as problem:
            raise AgentError(f"{file} cannot be written: {problem.strerror}. Add the line by hand.") from None
        return str(file)

    def keep(self, key: str, value: str, /) -> str:
        from agent_cli.config.assign import assign

        return str(assign(places.user_dir(self._options.environ), key, value))

    def moments(self, session: str, /) -> Mapping[int, int]:
        return self._snapshots(session)[0].moments()

    def changes(self, session: str, /, since: int = 0) -> Changed:
        """From what files held before the session changed them; where nothing is kept of a whole session, what git says."""
        snapshots, root = self._snapshots(session)
        found, unknown = snapshots.originals(since)
        if not found and not unknown and not since:
            return Changed(_git(root), "since the last commit")
        files = [_compared(root, path, before) for path, before in sorted(found.items())]
        return Changed(
            tuple(file for file in files if file is not None),
            "since then" if since else "in this session",
            unknown,
        )

    def report(self, session: Door | None, words: str, /) -> str:
        from agent_cli.providers.redact import redacted, without

        directory = places.state_dir(self._options.environ) / "reports"
        path = directory / f"report-{time.strftime('%Y%m%d-%H%M%S')}.md"
        environ = self._options.environ
        secrets = [value for name, value in environ.items() if SECRET.search(name)]
        text = without(redacted(_report(prepare(self._options), environ, session, words, self._log)), secrets)
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.touch(mode=0o600)
            path.write_text(text, "utf-8", "replace")
        except OSError as problem:
            raise AgentError(
                f"{path} cannot be written: {problem.strerror}. Make room in that directory."
            ) from None
        return str(path)

    def _snapshots(self, session: str) -> tuple[Snapshots, Path]:
        root = root_of(self._options, prepare(self._options))
        return snapshots(places.snapshots_dir(session, self._options.environ), root), root


def _compared(root: Path, name: str, before: bytes | None) -> FileDiff | None:
    """None where the file holds again what it held."""
    path = Path(name)
    try:
        after = path.read_bytes()
    except OSError:
        after = None
    if before == after:
        return None
    shown = str(path.relative_to(root)) if path.is_relative_to(root) else name
    if b"\0" in (before or b"")[:8_000] + (after or b"")[:8_000]:
        return FileDiff(shown, "@@ -0,0 +0,0 @@ bytes that are no text\n", 0, 0)
    old, new = ((held or b"").decode("utf-8", "replace").splitlines() for held in (before, after))
    lines = list(difflib.unified_diff(old, new, f"a/{shown}", f"b/{shown}", lineterm=""))
    return _counted(shown, lines)


def _counted(path: str, lines: list[str]) -> FileDiff:
    body = [line for line in lines if not line.startswith(("+++", "---"))]
    added = sum(line.startswith("+") for line in body)
    return FileDiff(path, "\n".join(lines) + "\n", added, sum(line.startswith("-") for line in body))


def _git(root: Path) -> tuple[FileDiff, ...]:
    """What is not committed, without files that git does not know. Raises AgentError."""
    words = ["git", "-C", str(root), "diff", "--no-color", "--no-ext-diff", "--no-textconv", "HEAD"]
    environ = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            timeout=GIT_SECONDS,
            check=False,
            env=environ,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise AgentError(f"Nothing is kept of what files held, and git does not say: {problem}.") from None
    if done.returncode:
        raise AgentError(
            "Nothing was changed by tools in this session, and git cannot compare with the last commit here: "
            + done.stderr.decode("utf-8", "replace").strip()
        )
    parts = done.stdout.decode("utf-8", "replace").split("diff --git ")[1:]
    return tuple(_counted(_name(part), part.splitlines()[1:]) for part in parts)


def _name(part: str) -> str:
    return part.partition("\n")[0].rpartition(" b/")[2]


def _report(loaded: Loaded, environ: Mapping[str, str], session: Door | None, words: str, log: Path) -> str:
    """Facts about the program and the course of the session; nothing of what was said or read."""
    shown = [
        f"{name}={environ[name] if at < 5 else 'set'}" for at, name in enumerate(SHOWS) if name in environ
    ]
    settings = [f"- {key} (from {origin})" for key, origin in sorted(loaded.origins.items())]
    lines = [
        "# Report about agent-cli\n", words or "(say here what went wrong)", "\n## Program\n",
        f"- agent-cli {__version__}, Python {platform.python_version()}, {platform.platform()}",
        f"- terminal: {' '.join(shown)}", "\n## Settings that were made (names only)\n", *settings,
    ]  # fmt: skip
    if session is not None:
        state = session.state
        lines += [
            "\n## Session\n", f"- {session.id}: {state.card.provider}/{state.card.id}, {state.mode} mode",
            f"- turn {state.turn}, {state.total.requests} requests, {state.calls} calls, {state.context_tokens} tokens",
            f"- halted: {session.halted or 'no'}", "\n## The latest facts, by kind\n",
        ]  # fmt: skip
        past = session.past(max(state.seq - EVENTS, 0), state.seq)
        lines += [
            f"- {entry.seq} turn {entry.turn} step {entry.step} {type(entry.event).__name__}"
            for entry in past
        ]
    try:
        kept = log.read_text("utf-8", "replace").splitlines()[-LOG_LINES:]
    except OSError:
        kept = ["(there is none)"]
    return "\n".join([*lines, "\n## The end of the log\n", "```", *kept, "```", ""])


def _read(skill: Skill) -> str:
    try:
        return skill.body()
    except AgentError:
        return ""  # it changed a moment ago
