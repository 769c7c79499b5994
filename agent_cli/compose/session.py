"""config → parts → Session. This room alone knows every other one."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agent_cli import __version__
from agent_cli.compose.models import model_name, open_registry
from agent_cli.compose.options import RunOptions
from agent_cli.config import places
from agent_cli.config.files import text_of
from agent_cli.config.settings import Settings
from agent_cli.config.sources import Loaded, load
from agent_cli.context.budget import UNKNOWN_TIER, Compaction
from agent_cli.context.system import Instructions, system_prompt
from agent_cli.engine.clock import SystemClock
from agent_cli.engine.parts import Parts, WatchdogMode
from agent_cli.engine.parts import Settings as RequestSettings
from agent_cli.engine.session import Session
from agent_cli.guardrails.book import signals
from agent_cli.guardrails.breaker import Breakers
from agent_cli.kernel.commands import SetMode
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.events import SessionStarted
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.usage import ModelCard, Tier
from agent_cli.permissions import rules
from agent_cli.permissions.book import judge
from agent_cli.permissions.suggest import grant_for
from agent_cli.ports import Facts, Log, OpenModel, Tool
from agent_cli.providers.registry import Registry
from agent_cli.tools.builtin import builtin
from agent_cli.tools.results import Results
from agent_cli.tools.workspace import Workspace

if TYPE_CHECKING:  # sqlite3 is imported when the log is opened
    from agent_cli.store.info import SessionInfo
    from agent_cli.store.sqlite import SqliteStore

UNATTENDED_STEPS = 200
UNATTENDED_SECONDS = 14_400.0
UNATTENDED_DOLLARS = 10.0
BREAKERS = Breakers()
"""Of the process: a service that is down for one session is down for all of them."""

CONTROL_FILES = (
    ".agents/config.json",
    ".agents/config.toml",
    ".agents/mcp.json",
    ".agents/guardrails.toml",
    ".agents/tools",
    ".agents/hooks",
    ".git/hooks",
    ".git/config",
)
SHELL_STARTS = (
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".config/fish/config.fish",
)


@dataclass(frozen=True, slots=True)
class Opened:
    """A session ready to be talked to, and the settings it was made with."""

    session: Session
    settings: Settings


def prepare(options: RunOptions) -> Loaded:
    """The settings in force. Raises ConfigError."""
    return load(options.cwd, options.environ, options.flags, options.config_file)


def open_session(options: RunOptions, loaded: Loaded | None = None) -> Opened:
    """`loaded` is what `prepare` gave, if it was asked before.

    Raises ConfigError (the operator can mend it) and StoreError (the session database).
    """
    loaded = loaded or prepare(options)
    settings = loaded.settings
    registry = open_registry(options, settings)
    builtin(
        Workspace(options.cwd), disabled=frozenset(settings.tools.disable)
    )  # a wrong name is told before anything
    kept = _open_log(options, settings)
    try:
        model = registry.open(model_name(loaded, registry, kept.model))
        session = Session(_parts(options, loaded, registry, model, kept))
        if session.state.started and loaded.said_now("permissions.mode"):
            session.send(SetMode(settings.permissions.mode))  # over the one that it was left in
    except BaseException:
        kept.log.close()
        kept.close()
        raise
    return Opened(session, settings)


# ── the log ──────────────────────────────────────────────────────────────────────────────────────────────


def session_db(options: RunOptions, settings: Settings) -> Path:
    """The file that holds the sessions."""
    return Path(settings.session.db) if settings.session.db else places.database(options.environ)


class Kept(NamedTuple):
    """A session's log, the model it used last ("" for a new one), and what closes the store behind it."""

    log: Log
    model: str
    close: Callable[[], None]


def _open_log(options: RunOptions, settings: Settings) -> Kept:
    cwd = str(options.cwd.resolve())
    if options.ephemeral:
        from agent_cli.store.memory import MemoryStore

        memory = MemoryStore()
        return Kept(memory.create(_new_id(), cwd), "", memory.close)
    from agent_cli.store.sqlite import open_store

    store = open_store(session_db(options, settings))
    try:
        if options.resume is None and not options.resume_latest:
            return Kept(store.create(_new_id(), cwd), "", store.close)
        found = _find(store, options.resume, cwd)
        return Kept(store.open(found.id), found.model, store.close)
    except BaseException:
        store.close()
        raise


def _find(store: SqliteStore, wanted: str | None, cwd: str) -> SessionInfo:
    """The session of that name, else the latest of this directory."""
    found = store.find(wanted) if wanted else store.latest(cwd)
    if found is None:
        raise ConfigError(f"there is no session to continue in {cwd}; start one without --continue")
    return found


def _new_id() -> str:
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(3).hex()}"


# ── the parts ────────────────────────────────────────────────────────────────────────────────────────────


def _parts(options: RunOptions, loaded: Loaded, registry: Registry, model: OpenModel, kept: Kept) -> Parts:
    settings = loaded.settings
    root = _root(options, loaded)
    results = _results(options, kept.log.session)
    started = SessionStarted(
        cwd=str(options.cwd.resolve()),
        version=__version__,
        platform=sys.platform,
        day=time.strftime("%Y-%m-%d"),
        provider=model.provider.name,
        model=model.card.id,
        mode=settings.permissions.mode,
    )
    return Parts(
        log=kept.log,
        clock=SystemClock(),
        models=registry,
        model=model,
        started=started,
        system=partial(_system, _instructions(loaded, root), settings),
        tools=partial(_tools, _workspace(options, settings, root), settings, results),
        judge=judge,
        suggest=grant_for,
        remember=partial(_remember, loaded.project or root / places.AGENTS),
        facts=_facts(options, loaded, root, results),
        limits=_limits(settings, attended=options.attended),
        compaction=_compaction(options, settings),
        summary_prompt=_words("summary.md").strip(),
        signals=signals(),
        watchdog=watchdog_mode(settings, attended=options.attended),
        settings=_request_settings(settings),
        fallbacks=settings.model.fallback,
        breakers=BREAKERS,
        notices=tuple(loaded.notices),
        on_close=kept.close,
        spill=results.keep if results else None,
    )


def _request_settings(settings: Settings) -> RequestSettings:
    return RequestSettings(
        effort=settings.model.effort,
        temperature=settings.model.temperature,
        max_output=settings.model.max_output_tokens,
        run_status=settings.run_status == "appended",
        concurrency=settings.tools.concurrency,
        max_result_bytes=settings.tools.max_output_bytes,
    )


def _compaction(options: RunOptions, settings: Settings) -> Compaction:
    """A threshold on the command line is for every model; one in config only for those of no known tier."""
    said = settings.compaction
    given = options.flags.get("compaction.threshold") is not None
    by_tier = said.threshold_by_tier
    tiers: tuple[tuple[Tier, float | None], ...] = (
        ("frontier", by_tier.frontier),
        ("mid", by_tier.mid),
        ("small", by_tier.small),
    )
    return Compaction(
        enabled=said.enabled,
        mode=said.mode,
        threshold=said.threshold if given else None,
        by_tier=tuple((tier, share) for tier, share in tiers if share is not None),
        unknown_tier=said.threshold or UNKNOWN_TIER,
        limit=said.limit,
        keep_recent=said.keep_recent_tokens,
    )


def _root(options: RunOptions, loaded: Loaded) -> Path:
    """The project: where `.agents/` stands, else the working directory."""
    return (loaded.project.parent if loaded.project else options.cwd).resolve()


def _workspace(options: RunOptions, settings: Settings, root: Path) -> Workspace:
    """One for the whole session: it knows what was read. Deny rules hold in walks of a tree, too."""
    return Workspace(
        root, options.cwd.resolve(), closed=rules.closed(settings.permissions.deny, ((str(root), "rw"),))
    )


def _results(options: RunOptions, session: str) -> Results | None:
    """None where nothing of the session is to be on disk."""
    return None if options.ephemeral else Results(places.results_dir(session, options.environ))


def _tools(
    workspace: Workspace, settings: Settings, results: Results | None, card: ModelCard
) -> Mapping[str, Tool]:
    made = builtin(
        workspace,
        images=card.images,
        documents=card.documents,
        profile=card.profile,
        disabled=frozenset(settings.tools.disable),
        results=results,
    )
    return {tool.spec.name: tool for tool in made}


def _instructions(loaded: Loaded, root: Path) -> tuple[Instructions, ...]:
    from agent_cli.config.instructions import read_instructions

    found = read_instructions(loaded.user, loaded.project, root)
    return tuple(Instructions(str(file.source), file.text) for file in found)


def _system(
    instructions: tuple[Instructions, ...], settings: Settings, started: SessionStarted, card: ModelCard
) -> tuple[str, ...]:
    """Our words, or the file that replaces them; a small model gets the short ones."""
    compact = card.profile == "compact"
    if settings.agent.system_prompt_file:
        template = _read_text(
            Path(settings.agent.system_prompt_file).expanduser(), "agent.system_prompt_file"
        )
    else:
        template = _words("compact.md" if compact else "system.md")
    kept = () if compact else instructions  # a small model takes them for what it did
    return system_prompt(template, started, kept, settings.agent.append_system_prompt or "")


def _words(name: str) -> str:
    """A text for the model. Read as a file: `importlib.resources` costs 8 ms of every start."""
    return (Path(__file__).parent.parent / "context" / name).read_text("utf-8")


def _read_text(path: Path, key: str) -> str:
    try:
        return text_of(path)
    except ConfigError as problem:
        raise ConfigError(f"{key}: {problem} Or name another file, or unset the key.") from None


def _remember(project: Path, rule: str) -> None:
    from agent_cli.config.write import add_rule

    add_rule(project, rule)


def _facts(options: RunOptions, loaded: Loaded, root: Path, results: Results | None) -> Facts:
    settings, home = loaded.settings, places.home_dir(options.environ)
    control = [root / name for name in CONTROL_FILES]
    control += [home / name for name in SHELL_STARTS]
    control.append(loaded.user)
    return Facts(
        mode=settings.permissions.mode,
        attended=options.attended,
        roots=(
            (str(root), "rw"),
            *_allowed(settings),
            *map(_allowed_flag, options.allow_paths),
            *(((str(results.directory), "r"),) if results else ()),
        ),
        allow=tuple(settings.permissions.allow),
        deny=tuple(settings.permissions.deny),
        control=tuple(os.path.realpath(path) for path in control),
    )


def _allowed(settings: Settings) -> list[tuple[str, str]]:
    return [(os.path.realpath(row.path), row.access) for row in settings.path_scope.allow_paths]


def _allowed_flag(word: str) -> tuple[str, str]:
    """PATH or PATH:r|w|rw of --allow-path; reading is the default."""
    path, colon, access = word.rpartition(":")
    if not colon or access not in ("r", "w", "rw"):
        path, access = word, "r"
    return os.path.realpath(Path(path).expanduser()), access


def _limits(settings: Settings, *, attended: bool) -> Limits:
    """An explicit 0 means none; what is not said is none with a person there, and bounded without."""
    budgets, agent = settings.budgets, settings.agent

    def chosen(said: float | None, unattended: float | None) -> float | None:
        return (said or None) if said is not None else (None if attended else unattended)

    steps = chosen(budgets.max_steps, UNATTENDED_STEPS)
    return Limits(
        max_steps=int(steps) if steps else None,
        max_tool_calls=budgets.max_tool_calls or None,
        max_tokens=budgets.max_tokens or None,
        max_duration=chosen(budgets.max_duration, UNATTENDED_SECONDS),
        max_turn_cost=agent.max_turn_cost_usd or None,
        max_session_cost=chosen(agent.max_session_cost_usd, UNATTENDED_DOLLARS),
        on_exhaustion=budgets.on_exhaustion,
    )


def watchdog_mode(settings: Settings, *, attended: bool) -> WatchdogMode:
    return settings.safety.watchdog or ("warn" if attended else "enforce")
