"""Where tools may work, and which files need an approval of their own."""

from __future__ import annotations

import os
from pathlib import Path

from agent_cli.compose.hooks import line as hook_line
from agent_cli.compose.options import RunOptions
from agent_cli.compose.skills import roots, skills_of
from agent_cli.config import places, trust
from agent_cli.config.hook_files import files_of
from agent_cli.config.settings import Settings
from agent_cli.config.sources import Loaded
from agent_cli.permissions import rules
from agent_cli.ports import Facts
from agent_cli.tools.results import Results
from agent_cli.tools.sandbox.confines import UNCONFINED, Sandbox
from agent_cli.tools.workspace import Workspace, open_to_all

CONTROL_FILES = (
    ".agents/config.json",
    ".agents/config.toml",
    ".agents/mcp.json",
    ".mcp.json",
    ".agents/guardrails.toml",
    ".agents/tools",
    ".agents/hooks",
    ".agents/agents",
    ".agents/commands",
    ".claude/agents",
    ".git/hooks",
    ".git/config",
)
SHELL_STARTS = (
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".xprofile",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".config/fish/config.fish",
    ".config/fish/conf.d",
    ".gitconfig",
    ".config/git/config",
)


def root_of(options: RunOptions, loaded: Loaded) -> Path:
    """The project: where `.agents/` stands, else the working directory."""
    return (loaded.project.parent if loaded.project else options.cwd).resolve()


def workspace(
    options: RunOptions, settings: Settings, root: Path, sandbox: Sandbox = UNCONFINED
) -> Workspace:
    """One for the whole session: it knows what was read. Deny rules hold in walks of a tree, too."""
    deny = settings.permissions.deny
    return Workspace(
        root,
        options.cwd.resolve(),
        closed=rules.closed(deny, ((str(root), "rw"),)) if deny else open_to_all,
        sandbox=sandbox,
    )


def close(space: Workspace, rule: str) -> None:
    """A deny rule that comes later holds in walks of a tree, too."""
    before, more = space.closed, rules.closed((rule,), ((space.root, "rw"),))

    def closed(path: str) -> bool:
        return before(path) or more(path)

    space.closed = closed


def results_of(options: RunOptions, session: str) -> Results | None:
    """None where nothing of the session is to be on disk."""
    return None if options.ephemeral else Results(places.results_dir(session, options.environ))


def facts(
    options: RunOptions,
    loaded: Loaded,
    root: Path,
    results: Results | None,
    needs_plan: str = "",
    also: tuple[tuple[str, str], ...] = (),
) -> Facts:
    """`needs_plan` says why nothing may be changed before a plan is recorded; `also` are roots beside the usual ones."""
    settings, home = loaded.settings, places.home_dir(options.environ)
    control = [root / name for name in CONTROL_FILES]
    control += [home / name for name in SHELL_STARTS]
    control += files_of([row.given() for row in settings.hooks], root)
    control += [loaded.user, places.state_dir(options.environ) / trust.FILE, places.database(options.environ)]
    return Facts(
        mode=settings.permissions.mode,
        attended=options.attended or options.answered,
        roots=(
            (str(root), "rw"),
            *_allowed(settings),
            *map(_allowed_flag, options.allow_paths),
            *(((str(results.directory), "r"),) if results else ()),
            *roots(skills_of(loaded)),
            *also,
        ),
        allow=tuple(settings.permissions.allow),
        deny=tuple(settings.permissions.deny),
        control=tuple(os.path.realpath(path) for path in control),
        needs_plan=needs_plan,
        search_gate=settings.safety.bash_search_gate,
        url_allow=settings.url_scope.allow,
        url_deny=settings.url_scope.deny,
        questions=settings.tools.ask == "stdin",
        approves_plans=settings.permissions.plan_approval == "operator",
    )


def gates(options: RunOptions, loaded: Loaded) -> tuple[tuple[str, str], ...]:
    """What decides about calls beside mode and rules, in words for the operator."""
    settings = loaded.settings
    given = facts(options, loaded, root_of(options, loaded), None)
    hosts = [*(f"deny {host}" for host in given.url_deny), *(f"allow {host}" for host in given.url_allow)]
    network = "on" if settings.sandbox.network else "off"
    confined = settings.sandbox.mode
    plans = settings.permissions.plan_mode
    approved = ", each approved by you" if given.approves_plans else ""
    return (
        ("paths", "\n".join(f"{access:<2}  {path}" for path, access in given.roots)),
        ("hosts", "\n".join(hosts) or "all, each asked about"),
        ("plans", plans + (approved if plans != "off" else "")),
        ("shell searches", given.search_gate),
        ("sandbox", confined if confined == "off" else f"{confined}, network {network}"),
        *((("hooks", hook_line(settings)),) if settings.hooks else ()),
        *((("left out", "not trusted yet: " + ", ".join(loaded.left_out)),) if loaded.left_out else ()),
    )


def _allowed(settings: Settings) -> list[tuple[str, str]]:
    return [(os.path.realpath(row.path), row.access) for row in settings.path_scope.allow_paths]


def _allowed_flag(word: str) -> tuple[str, str]:
    """PATH or PATH:r|w|rw of --allow-path; reading is the default."""
    path, colon, access = word.rpartition(":")
    if not colon or access not in ("r", "w", "rw"):
        path, access = word, "r"
    return os.path.realpath(Path(path).expanduser()), access
