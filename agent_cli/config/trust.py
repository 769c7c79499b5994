"""What of a project's `.agents/` counts before the operator trusts the directory, and whether he does.

Trust is kept in the user's state, by the path of the directory and by a digest of everything that it makes count:
when that changes, it has to be given again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from agent_cli.config import files, places
from agent_cli.config.digest import digest as digest_of
from agent_cli.config.hook_files import files_of
from agent_cli.config.settings import Settings
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.wire import is_object

FILE = "trust.json"

FREE = (
    "$schema",
    "version",
    "run_status",
    "model.name",
    "model.provider",
    "model.tier",
    "model.tiers",
    "model.effort",
    "model.temperature",
    "model.max_output_tokens",
    "compaction",
    "checkpoint",
    "tools.disable",
    "tools.concurrency",
    "tools.max_output_bytes",
    "permissions.deny",
    "url_scope.deny",
    "session.task_class",
    "session.transcripts",
    "agent.append_system_prompt",
    "ui.theme",
    "agentic.enabled",
    "mcp.wait",
    "agents.enabled",
)
"""Keys, or whole sections, that give a project nothing that the operator has to agree to. All others wait."""

STRICTER = {
    "permissions.mode": "plan",
    "permissions.plan_mode": "required",
    "permissions.require_plan_artifact": True,
    "permissions.plan_approval": "operator",
    "sandbox.mode": "read-only",
    "sandbox.network": False,
    "guardrails.redact": True,
    "guardrails.output.gate": True,
    "mcp.enabled": False,
}
"""Values that only take away."""

RULES = "guardrails.toml"
RUNS = ("mcp.json", RULES, "tools", "hooks", "agents", "commands", "skills", "recipes")
"""Beside the config: what adds tools, programs or words of its own."""
SKILLS = ".claude/skills"
SERVERS = ".mcp.json"
AGENTS = ".claude/agents"
FOREIGN = (SKILLS, SERVERS, AGENTS)
"""Beside `.agents` itself: what other agents keep there and this one reads, too."""


class Waiting(NamedTuple):
    """`keys` of the config and `names` beside it that count only in a trusted directory; `digest` of all of it."""

    keys: tuple[str, ...]
    names: tuple[str, ...]
    digest: str

    @property
    def all(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.keys, *self.names)))


def waiting(project: Path) -> Waiting:
    """What would count if the directory were trusted. What cannot be read is told where it is read for good."""
    tree: dict[str, Any] = {}
    with contextlib.suppress(ConfigError):
        file = files.in_directory(project)
        tree = files.read(file) if file else {}
    held = {".".join(path): value for path, value in _gated(tree)}
    names = tuple(name for name in RUNS if _is_there(project / name) and _counts(project / name))
    names += tuple(name for name in FOREIGN if _is_there(project.parent / name))
    bases = {name: project.parent if name in FOREIGN else project for name in names}
    wanted = [(base / name, base) for name, base in bases.items()]
    wanted += [(path, project.parent) for path in files_of(tree.get("hooks"), project.parent)]
    digest = hashlib.blake2b(digest_size=16)
    digest.update(json.dumps(held, sort_keys=True, default=str).encode())
    digest.update(digest_of(wanted, project.parent))
    return Waiting(tuple(held), names, digest.hexdigest())


def place(cwd: Path, environ: Mapping[str, str]) -> Path | None:
    """The `.agents/` that trust is asked about; where there is none, the one that would stand beside what another
    agent's directory brings. None where there is nothing of a project's.
    """
    project = places.project_dir(cwd, environ)
    if project is not None or os.path.realpath(cwd) == os.path.realpath(places.home_dir(environ)):
        return project
    brings = any(_is_there(cwd / name) for name in FOREIGN)
    return Path(os.path.realpath(cwd)) / places.AGENTS if brings else None


def without(tree: dict[str, Any]) -> dict[str, Any]:
    """The tree of a project's config with only what counts in any directory."""
    gated = {path for path, _ in _gated(tree)}
    return _pruned(tree, gated, ())


def is_trusted(project: Path, environ: Mapping[str, str]) -> bool:
    """Also where there is nothing to trust."""
    found = waiting(project)
    return not found.all or _kept(environ).get(_key(project)) == found.digest


def trust(project: Path, environ: Mapping[str, str]) -> None:
    """Remembers that the operator trusts the directory as it is now. Raises ConfigError."""
    from agent_cli.config.write import alone, replace

    directory = places.state_dir(environ)
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        with alone(directory):
            kept = {**_kept(environ), _key(project): waiting(project).digest}
            replace(directory / FILE, json.dumps(kept, indent=1, sort_keys=True) + "\n")
    except OSError as problem:
        raise ConfigError(f"Trust could not be kept in {directory}: {problem.strerror}.") from problem


@contextlib.contextmanager
def kept_by(project: Path, environ: Mapping[str, str]) -> Generator[None]:
    """A change that the operator makes through this program leaves a trusted directory trusted."""
    before = is_trusted(project, environ)
    yield
    if before:
        trust(project, environ)


def _gated(tree: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, value in tree.items():
        path = (*above, name)
        dotted = ".".join(path)
        if dotted in FREE or STRICTER.get(dotted, _NOTHING) == value:
            continue
        if not above and name not in Settings.__struct_fields__:
            continue  # nobody reads it: a mistake, or of a newer version, and told as that
        if is_object(value) and any(known.startswith(f"{dotted}.") for known in (*FREE, *STRICTER)):
            yield from _gated(value, path)
        else:
            yield path, value


_NOTHING = object()


def _pruned(tree: dict[str, Any], gated: set[tuple[str, ...]], above: tuple[str, ...]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, value in tree.items():
        path = (*above, name)
        if path not in gated:
            kept[name] = _pruned(value, gated, path) if is_object(value) else value
    return kept


def _key(project: Path) -> str:
    return os.path.realpath(project)


def _kept(environ: Mapping[str, str]) -> dict[str, Any]:
    """What cannot be read counts as nothing: the question comes again."""
    file = places.state_dir(environ) / FILE
    try:
        found = json.loads(file.read_text("utf-8")) if file.is_file() else None  # a pipe would never end
    except (OSError, ValueError, RecursionError):
        return {}
    return found if is_object(found) else {}


def _counts(path: Path) -> bool:
    """Rules that only forbid need nobody's trust. The file is read as it will be: TOML can spell a name in many ways."""
    if path.name != RULES:
        return True
    import tomllib

    try:
        return "bypass" in tomllib.loads(files.text_of(path))
    except (ConfigError, ValueError, RecursionError):
        return True


def _is_there(path: Path) -> bool:
    try:
        return path.is_file() or (path.is_dir() and next(path.iterdir(), None) is not None)
    except OSError:
        return True  # it may not be looked at, so it is not known what it brings
