"""Config and models → the parts of a session."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from agent_cli import __version__
from agent_cli.compose.armed import armed, know_secrets
from agent_cli.compose.budgets import budget_line, compaction, limits, request_settings, unpriced
from agent_cli.compose.custom_tools import own_of
from agent_cli.compose.folds import FoldFile
from agent_cli.compose.habits import habits, keep
from agent_cli.compose.hooks import hooks_of
from agent_cli.compose.instructions import Nested, standing
from agent_cli.compose.log import Kept, session_db, session_ids
from agent_cli.compose.models import fallbacks, strange
from agent_cli.compose.options import RunOptions
from agent_cli.compose.plan import Planning, planning
from agent_cli.compose.plan import kept as kept_plans
from agent_cli.compose.results import sweep_later
from agent_cli.compose.sandbox import sandbox_of
from agent_cli.compose.sandbox import told as told_of_sandbox
from agent_cli.compose.scope import close, facts, results_of, root_of, workspace
from agent_cli.compose.servers import hub_of
from agent_cli.compose.servers import told as told_of_servers
from agent_cli.compose.skills import TOOL, listing, skills_of
from agent_cli.compose.skills import told as told_of_skills
from agent_cli.compose.small_tier import guard
from agent_cli.compose.staff import Room, found_agents, roots_of, staffed
from agent_cli.compose.subtasks import children, small_name, told_of
from agent_cli.compose.task import name_of, opening
from agent_cli.compose.toolset import dropped, inner_tools, own_names, reach_of, withheld, world_tools
from agent_cli.compose.transcripts import save
from agent_cli.compose.trust import told as told_of_trust
from agent_cli.compose.watchdog import in_full, start_line, watchdog_mode, watching
from agent_cli.config import places, trust
from agent_cli.config.files import text_of
from agent_cli.config.settings import Settings
from agent_cli.config.sources import Loaded
from agent_cli.context.system import Instructions, system_prompt
from agent_cli.engine.clock import SystemClock
from agent_cli.engine.parts import Parts
from agent_cli.guardrails.breaker import Breakers
from agent_cli.guardrails.checks.armed import Habits
from agent_cli.guardrails.scales import Scales
from agent_cli.kernel.commands import Verdict
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.events import SessionStarted
from agent_cli.kernel.usage import ModelCard
from agent_cli.permissions.book import judge
from agent_cli.permissions.suggest import grant_for
from agent_cli.ports import OpenModel, TaskHeuristic
from agent_cli.providers.registry import Registry
from agent_cli.tools.snapshots import Snapshots
from agent_cli.tools.workspace import Workspace

BREAKERS = Breakers()
"""Of the process: a service that is down for one session is down for all of them."""


def parts_of(options: RunOptions, loaded: Loaded, registry: Registry, model: OpenModel, kept: Kept) -> Parts:
    settings, root = loaded.settings, root_of(options, loaded)
    results, left_out = results_of(options, kept.log.session), withheld(loaded)
    plan, skills = planning(loaded, left_out), None if TOOL in left_out else skills_of(loaded)
    agents = found_agents(loaded)
    trees = roots_of(agents, options, loaded, kept.log.session)
    given = facts(options, loaded, root, results, plan.needs_plan, trees)
    sandbox = sandbox_of(settings, given)
    space = workspace(options, settings, root, sandbox)
    made = Parts(
        log=kept.log,
        clock=SystemClock(),
        models=registry,
        model=model,
        started=_started(options, settings, model),
        system=partial(_system, standing(loaded, root), listing(skills), settings),
        tools=partial(world_tools, space, left_out, results, reach=reach_of(settings), own=own_of(loaded)),
        judge=judge,
        suggest=grant_for,
        remember=partial(_remember, loaded.project or root / places.AGENTS, options),
        facts=given,
        limits=limits(settings, attended=options.attended),
        compaction=compaction(options, loaded),
        checkpoint=settings.checkpoint.mode,
        settings=request_settings(settings),
        fallbacks=fallbacks(registry, settings),
        breakers=BREAKERS,
        on_close=partial(_close, options, settings, kept, space, _sweeping(options, settings)),
        spill=results.keep if results else None,
        inner_tools=partial(inner_tools, space, reach=reach_of(settings)),
        small=partial(small_name, settings),
        children=children(settings),
        plans=kept_plans(loaded),
        task_class=name_of(loaded),
        close=partial(close, space),
    )
    told = plan._replace(openings=(*told_of_sandbox(sandbox, settings), *plan.openings))
    there = Room(options, loaded, space, given, kept.log.session)
    return _pooled(_watched(staffed(made, there, agents), options, loaded, kept, told), options, settings)


def _pooled(made: Parts, options: RunOptions, settings: Settings) -> Parts:
    """In the pool that the operator named. Raises ConfigError for one that nobody made."""
    if settings.admission.pool is None:
        return made
    from agent_cli.compose.admission import gate_of

    gate = gate_of(options, settings, made.log.session, made.task_class)

    def close() -> None:
        made.on_close()
        if gate is not None:
            gate.close()

    return replace(made, gate=gate, on_close=close)


def _scales(settings: Settings, root: Path) -> Scales | None:
    """Looking at the tree around each command takes time: only where what commands write and delete is bounded."""
    said = settings.guardrails.actions
    bounded = said.max_written_bytes is not None or said.max_deleted_bytes is not None
    if not bounded or said.volume == "off":
        return None
    from agent_cli.tools.weighing import Scales

    return Scales(str(root))


def _heuristic(settings: Settings) -> TaskHeuristic | None:
    if not settings.checkpoint.heuristic:
        return None
    from agent_cli.context.task_end import ListDone  # only who wants it pays for it

    return ListDone()


def _watched(made: Parts, options: RunOptions, loaded: Loaded, kept: Kept, plan: Planning) -> Parts:
    """With the watchdog, the engine's own tools, what is kept on disk, and what is told at the beginning."""
    settings, card = loaded.settings, made.model.card
    watch = watching(settings, attended=options.attended)
    own = own_names(withheld(loaded), plans=plan.recorded)
    know_secrets(options.environ, loaded)
    return replace(
        made,
        summary_prompt=_words("summary.md").strip(),
        record_prompt=_words("record.md").strip(),
        folds=None if options.ephemeral else FoldFile(places.folds_dir(kept.log.session, options.environ)),
        snapshots=_snapshots(options, root_of(options, loaded), kept),
        heuristic=_heuristic(settings),
        armed=replace(armed(loaded), habits=Habits() if options.ephemeral else habits(options)),
        signals=watch(),
        fresh_signals=watch,
        hooks=hooks_of(settings, kept.log.session, made.started, root_of(options, loaded)),
        watchdog=watchdog_mode(settings, attended=options.attended),
        own_tools=own,
        joining=hub_of(options, loaded, frozenset(settings.tools.disable)),
        switches=kept.switches,
        guards=f"{__version__} {settings.watchdog.profile} {watchdog_mode(settings, attended=options.attended)}",
        notices=(*_notices(options, kept, loaded, plan.notices, card), *made.notices),
        openings=_openings(options, loaded, plan, own, card),
        details=(in_full(loaded, attended=options.attended), budget_line(options, loaded, card)),
        nested=Nested(loaded, root_of(options, loaded)),
        scales=_scales(settings, root_of(options, loaded)),
    )


def _openings(
    options: RunOptions, loaded: Loaded, plan: Planning, own: frozenset[str], card: ModelCard
) -> tuple[str, ...]:
    """What the operator is told when the session begins."""
    came = {"model.tier": card.tier, "permissions.plan_mode": plan.mode}
    return (
        start_line(loaded, attended=options.attended),
        *opening(loaded, dropped(loaded), came),
        *plan.openings,
        *told_of(loaded.settings, own, card),
    )


def _notices(
    options: RunOptions, kept: Kept, loaded: Loaded, plan: tuple[str, ...], card: ModelCard
) -> tuple[str, ...]:
    """What the operator is warned of when the session begins."""
    mine = (
        *told_of_trust(loaded),
        *told_of_skills(skills_of(loaded)),
        *told_of_servers(options, loaded),
        *plan,
        *guard(options, loaded.settings, card),
        *unpriced(options, loaded.settings, card),
        *strange(loaded.settings),
    )
    return (*kept.notices, *loaded.notices, *options.notices, *mine)


def _started(options: RunOptions, settings: Settings, model: OpenModel) -> SessionStarted:
    """The first fact, if the session is new."""
    return SessionStarted(
        cwd=str(options.cwd.resolve()),
        version=__version__,
        platform=sys.platform,
        day=time.strftime("%Y-%m-%d"),
        provider=model.provider.name,
        model=model.card.id,
        mode=settings.permissions.mode,
    )


def _snapshots(options: RunOptions, root: Path, kept: Kept) -> Snapshots | None:
    """None where nothing of the session is to be on disk."""
    if options.ephemeral:
        return None
    return Snapshots(places.snapshots_dir(kept.log.session, options.environ), str(root))


def _sweeping(options: RunOptions, settings: Settings) -> Callable[[], None]:
    """Takes old results away, off the way of the session; gives what calls it off."""
    if options.ephemeral:
        return lambda: None
    ids = partial(session_ids, session_db(options, settings))
    return sweep_later(places.results_dir("", options.environ), ids)


def _close(
    options: RunOptions, settings: Settings, kept: Kept, space: Workspace, sweeping: Callable[[], None]
) -> None:
    """No command in the background outlives the session."""
    sweeping()
    space.shells.close()
    if settings.session.transcripts and not options.ephemeral:
        save(kept.log, kept.entries, places.runs_dir(kept.log.session, options.environ))
    if not options.ephemeral:
        keep(options, kept)
    kept.close()


def _system(
    instructions: tuple[Instructions, ...],
    skills: str,
    settings: Settings,
    started: SessionStarted,
    card: ModelCard,
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
    appended = settings.agent.append_system_prompt or ""
    return system_prompt(template, started, kept, appended, "" if compact else skills)


def _words(name: str) -> str:
    """A text for the model. Read as a file: `importlib.resources` costs 8 ms of every start."""
    return (Path(__file__).parent.parent / "context" / name).read_text("utf-8")


def _read_text(path: Path, key: str) -> str:
    try:
        return text_of(path)
    except ConfigError as problem:
        raise ConfigError(f"{key}: {problem} Or name another file, or unset the key.") from None


def _remember(project: Path, options: RunOptions, rule: str, verdict: Verdict) -> None:
    from agent_cli.config.write import add_rule

    with trust.kept_by(project, options.environ):
        add_rule(project, rule, verdict)
